//go:build load

package browser

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestLoad looks at a tree of a million contexts and prints how long the first
// picture, zooming and scrolling take.
func TestLoad(t *testing.T) {
	url, server := servedBy(t)
	p := open(t, url, 1280, 800)
	target := program(t, "Contexts")
	p.click(fmt.Sprintf(`button[data-pid="%d"]`, target.cmd.Process.Pid))
	p.wait("#search")
	p.do("search", chromedp.SendKeys("#search", "root"), chromedp.WaitVisible("#hit-0"), chromedp.SendKeys("#search", kb.Enter))
	p.click("#start")
	p.wait(".phase.recording")
	target.tell(t, "run 19")
	target.line(t, "RAN")
	p.until(`document.querySelector(".fig:nth-child(11) dd")?.textContent.replace(/\D/g, "") === "1048576"`)
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
		t.Logf("%s: p50 %.0f ms, p95 %.0f ms, longest %.0f ms", what, times[60], times[114], times[119])
	}
	value[bool](p, `(() => { document.querySelector(".table").focus(); return true; })()`)
	for range 60 { // open the tree along its first branch
		p.do("open", chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowRight))
	}
	frames("scrolling", `document.querySelector(".table").scrollTop = (i % 40) * 22;`)
	frames("zooming", `if (i % 6 === 0) { const c = document.querySelector(".icicle canvas"), r = c.getBoundingClientRect();
		c.dispatchEvent(new MouseEvent("dblclick", { bubbles: true, clientX: r.left + r.width * ((i % 5) + 0.5) / 6, clientY: r.top + 60 })); }`)
	frames("pointing", `{ const c = document.querySelector(".icicle canvas"), r = c.getBoundingClientRect();
		c.dispatchEvent(new MouseEvent("mousemove", { bubbles: true, clientX: r.left + r.width * i / 120, clientY: r.top + 60 })); }`)
	t.Logf("page reloaded until tree and flame graph are drawn: %.0f ms; methods: %.0f ms", first, paint)
	t.Logf("server: %s", rss(t, server.cmd.Process.Pid))
	if problems := p.console(); len(problems) > 0 {
		t.Errorf("console: %q", problems)
	}
}

// TestClients has twenty more clients look at a recording, and prints what the
// server needs for that.
func TestClients(t *testing.T) {
	url, server := servedBy(t)
	p := open(t, url, 1280, 800)
	p.click("#demo")
	p.wait(".table .space .tr")
	p.do("warm up", chromedp.Sleep(8*time.Second))
	measure := func(what string) {
		before, calls := cpu(t, server.cmd.Process.Pid), value[float64](p, callsNow)
		time.Sleep(10 * time.Second)
		used, done := cpu(t, server.cmd.Process.Pid)-before, value[float64](p, callsNow)-calls
		t.Logf("%s: %.1f %% of a core, the tick clock included; %.2f million calls a second; %s",
			what, float64(used)/10, done/10e6, rss(t, server.cmd.Process.Pid))
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
	if got := value[float64](p, `window.got`); got < 200 {
		t.Errorf("twenty clients got %.0f messages in ten seconds", got)
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

// rss is the memory of a process, now and at the most.
func rss(t *testing.T, pid int) string {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for l := range strings.Lines(string(b)) {
		if strings.HasPrefix(l, "VmRSS") || strings.HasPrefix(l, "VmHWM") {
			out = append(out, strings.Join(strings.Fields(l), " "))
		}
	}
	return strings.Join(out, ", ")
}
