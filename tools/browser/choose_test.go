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
)

// text is what an element says.
func (p *page) text(selector string) string {
	p.t.Helper()
	p.wait(selector)
	return value[string](p, fmt.Sprintf(`document.querySelector(%q).innerText`, selector))
}

// TestChoose has the page suggest a root and look ahead, records without a method
// that a filter hides, and looks at the slowest invocations and at what is
// uncertain.
func TestChoose(t *testing.T) {
	p := open(t, served(t), 1280, 800)
	program := program(t, "Busy")
	p.click(fmt.Sprintf(`button[data-pid="%d"]`, program.cmd.Process.Pid))
	p.click("#suggest")
	p.wait("#suggestions li")
	if first := p.text("#suggestions li"); !strings.Contains(first, "Busy.handle") || !strings.Contains(first, "stacks of busy threads") && !strings.Contains(first, "% of the time") {
		t.Error("the first suggestion:", first)
	}
	if all := p.text("#suggestions"); strings.Contains(all, "idle") {
		t.Error("what an idle thread waits in is suggested:", all)
	}
	p.click("#suggestions li")
	p.until(`document.querySelectorAll("#roots li").length === 1`)
	p.do("a rule", chromedp.SendKeys("#rule", "Busy.sh*"))
	p.click("#exclude")
	p.click("#preview")
	if ahead := p.text("#ahead"); !strings.Contains(ahead, "into 3 methods of 1 class in 1 package") || !strings.Contains(ahead, "The filter hides 1") {
		t.Error("the preview:", ahead)
	}
	p.click(".more summary")
	p.click("#keep-slowest")
	p.shot("choose")
	p.do("the phone", chromedp.EmulateViewport(390, 844))
	p.shot("choose-phone")
	p.do("the screen", chromedp.EmulateViewport(1280, 800))
	p.click("#start")
	p.wait(".phase.recording")
	p.until(`Number(document.querySelector(".fig:nth-child(3) dd")?.textContent.replace(/\D/g, "")) > 100`)

	p.do("slowest", chromedp.KeyEvent("5"))
	p.openUntil(`document.querySelectorAll("#slowest tbody tr").length === 20 && document.querySelectorAll(".table .space .tr").length > 2`)
	p.click("#stop") // so that the list stays as it is
	p.wait(".phase.stopped")
	p.until(`document.querySelector("#slowest tr.selected")`)
	row := `[...document.querySelectorAll("#slowest tbody tr")].findIndex((r) => r.classList.contains("selected"))`
	at := value[int](p, row)
	p.focus(".slowlist")
	p.do("another one", chromedp.KeyEvent(kb.ArrowDown))
	p.until(fmt.Sprintf("%s === %d", row, at+1))
	// The tree is that of one invocation: it has the calls that the list says.
	p.until(`document.querySelector(".table .space .tr .calls")?.textContent === "1"`)
	p.openAll()
	p.until(`(() => {
		const calls = (e) => Number(e.textContent.replace(/\D/g, ""));
		const listed = calls(document.querySelector("#slowest tr.selected td:nth-child(4)"));
		const rows = [...document.querySelectorAll(".table .space .tr")].map((r) => calls(r.querySelectorAll(".td")[4]));
		return rows[0] === 1 && listed >= 3 && rows.reduce((a, b) => a + b, 0) === listed;
	})()`)
	p.shot("slowest")

	p.do("uncertain", chromedp.KeyEvent("7"))
	if text := p.text("#hidden"); !strings.Contains(text, "--exclude Busy.sh*") || !strings.Contains(text, "hides 1 of them") {
		t.Error("the filter:", text)
	}
	p.do("by name", chromedp.SendKeys("#filter", "ship"))
	p.until(`document.querySelectorAll("#skipped tbody tr").length === 1 && document.querySelector("#skipped").innerText.includes("hidden by the filter")`)
	if dark := p.text("#dark"); !strings.Contains(dark, "handle") {
		t.Error("who has the time of what is hidden:", dark)
	}
	p.shot("uncertain")
	if problems := p.console(); len(problems) > 0 {
		t.Errorf("console: %q", problems)
	}
}

