package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestWaysBack records, resets, chooses another root, looks at snapshots meanwhile, and has
// the target killed: the page says what became of each.
func TestWaysBack(t *testing.T) {
	t.Parallel()
	p := open(t, served(t), 1280, 800)
	program := program(t, "Counted")
	p.root(program, "counted root")
	p.click("#start")
	p.wait(".phase.recording")
	program.counts(t, 100)
	calls := `document.querySelector(".fig dd")?.textContent.replace(/\D/g, "")`
	p.until(calls + ` > 99`)
	// A method that is only counted has no time of its own, which is not 0.
	p.patiently(`[...document.querySelectorAll(".table .space .tr")].some((r) => /leaf/.test(r.textContent) && r.querySelector(".tag") && r.children[0].textContent === "–" && r.children[2].textContent === "–")`, func() { // the root may be closed
		value[bool](p, `([...document.querySelectorAll(".table .space .twist")].find((e) => e.textContent.trim() === "▸")?.click(), true)`)
	})
	// The header keeps its height, whatever the figures are.
	height := value[float64](p, `document.querySelector(".bar").offsetHeight`)
	// Reset asks first, and does nothing if somebody goes elsewhere.
	p.click("#reset")
	p.until(`document.querySelector("#reset").textContent === "Forget all so far?"`)
	value[bool](p, `(document.querySelector("#reset").blur(), true)`)
	p.until(`document.querySelector("#reset").textContent === "Reset"`)
	if got := value[bool](p, calls+` > 99`); !got {
		t.Error("one click has reset the recording")
	}
	p.click("#reset")
	p.until(`document.querySelector("#reset").textContent === "Forget all so far?"`)
	p.click("#reset")
	p.until(calls + ` === "0"`)
	program.counts(t, 10)
	p.until(calls + ` > 9`)
	if now := value[float64](p, `document.querySelector(".bar").offsetHeight`); now != height {
		t.Errorf("the header was %v high, and is %v", height, now)
	}
	p.click("#stop")
	p.until(`document.querySelector(".phase").textContent === "stopped, target restored"`)
	// Another root begins with none, and the snapshots stay in reach.
	p.click("#other")
	p.wait("#search")
	if n := value[int](p, `document.querySelectorAll("#roots li").length`); n != 0 {
		t.Errorf("%d roots are chosen already", n)
	}
	p.click("#to-snapshots")
	p.until(`document.querySelectorAll("#snapshots tbody tr").length === 1`)
	p.click("#to-root")
	p.wait("#search")
	p.do("search", chromedp.SendKeys("#search", "counted root"), chromedp.WaitVisible("#hit-0"))
	p.click("#hit-0")
	p.until(`document.querySelectorAll("#roots li").length === 1`)
	p.click("#start")
	p.wait(".phase.recording")
	program.counts(t, 5)
	p.until(calls + ` > 4`)
	if err := program.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.until(`document.querySelector(".phase").textContent === "the target has exited"`)
	if found := p.console(); len(found) > 0 {
		t.Error(fmt.Sprint("console: ", found))
	}
}
