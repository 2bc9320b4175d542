package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
	"github.com/rivulet-profiler/rivulet/web/webtest"
)

// program starts a class of testdata.
func program(t *testing.T, class string, options ...string) *child {
	t.Helper()
	j := jvmtest.Any(t)
	c := start(t, j.Java(), append(options, "-Xmx64m", "-cp", compiled(t, j, "testdata/"+class+".java"), class)...)
	c.line(t, "READY")
	return c
}

// compiled is a folder with the classes of a source file.
func compiled(t *testing.T, j jvmtest.JDK, file string) string {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return jvmtest.Compile(t, j, 0, map[string]string{filepath.Base(file): string(source)})
}

// counts has the program run and returns its own counts by method.
func (c *child) counts(t *testing.T, n int) map[string]int64 {
	t.Helper()
	c.tell(t, fmt.Sprintf("run %d", n))
	f := strings.Fields(c.line(t, "COUNT "))[1:]
	m := map[string]int64{}
	for i := 0; i+1 < len(f); i += 2 {
		var v int64
		if _, err := fmt.Sscan(f[i+1], &v); err != nil {
			t.Fatal(err)
		}
		m[f[i]] = v
	}
	return m
}

// calls are the calls by method that a table on the page shows: the sum over
// its rows.
func (p *page) calls() map[string]int64 {
	p.t.Helper()
	return value[map[string]int64](p, `(() => {
		const heads = [...document.querySelectorAll(".table .head .td")].map((e) => e.textContent.replace(/ .$/, ""));
		const at = heads.indexOf("Calls"), out = {};
		for (const row of document.querySelectorAll(".table .space .tr")) {
			const cells = row.querySelectorAll(".td"), name = cells[cells.length - 1].querySelector("b").textContent;
			out[name] = (out[name] ?? 0) + Number(cells[at].textContent.replace(/\D/g, ""));
		}
		return out;
	})()`)
}

