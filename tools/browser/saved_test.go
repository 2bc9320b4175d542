package browser

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestSavedPage records by a script, saves the page that needs nothing else, and
// reads the program's own counts off it.
func TestSavedPage(t *testing.T) {
	file, err := build()
	if err != nil {
		t.Fatal(err)
	}
	saved := filepath.Join(t.TempDir(), "saved.html")
	program := program(t, "Counted")
	script := start(t, file, "attach", fmt.Sprint(program.cmd.Process.Pid))
	script.tell(t, "start Counted.root\necho started")
	script.line(t, "started")
	want := program.counts(t, 200)
	script.tell(t, "stop\nsave "+saved+"\necho saved")
	script.line(t, "saved to ")
	p := open(t, "file://"+saved, 1100, 700)
	counts := `(() => {
		const out = {};
		for (const row of document.querySelectorAll("#body tr")) {
			const cells = row.querySelectorAll("td"), name = cells[cells.length - 1].textContent.replace(/^[▸▾]/, "").replace("Counted.", "");
			out[name] = (out[name] ?? 0) + Number(cells[0].textContent.replace(/\D/g, ""));
		}
		return out;
	})()`
	p.click("#methods")
	same(t, "methods", value[map[string]int64](p, counts), want)
	// A leaf that is only counted has no time of its own: "-", and no 0.
	if got := value[string](p, `[...[...document.querySelectorAll("#body tr")].find((tr) => tr.lastChild.textContent === "Counted.leaf").children].slice(2, 7).map((td) => td.textContent).join()`); got != "-,,-,-,-" {
		t.Errorf("self, ±, total, share and mean of a counted leaf are %q", got)
	}
	p.click("#tree")
	p.do("search", chromedp.SendKeys("#search", "leaf")) // opens all that leads there
	p.until(`document.querySelectorAll("#body tr.match").length > 2`)
	got := value[map[string]int64](p, counts)
	if got["root"] != want["root"] || got["leaf"] != want["leaf"] {
		t.Errorf("the tree has %v, the program counted %v", got, want)
	}
	p.shot("saved")
	p.fair("saved page, searched")
	// The root's box is above those of its callees; a click has one fill the width.
	value[bool](p, `((s) => { s.value = ""; s.dispatchEvent(new Event("input")); return true; })(document.querySelector("#search"))`)
	at := value[[]float64](p, `(() => { const r = document.querySelector("#graph canvas").getBoundingClientRect(); return [r.left + 5, r.top + 5, r.top + 23]; })()`)
	place := fmt.Sprint("Counted.java:", lineOf(t, "testdata/Counted.java", rootLine))
	p.do("point at the root", chromedp.MouseEvent(chromedp.MouseMoved, at[0], at[1]))
	p.until(fmt.Sprintf(`document.querySelector("#box").textContent.startsWith(%q)`, fmt.Sprintf("Counted.root (%s): %d calls, self ", place, want["root"])))
	p.do("point at a callee", chromedp.MouseEvent(chromedp.MouseMoved, at[0], at[2]))
	p.until(`!document.querySelector("#box").textContent.startsWith("Counted.root")`)
	callee := value[string](p, `document.querySelector("#box").textContent.split(" ")[0]`)
	p.do("zoom", chromedp.MouseClickXY(at[0], at[2]))
	p.until(`!document.querySelector("#whole").disabled`)
	p.until(fmt.Sprintf(`document.activeElement.querySelector("td:last-child")?.textContent.endsWith(%q)`, callee))
	p.do("it is on top", chromedp.MouseEvent(chromedp.MouseMoved, at[0]+300, at[1]))
	p.until(fmt.Sprintf(`document.querySelector("#box").textContent.startsWith(%q)`, callee))
	p.click("#whole")
	p.until(`document.querySelector("#whole").disabled`)
	p.fair("saved page")
	p.scheme("dark", 390, 844)
	if wide := value[int](p, `document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("on a phone the page is %d pixels wide", wide)
	}
	p.shot("saved-phone-dark")
	// Methods are sorted by keys, too.
	p.click("#methods")
	p.tabTo(`e.textContent === "calls"`, 20)
	p.press(kb.Enter)
	p.until(`document.activeElement.textContent === "calls" && document.activeElement.parentElement.ariaSort === "descending"`)
	p.until(`(() => {
		const calls = [...document.querySelectorAll("#body td:first-child")].map((e) => Number(e.textContent.replace(/\D/g, "")));
		return calls.length > 4 && calls.every((c, i) => i === 0 || c <= calls[i - 1]);
	})()`)
	p.fair("saved page, methods")
	if found := p.console(); len(found) > 0 {
		t.Error("console:", found)
	}
}

// TestOpenedPages has the command line open two saved recordings on the page, and each
// of them alone: their difference is shown at once, opened where most of it is.
func TestOpenedPages(t *testing.T) {
	t.Parallel()
	file, err := build()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program := program(t, "Counted")
	script := start(t, file, "attach", fmt.Sprint(program.cmd.Process.Pid))
	var saved []string
	var want map[string]int64 // of the first
	for i, n := range []int{100, 300} {
		script.tell(t, "start Counted.root\necho started")
		script.line(t, "started")
		if counts := program.counts(t, n); i == 0 {
			want = counts
		}
		saved = append(saved, filepath.Join(dir, fmt.Sprintf("run%d.rivulet", i+1)))
		script.tell(t, "stop\nsave "+saved[i]+"\necho saved")
		script.line(t, "saved to ")
	}
	opened := func(args ...string) *page {
		t.Helper()
		l := start(t, file, args...).line(t, "http://")
		p := open(t, l[strings.Index(l, "http://"):], 1280, 800)
		t.Cleanup(func() {
			if problems := p.console(); len(problems) > 0 {
				t.Errorf("%v: console: %q", args, problems)
			}
		})
		return p
	}
	p := opened("diff", saved[0], saved[1], "--ui")
	p.until(`document.querySelectorAll(".table .space .tr").length > 2`)
	p.shot("opened-difference")
	calls := func() (got []string) {
		return value[[]string](p, `[...document.querySelectorAll(".table .space .tr .td")].map((e) => e.textContent.replace(/\s/g, "")).slice(6, 8)`)
	}
	if got := calls(); fmt.Sprint(got) != "[100 100]" {
		t.Errorf("calls of the root, before and after: %q", got)
	}
	if text := p.text(".sourcebar"); !strings.Contains(text, "root calls 100 → 300") {
		t.Error("the bar:", text)
	}
	p.fair("difference")
	// What is closed stays so, and a reload shows the same.
	p.do("close the root", chromedp.Focus(".table"), chromedp.KeyEvent(kb.Home), chromedp.KeyEvent(kb.ArrowLeft))
	p.until(`document.querySelectorAll(".table .space .tr").length === 1`)
	p.do("reload", chromedp.Sleep(400*time.Millisecond), chromedp.Reload())
	p.until(`document.querySelectorAll(".table .space .tr").length === 1 && document.querySelector("#tab-compare").ariaSelected === "true"`)

	p = opened("diff", saved[0], saved[1], "--ui", "--absolute")
	p.until(`document.querySelectorAll(".table .space .tr").length > 2`)
	if got := calls(); fmt.Sprint(got) != "[100 300]" {
		t.Errorf("calls of the root with --absolute: %q", got)
	}
	p = opened("view", saved[0], "--ui")
	p.wait(".treename")
	p.methods(len(want))
	same(t, "a file", p.calls(), want)
}
