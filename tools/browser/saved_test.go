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
	p := open(t, "file://"+saved, 1280, 800)
	p.openUntil(`document.querySelectorAll(".table .space .tr").length > 1 && ![...document.querySelectorAll(".table .twist")].some((e) => e.textContent === "▸")`)
	got := p.calls()
	if got["root"] != want["root"] || got["step"] != want["step"] {
		t.Errorf("the tree has %v, the program counted %v", got, want)
	}
	p.fair("saved page")
	p.press("2")
	p.until(fmt.Sprintf(`!document.querySelector(".treename") && document.querySelectorAll(".table .space .tr").length === %d`, len(want)))
	same(t, "methods", p.calls(), want)
	// A leaf that is only counted has no time of its own: "–", and no 0.
	if got := value[string](p, `[...[...document.querySelectorAll(".table .space .tr")].find((tr) => tr.querySelector("b").textContent === "leaf").querySelectorAll(".td")].slice(0, 4).map((td) => td.textContent).join()`); got != "–,,,–" {
		t.Errorf("self, share, ± and total of a counted leaf are %q", got)
	}
	// Without a JVM there is nothing to do with a method but to look at it.
	p.focus(".table")
	p.do("the first row", chromedp.KeyEvent(kb.Home))
	p.until(`document.querySelector(".table .space .tr.selected")`)
	p.press("m")
	p.until(`document.querySelector("#menu")`)
	if got := value[string](p, `[...document.querySelectorAll("#menu [role=menuitem]")].map((e) => e.textContent).join()`); got != "Callers,Copy name,Open source" {
		t.Error("the menu of a method:", got)
	}
	p.press(kb.Enter)
	p.until(`document.querySelectorAll(".sandwich .half canvas").length > 0`)
	p.shot("saved-callers")
	// What is shown is in the address: a reload shows the same, and Back leads to the list.
	if hash := value[string](p, "location.hash"); !strings.Contains(hash, "tab=around") {
		t.Error("the address:", hash)
	}
	p.do("reload", chromedp.Reload())
	p.until(`document.querySelectorAll(".sandwich .half canvas").length > 0`)
	p.scheme("dark", 390, 844)
	if wide := value[int](p, `document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("on a phone the page is %d pixels wide", wide)
	}
	p.shot("saved-phone-dark")
	p.fair("saved page, callers")
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
	p.openUntil(`document.querySelectorAll(".table .space .tr").length > 2`)
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
	p.focus(".table")
	p.do("close the root", chromedp.KeyEvent(kb.Home), chromedp.KeyEvent(kb.ArrowLeft))
	p.until(`document.querySelectorAll(".table .space .tr").length === 1`)
	p.do("reload", chromedp.Sleep(400*time.Millisecond), chromedp.Reload())
	p.until(`document.querySelectorAll(".table .space .tr").length === 1 && document.querySelector("#tab-compare").ariaSelected === "true"`)

	p = opened("diff", saved[0], saved[1], "--ui", "--absolute")
	p.openUntil(`document.querySelectorAll(".table .space .tr").length > 2`)
	if got := calls(); fmt.Sprint(got) != "[100 300]" {
		t.Errorf("calls of the root with --absolute: %q", got)
	}
	p = opened("view", saved[0], "--ui")
	p.wait(".treename")
	p.methods(len(want))
	same(t, "a file", p.calls(), want)

	// A folder is a list; each of its recordings opens from there.
	p = opened("view", dir, "--ui")
	p.until(`document.querySelector("#tab-snapshots").ariaSelected === "true" && document.querySelectorAll("#view tbody tr").length === 2`)
	if names := value[[]string](p, `[...document.querySelectorAll("#view tbody input")].map((e) => e.value)`); fmt.Sprint(names) != "[run2 run1]" {
		t.Error("the list of a folder:", names)
	}
	p.click("#view tbody tr:last-child button") // the older one
	p.wait(".treename")
	p.methods(len(want))
	same(t, "a file of a folder", p.calls(), want)
}