// button clicks what has a text, somewhere in an element.
func (p *page) button(in, text string) {
	p.t.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll(%q)].find((b) => b.textContent === %q)`, in+" button", text)
	p.until(find)
	value[bool](p, find+".click() ?? true")
}

// root attaches to a program and chooses a root by words of which the last is the
// method's name.
func (p *page) root(program *child, words string) {
	p.t.Helper()
	p.click(fmt.Sprintf(`button[data-pid="%d"]`, program.cmd.Process.Pid))
	p.wait("#search")
	p.do("search", chromedp.SendKeys("#search", words), chromedp.WaitVisible("#hit-0"))
	p.until(fmt.Sprintf(`document.querySelector("#hit-0 b").textContent === %q`, words[strings.LastIndexByte(words, ' ')+1:]))
	p.do("choose", chromedp.SendKeys("#search", kb.Enter))
	p.until(`document.querySelector("#roots li")`)
}

// methods goes to the flat list and waits until it has n lines.
func (p *page) methods(n int) {
	p.t.Helper()
	p.do("methods", chromedp.KeyEvent("2"))
	p.until(fmt.Sprintf(`!document.querySelector(".treename") && document.querySelectorAll(".table .space .tr").length === %d`, n))
}

// openUntil opens every node of the tree's table, also those that come, until a
// condition holds. The page itself opens only the nodes where most of the time is: which these are, the machine
// decides.
func (p *page) openUntil(condition string) {
	p.t.Helper()
	p.patiently(condition, p.openAll)
}

// openAll opens every node of the tree's table, until none has been closed for a while.
func (p *page) openAll() {
	p.t.Helper()
	for quiet := 0; quiet < 4; {
		closed := value[bool](p, `(() => {
			const t = [...document.querySelectorAll(".table .twist")].find((e) => e.textContent === "▸");
			t?.click();
			return !!t;
		})()`)
		if quiet++; closed {
			quiet = 0
		}
		time.Sleep(60 * time.Millisecond)
	}
}

func same(t *testing.T, what string, got, want map[string]int64) {
	t.Helper()
	for name, n := range want {
		if got[name] != n {
			t.Errorf("%s: %s has %d calls on the page, the program counted %d (all: %v)", what, name, got[name], n, got)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %s is on the page, the program knows nothing of it", what, name)
		}
	}
}

// TestMainPath goes the way that everybody goes: attach, search a root,
// record, look, stop, record again, compare.
func TestMainPath(t *testing.T) {
	p := open(t, served(t), 1280, 800)
	program := program(t, "Counted")
	p.click(fmt.Sprintf(`button[data-pid="%d"]`, program.cmd.Process.Pid))
	p.wait("#search")
	if hash := value[string](p, `location.hash`); hash != "" {
		t.Error("the secret stays in the address bar:", hash)
	}
	p.do("search", chromedp.SendKeys("#search", "counted root"), chromedp.WaitVisible("#hit-0"))
	p.until(`document.querySelector("#hit-0 b").textContent === "root"`)
	p.do("choose", chromedp.SendKeys("#search", kb.Enter))
	p.shot("picker")
	p.click("#start")
	p.wait(".phase.recording")
	want := program.counts(t, 1000)
	total := int64(0)
	for _, n := range want {
		total += n
	}
	p.until(fmt.Sprintf(`document.querySelector(".fig dd")?.textContent.replace(/\D/g, "") === "%d"`, total))
	p.wait(".table .space .tr")
	p.openUntil(`document.querySelectorAll(".table .space .tr").length > 8`)
	same(t, "tree", p.calls(), want)
	p.hover()
	if boxes := value[bool](p, `document.querySelector(".icicle canvas").getContext("2d").getImageData(5, 5, 1, 1).data[3] > 0`); !boxes {
		t.Error("nothing is drawn at the root of the flame graph")
	}
	// The selected node fills the flame graph, and all comes back.
	p.do("zoom", chromedp.Click(".table .space .tr:nth-child(2)"), chromedp.KeyEvent(kb.Enter))
	p.until(`document.querySelector(".crumbs b")?.textContent.startsWith("Counted.")`)
	p.click(".crumbs button")
	p.until(`document.querySelector(".crumbs button").disabled`)
	p.methods(len(want))
	same(t, "methods", p.calls(), want)

	p.click("#stop")
	p.wait(".phase.stopped")
	if got := program.counts(t, 1); got["root"] != want["root"]+1 {
		t.Errorf("after stopping the program counts %v", got)
	}
	same(t, "stopped", p.calls(), want)

	p.click("#again")
	p.wait(".phase.recording")
	program.counts(t, 500)
	p.until(`document.querySelector(".fig:nth-child(3) dd")?.textContent === "500"`)
	p.click("#stop")
	p.wait(".phase.stopped")
	p.do("snapshots", chromedp.KeyEvent("9"))
	p.until(`document.querySelectorAll("#snapshots tbody tr").length === 2`)
	p.shot("snapshots")
	p.button("#snapshots tbody tr:nth-child(2)", "Open") // the first recording: the last is on top
	p.wait(".treename")
	p.methods(len(want))
	same(t, "reopened", p.calls(), want)
	p.do("snapshots", chromedp.KeyEvent("9"))
	p.until(`document.querySelectorAll("#snapshots tbody tr").length === 2`)
	p.button("#snapshots tbody tr:nth-child(1)", "Compare")
	p.until(`document.querySelector(".table .space .tr")?.textContent.includes("root")`)
	p.shot("compare")
	cells := value[[]string](p, `[...document.querySelectorAll(".table .space .tr .td")].map((e) => e.textContent.replace(/\s/g, "")).slice(0, 8)`)
	if cells[6] != "1000" || cells[7] != "1000" {
		t.Errorf("root in the comparison, for the same number of root calls: %q", cells)
	}
	p.do("help", chromedp.KeyEvent("?"))
	p.wait("dialog kbd")
	p.shot("help")
	p.do("close the help", chromedp.KeyEvent(kb.Escape))
	// Without a JVM the snapshots can still be looked at.
	p.click("#detach")
	p.click("#list")
	p.button("#snapshots tbody tr:nth-child(2)", "Open")
	p.wait(".treename")
	p.methods(len(want))
	same(t, "opened without a JVM", p.calls(), want)
	if problems := p.console(); len(problems) > 0 {
		t.Errorf("console: %q", problems)
	}
}

// rootLine is the line of Counted.java on which root's code begins.
const rootLine = "root++;"

// hover points at the root in the flame graph, which has all figures of it beside
// the pointer then, and wants the same of the line below once it is selected.
func (p *page) hover() {
	p.t.Helper()
	root := func() (x, y float64) { // what is above the flame graph may grow while it is live
		at := value[[]float64](p, `(() => { const r = document.querySelector(".icicle canvas").getBoundingClientRect(); return [r.left + r.width / 2, r.top + 5]; })()`)
		return at[0], at[1]
	}
	point := func() {
		x, y := root()
		p.do("point", chromedp.MouseEvent(chromedp.MouseMoved, x, y))
	}
	point()
	p.patiently(`document.querySelector(".tip").innerText.includes("Counted.root(int)")`, point)
	place := "Counted.java:" + fmt.Sprint(lineOf(p.t, "testdata/Counted.java", rootLine))
	tip := value[string](p, `document.querySelector(".tip").innerText`)
	for _, want := range []string{"Counted.root(int)", place, "calls\n1\u202f000", "thrown\n0", "total\n", "self\n", "may be off by\n", "measured self\n", "mean total\n", " %"} {
		if !strings.Contains(tip, want) {
			p.t.Errorf("no %q beside the pointer: %q", want, tip)
		}
	}
	if value[bool](p, `(() => { const r = document.querySelector(".tip").getBoundingClientRect(); return r.left < 0 || r.top < 0 || r.right > innerWidth || r.bottom > innerHeight; })()`) {
		p.t.Error("what is beside the pointer is not all on the screen")
	}
	p.shot("hover")
	p.patiently(fmt.Sprintf(`document.querySelector(".detail .place")?.textContent === %q`, place), func() {
		x, y := root()
		p.do("select", chromedp.MouseClickXY(x, y))
	})
	p.do("point elsewhere", chromedp.MouseEvent(chromedp.MouseMoved, 5, 5))
	p.until(`!document.querySelector(".tip")`)
}

// lineOf is the number of the first line with a text in it.
func lineOf(t *testing.T, file, text string) int {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range strings.Split(string(b), "\n") {
		if strings.Contains(l, text) {
			return i + 1
		}
	}
	t.Fatalf("no %q in %s", text, file)
	return 0
}

// TestDemo starts the bundled sample from the page; with RIVULET_SHOTS it
// takes the pictures.
func TestDemo(t *testing.T) {
	p := open(t, served(t), 1280, 800)
	p.wait("#demo")
	p.shot("start")
	// Not by the mouse: the list of JVMs above it moves it while other tests run.
	p.until(`document.querySelector("#demo")?.disabled === false`)
	value[bool](p, `(document.querySelector("#demo").click(), true)`)
	p.wait(".phase.recording")
	p.wait(".table .space .tr")
	p.until(`Number(document.querySelector(".fig dd")?.textContent.replace(/\D/g, "")) > 10000`)
	if os.Getenv("RIVULET_SHOTS") != "" {
		p.pictures()
	}
	p.click("#stop")
	p.wait(".phase.stopped")
	p.scheme("light", 390, 844) // a phone
	for i, v := range views {
		p.do(v, chromedp.KeyEvent(fmt.Sprint((i+1)%10)), chromedp.Sleep(200*time.Millisecond))
		if wide := value[int](p, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
			t.Errorf("%s: the page is %d px wider than a phone", v, wide)
		}
	}
	if problems := p.console(); len(problems) > 0 {
		t.Errorf("console: %q", problems)
	}
}

// views are the page's, in the order of their keys.
var views = []string{"tree", "methods", "around", "threads", "slowest", "timeline", "doubts", "compare", "snapshots", "log"}

// pictures goes through all views in all forms.
func (p *page) pictures() {
	p.t.Helper()
	p.do("let it run", chromedp.Sleep(6*time.Second), chromedp.Click(".table .space .tr:nth-child(3)"))
	at := value[[]float64](p, `(() => { const r = document.querySelector(".icicle canvas").getBoundingClientRect(); return [r.left + r.width * 0.69, r.top + 26]; })()`)
	p.do("point", chromedp.MouseEvent(chromedp.MouseMoved, at[0], at[1]))
	p.until(`document.querySelector(".tip")`)
	p.shot("light-pointed") // docs/images/page.png
	p.do("point elsewhere", chromedp.MouseEvent(chromedp.MouseMoved, 5, 5))
	for _, form := range []struct {
		name, colors  string
		width, height int64
	}{{"light", "light", 1280, 800}, {"dark", "dark", 1280, 800}, {"phone-light", "light", 390, 844}, {"phone-dark", "dark", 390, 844}} {
		p.scheme(form.colors, form.width, form.height)
		for i, v := range views {
			if v == "around" {
				p.do("select", chromedp.Click(".table .space .tr:nth-child(2)"))
			}
			p.do(v, chromedp.KeyEvent(fmt.Sprint((i+1)%10)), chromedp.Sleep(500*time.Millisecond))
			p.shot(form.name + "-" + v)
		}
	}
	p.scheme("light", 1280, 800)
	p.do("tree", chromedp.KeyEvent("1"))
}

// ask is webtest.Ask where nothing can be wrong.
func ask(t *testing.T, url, secret string, body []byte) []byte {
	t.Helper()
	status, b := webtest.Ask(t, url, secret, body)
	if status != 200 {
		t.Fatalf("%s: %d %.200s", url, status, b)
	}
	return b
}