// TestKept ends the server and wants its snapshots from the next one, opens a
// file from the disk, and compares the two.
func TestKept(t *testing.T) {
	dir := t.TempDir()
	url, server := servedWith(t, dir)
	address, secret, _ := strings.Cut(url, "/#")
	program := program(t, "Counted")
	api := func(path, body string) string {
		t.Helper()
		return string(ask(t, address+"/api/"+path, secret, []byte(body)))
	}
	api("attach", fmt.Sprintf(`{"pid":%d}`, program.cmd.Process.Pid))
	api("start", `{"roots":["Counted.root"]}`)
	want := program.counts(t, 300)
	api("stop", "{}")
	api("rename", `{"id":1,"name":"before the change"}`)
	file := filepath.Join(t.TempDir(), "mine.json")
	if err := os.WriteFile(file, []byte(api("report?source=1", "")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := server.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-server.ended

	url, _ = servedWith(t, dir)
	p := open(t, url, 1280, 800)
	p.click("#reopen")
	p.wait(".treename")
	p.methods(len(want))
	same(t, "after a restart", p.calls(), want)
	p.do("snapshots", chromedp.KeyEvent("9"))
	p.until(`document.querySelector("#snapshots input")?.value === "before the change"`)
	p.do("a file", chromedp.SetUploadFiles("#file", []string{file}))
	p.wait(".treename")
	p.methods(len(want))
	same(t, "opened", p.calls(), want)
	p.do("snapshots", chromedp.KeyEvent("9"))
	p.until(`document.querySelectorAll("#snapshots tbody tr").length === 2 && document.querySelector("#snapshots").innerText.includes("in memory")`)
	p.shot("kept")
	p.button("#snapshots tbody tr:nth-child(1)", "Compare")
	p.until(`document.querySelector(".table .space .tr")?.textContent.includes("root")`)
	if cells := value[[]string](p, `[...document.querySelectorAll(".table .space .tr .td")].map((e) => e.textContent.replace(/\s/g, "")).slice(0, 8)`); cells[0] != "0" || cells[6] != "300" || cells[7] != "300" {
		t.Errorf("the same recording twice differs: %q", cells)
	}
	p.do("snapshots", chromedp.KeyEvent("9"))
	p.button("#snapshots tbody tr:nth-child(2)", "Delete")
	p.button("#snapshots tbody tr:nth-child(2)", "Really?")
	p.until(`document.querySelectorAll("#snapshots tbody tr").length === 1`)
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 0 {
		t.Errorf("files %q, %v", left, err)
	}
	if problems := p.console(); len(problems) > 0 {
		t.Errorf("console: %q", problems)
	}
}

// TestTargetsStay wants buttons to stay under the pointer and the focus while
// JVMs come and go.
func TestTargetsStay(t *testing.T) {
	first := program(t, "Counted")
	p := open(t, served(t), 1280, 800)
	button := fmt.Sprintf(`button[data-pid="%d"]`, first.cmd.Process.Pid)
	p.do("focus", chromedp.WaitVisible(button), chromedp.Focus(button))
	// How high on the page something is. Other JVMs of this machine come and go, whose
	// rows may be wider: then columns move to the side, which is no matter.
	point := func(name, selector string) {
		value[bool](p, fmt.Sprintf(`(() => {
			const b = document.querySelector('%s').getBoundingClientRect();
			window.%s = b.top + b.height / 2;
			return true;
		})()`, selector, name))
	}
	points := func(name, selector string) bool {
		return value[bool](p, fmt.Sprintf(`(() => {
			const b = document.querySelector('%s').getBoundingClientRect();
			return b.top < window.%s && window.%[2]s < b.bottom;
		})()`, selector, name))
	}
	point("first", button)
	point("demo", "#demo")
	second := program(t, "Counted")
	p.until(fmt.Sprintf(`document.querySelector('button[data-pid="%d"]')`, second.cmd.Process.Pid))
	row := fmt.Sprintf(`[...document.querySelectorAll("#targets tbody tr")].find((r) => r.firstChild.textContent === "%d")`, second.cmd.Process.Pid)
	tall := value[int](p, row+".offsetHeight")
	second.in.Close() // it ends
	p.until(row + `.innerText.includes("has ended")`)
	if now := value[int](p, row+".offsetHeight"); now != tall {
		t.Errorf("its row is %d px tall, not %d as before it ended: what is below moves", now, tall)
	}
	if !points("first", button) {
		t.Error("the button has moved away")
	}
	if !points("demo", "#demo") {
		t.Error("the demo's button has moved away")
	}
	if !value[bool](p, fmt.Sprintf(`document.activeElement === document.querySelector('%s')`, button)) {
		t.Error("the focus has gone")
	}
}

// TestLoadedLater finds a method of a class that was loaded since the attach, some
// seconds later.
func TestLoadedLater(t *testing.T) {
	t.Parallel()
	program := program(t, "Handing")
	p := open(t, served(t), 1280, 800)
	p.click(fmt.Sprintf(`button[data-pid="%d"]`, program.cmd.Process.Pid))
	p.wait("#search")
	p.do("search", chromedp.SendKeys("#search", "later come"))
	p.until(`document.body.innerText.includes("No loaded method matches")`)
	program.tell(t, "late")
	program.line(t, "LOADED")
	p.patiently(`document.querySelector("#hit-0")?.innerText.includes("come")`, func() {
		time.Sleep(500 * time.Millisecond)
		p.focus("#search")
		p.do("search again", chromedp.KeyEvent(kb.Backspace), chromedp.KeyEvent("e"))
	})
	if problems := p.console(); len(problems) > 0 {
		t.Errorf("console: %q", problems)
	}
}
