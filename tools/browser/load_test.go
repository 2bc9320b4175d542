//go:build load

package browser

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

var figuresFile = flag.String("page.figures", "", "write docs/figures/page.md to this `file`")

// figures are rows of docs/figures/page.md.
type figures struct{ tree, ten, clients []string }

// row adds a row; the aim is "" where there is none.
func row(t *testing.T, to *[]string, cells ...string) {
	t.Helper()
	line := "| " + strings.Join(cells, " | ") + " |"
	t.Log(line)
	*to = append(*to, line)
}

// aim says whether a figure, in ms, is below its aim.
func aim(ms, below float64) string {
	return fmt.Sprintf("below %.0f ms: %s", below, map[bool]string{true: "met", false: "**missed**"}[ms < below])
}

// TestFigures measures the page with a tree of a million contexts and with twenty
// clients. It fails where the page does not work; whether it is fast enough is said in
// the table, since that depends on what else the machine does. With -short the tree
// and the times are small, and figures are none.
func TestFigures(t *testing.T) {
	var f figures
	began := loads(t)
	t.Run("tree", func(t *testing.T) { f.load(t) })
	t.Run("ten million", func(t *testing.T) { f.open(t) })
	t.Run("clients", func(t *testing.T) { f.many(t) })
	if t.Failed() || *figuresFile == "" || testing.Short() {
		return
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, `# The live page

By `+"`go tool task bench:page`"+`. %s, %s headless at 1280 x 800; server, target and browser
together on %d cores. Load average, over one minute, when it began %s, at the end %s: where that is more
than 1 at the beginning, others used the machine as well. How large messages are for a tree of a
million contexts is what `+"`go test ./web -run TestMillion -v`"+` prints.

| a tree of 1,048,576 contexts, one thread | | aim |
|---|---:|---|
%s

| a saved recording of 12,222,222 call paths, one thread, opened by `+"`rivulet view FILE --ui`"+` | | aim |
|---|---:|---|
%s

| the sample server, recorded | server's share of a core, tick clock included | calls a second | server's memory |
|---|---:|---:|---:|
%s
`, version(t, jvmtest.Any(t).Java(), "--version"), version(t, chromium(), "--version"), runtime.NumCPU(), began, loads(t), strings.Join(f.tree, "\n"), strings.Join(f.ten, "\n"), strings.Join(f.clients, "\n"))
	if err := os.WriteFile(*figuresFile, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// loads is the load average over one minute.
func loads(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(b))[0]
}

// version is the first line that a command says of itself, and no complaint.
func version(t *testing.T, command string, args ...string) string {
	t.Helper()
	out, err := exec.Command(command, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(line)
}

// load looks at a tree of a million contexts: how long the first picture, zooming and
// scrolling, saving and opening take.
func (f *figures) load(t *testing.T) {
	depth := 19
	if testing.Short() {
		depth = 11
	}
	url, server := servedBy(t)
	p := open(t, url, 1280, 800)
	target := program(t, "Contexts")
	p.click(fmt.Sprintf(`button[data-pid="%d"]`, target.cmd.Process.Pid))
	p.wait("#search")
	p.do("search", chromedp.SendKeys("#search", "root"), chromedp.WaitVisible("#hit-0"), chromedp.SendKeys("#search", kb.Enter))
	p.click("#start")
	p.wait(".phase.recording")
	target.tell(t, fmt.Sprint("run ", depth))
	target.line(t, "RAN")
	p.until(fmt.Sprintf(`document.querySelector(".fig:nth-child(11) dd")?.textContent.replace(/\D/g, "") === "%d"`, 2<<depth))
	p.click("#stop")
	p.wait(".phase.stopped")
	p.do("reload", chromedp.Reload())
	first := value[float64](p, `(async () => {
		for (;;) {
			await new Promise(requestAnimationFrame);
			const c = document.querySelector(".icicle canvas");
			if (document.querySelector(".table .space .tr") && c?.width > 0 && c.getContext("2d").getImageData(5, 5, 1, 1).data[3] > 0) return performance.now();
		}
	})()`)
	// A picture of what was not on the screen.
	paint := value[float64](p, `(async () => {
		document.querySelector("#tab-log").click();
		await new Promise((r) => setTimeout(r, 500));
		const begin = performance.now();
		document.querySelector("#tab-methods").click();
		for (;;) {
			await new Promise(requestAnimationFrame);
			if (document.querySelectorAll(".table .space .tr").length > 0) return performance.now() - begin;
		}
	})()`)
	p.do("tree", chromedp.KeyEvent("1"), chromedp.Sleep(500*time.Millisecond))
	frames := func(what, step string) {
		times := value[[]float64](p, `(async () => {
			const out = [];
			let last = performance.now();
			for (let i = 0; i < 120; i++) {
				`+step+`
				await new Promise(requestAnimationFrame);
				const now = performance.now();
				out.push(now - last);
				last = now;
			}
			return out;
		})()`)
		slices.Sort(times)
		row(t, &f.tree, "frames while "+what+": p50 / p95 / longest", fmt.Sprintf("%.0f / %.0f / %.0f ms", times[60], times[114], times[119]), "p95 "+aim(times[114], 33))
	}
	row(t, &f.tree, "page reloaded until tree and flame graph are drawn", fmt.Sprintf("%.0f ms", first), aim(first, 1000))
	row(t, &f.tree, "list of methods, when it is asked for", fmt.Sprintf("%.0f ms", paint), "")
	value[bool](p, `(() => { document.querySelector(".table").focus(); return true; })()`)
	for range 60 { // open the tree along its first branch
		p.do("open", chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowRight))
	}
	frames("scrolling the table", `document.querySelector(".table").scrollTop = (i % 40) * 22;`)
	frames("zooming the flame graph", `if (i % 6 === 0) { const c = document.querySelector(".icicle canvas"), r = c.getBoundingClientRect();
		c.dispatchEvent(new MouseEvent("dblclick", { bubbles: true, clientX: r.left + r.width * ((i % 5) + 0.5) / 6, clientY: r.top + 60 })); }`)
	frames("pointing at it", `{ const c = document.querySelector(".icicle canvas"), r = c.getBoundingClientRect();
		c.dispatchEvent(new MouseEvent("mousemove", { bubbles: true, clientX: r.left + r.width * i / 120, clientY: r.top + 60 })); }`)
	address, secret, _ := strings.Cut(url, "/#")
	begin := time.Now()
	file := ask(t, address+"/api/report?source=1&format=snapshot", secret, nil)
	wrote := time.Since(begin)
	begin = time.Now()
	ask(t, address+"/api/open?name=again", secret, file)
	row(t, &f.tree, "snapshot: written / read / size of the file", fmt.Sprintf("%.1f s / %.1f s / %.1f MB", wrote.Seconds(), time.Since(begin).Seconds(), float64(len(file))/1e6), "")
	row(t, &f.tree, "the server's memory, with that recording twice: now / at the most", rss(t, server.cmd.Process.Pid), "")
	const clients, looks = 20, 10
	used := cpu(t, server.cmd.Process.Pid)
	took := value[float64](p, fmt.Sprintf(`(async () => {
		const begin = performance.now();
		await Promise.all([...Array(%d).keys()].map(async (k) => {
			const ws = new WebSocket("ws://" + location.host + "/ws", ["rivulet.v1", "key." + sessionStorage.getItem("rivulet.key")]);
			await new Promise((r) => (ws.onopen = r));
			for (let i = 1; i <= %d; i++) {
				const seen = new Promise((r) => (ws.onmessage = (e) => JSON.parse(e.data).seq === i && r()));
				ws.send(JSON.stringify({ seq: i, source: 1 + k %% 2, tree: { open: [1, 2, 3, 1 + k + i], sort: ["total", "self", "calls", "name"][i %% 4], up: k %% 3 === 0, from: 0, rows: 60 },
					icicle: { focus: i %% 5, width: 800 + 10 * k, depth: 100 }, methods: { group: "", filter: "", sort: "self", from: 0, rows: 60 }, threads: true }));
				await seen;
			}
			ws.close();
		}));
		return performance.now() - begin;
	})()`, clients, looks))
	row(t, &f.tree, fmt.Sprintf("%d clients at once, %d looks each at tree, flame graph and methods, in several orders: until all are answered; processor time of the server", clients, looks),
		fmt.Sprintf("%.1f s; %.1f s", took/1e3, float64(cpu(t, server.cmd.Process.Pid)-used)/100), "")
	row(t, &f.tree, "the server's memory after that: now / at the most", rss(t, server.cmd.Process.Pid), "")
	if problems := p.console(); len(problems) > 0 {
		t.Errorf("console: %q", problems)
	}
}

// open records a tree of ten million call paths, and has the file opened on a page.
func (f *figures) open(t *testing.T) {
	depth := "7"
	if testing.Short() {
		depth = "4"
	}
	file, err := build()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	j := jvmtest.Any(t)
	classes := compiled(t, j, filepath.Join("..", "internal", "bench", "testdata", "work", "Many.java"))
	c := start(t, j.Java(), "-Xmx256m", "-cp", classes, "work.Many", "1", "10", depth)
	c.line(t, "READY")
	saved := filepath.Join(dir, "many.rivulet")
	recording := start(t, file, "profile", fmt.Sprint(c.cmd.Process.Pid), "--root", "work.Many.root", "--memory", "2047M", "--until-calls", "1", "-o", saved)
	recording.line(t, "recording")
	c.tell(t, "go")
	<-recording.ended
	info, err := os.Stat(saved)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	server := start(t, file, "view", saved, "--ui")
	l := server.line(t, "http://")
	address := time.Since(begin)
	p := open(t, l[strings.Index(l, "http://"):], 1280, 800)
	begin = time.Now()
	p.wait(".table .space .tr")
	p.until(`document.querySelector(".icicle canvas")?.width > 0`)
	tree := time.Since(begin)
	begin = time.Now()
	p.click("#tab-methods")
	p.until(`document.querySelectorAll(".table .space .tr").length > 9`)
	row(t, &f.ten, "size of the file", fmt.Sprintf("%.1f MB", float64(info.Size())/1e6), "")
	row(t, &f.ten, "until it is read and the page's address is printed", fmt.Sprintf("%.1f s", address.Seconds()), "")
	row(t, &f.ten, "from then on until the page has the tree and the flame graph, and then the methods", fmt.Sprintf("%.1f s, %.1f s", tree.Seconds(), time.Since(begin).Seconds()), "")
	row(t, &f.ten, "the server's memory: now / at the most", rss(t, server.cmd.Process.Pid), "")
	if problems := p.console(); len(problems) > 0 {
		t.Errorf("console: %q", problems)
	}
}

// many has twenty more clients look at a recording: what the server needs for that,
// and what is left to the program.
func (f *figures) many(t *testing.T) {
	warm, length := 8*time.Second, 10*time.Second
	if testing.Short() {
		warm, length = time.Second, 2*time.Second
	}
	url, server := servedBy(t)
	p := open(t, url, 1280, 800)
	p.click("#demo")
	p.wait(".table .space .tr")
	p.do("warm up", chromedp.Sleep(warm))
	measure := func(what string) {
		before, calls := cpu(t, server.cmd.Process.Pid), value[float64](p, callsNow)
		began := time.Now()
		time.Sleep(length)
		used, done := cpu(t, server.cmd.Process.Pid)-before, value[float64](p, callsNow)-calls
		seconds := time.Since(began).Seconds()
		row(t, &f.clients, what, fmt.Sprintf("%.1f %%", float64(used)/seconds), fmt.Sprintf("%.1f million", done/seconds/1e6), rss(t, server.cmd.Process.Pid))
	}
	measure("one page")
	value[float64](p, `(async () => {
		window.sockets = [];
		for (let i = 0; i < 20; i++) {
			const ws = new WebSocket("ws://" + location.host + "/ws", ["rivulet.v1", "key." + sessionStorage.getItem("rivulet.key")]);
			await new Promise((r) => (ws.onopen = r));
			ws.onmessage = () => window.got = (window.got ?? 0) + 1;
			ws.send(JSON.stringify({ seq: 1, tree: { open: [1, 2, 3], rows: 60 }, icicle: { width: 1200, depth: 100 }, threads: true }));
			sockets.push(ws);
		}
		return sockets.length;
	})()`)
	measure("one page and twenty clients")
	if got, want := value[float64](p, `window.got`), 20*length.Seconds(); got < want {
		t.Errorf("twenty clients got %.0f messages in %v, not %.0f", got, length, want)
	}
	if problems := p.console(); len(problems) > 0 {
		t.Errorf("console: %q", problems)
	}
}

const callsNow = `Number(document.querySelector(".fig dd").textContent.replace(/\D/g, ""))`

// cpu is the time that a process has used, in hundredths of a second
// (proc(5), fields 14 and 15).
func cpu(t *testing.T, pid int) int64 {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+2:]))
	var user, system int64
	if _, err := fmt.Sscan(f[11]+" "+f[12], &user, &system); err != nil {
		t.Fatal(err)
	}
	return user + system
}

// rss is the memory of a process (proc(5)), now and at the most.
func rss(t *testing.T, pid int) string {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	size := map[string]int{}
	for l := range strings.Lines(string(b)) {
		var kb int
		if name, rest, ok := strings.Cut(l, ":"); ok {
			if n, _ := fmt.Sscanf(strings.TrimSpace(rest), "%d kB", &kb); n == 1 {
				size[name] = kb
			}
		}
	}
	return fmt.Sprintf("%d / %d MB", size["VmRSS"]>>10, size["VmHWM"]>>10)
}
