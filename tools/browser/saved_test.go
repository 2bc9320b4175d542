package browser

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
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
	p.click("#tree")
	p.do("search", chromedp.SendKeys("#search", "leaf")) // opens all that leads there
	p.until(`document.querySelectorAll("#body tr.match").length > 2`)
	got := value[map[string]int64](p, counts)
	if got["root"] != want["root"] || got["leaf"] != want["leaf"] {
		t.Errorf("the tree has %v, the program counted %v", got, want)
	}
	p.shot("saved")
	if found := p.console(); len(found) > 0 {
		t.Error("console:", found)
	}
}
