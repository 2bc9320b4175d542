package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestHeatMap samples a program, and shows the tree of a part of the time.
func TestHeatMap(t *testing.T) {
	t.Parallel()
	file, err := build()
	if err != nil {
		t.Fatal(err)
	}
	program := program(t, "Busy")
	l := start(t, file, "sample", fmt.Sprint(program.cmd.Process.Pid), "--ui", "--wall", "--hz", "50").line(t, "http://")
	p := open(t, l[strings.Index(l, "http://"):], 1280, 800)
	p.until(`document.querySelector(".heat canvas") && document.querySelector(".heat p").textContent.includes("A column is") && Number(document.querySelector("#history").dataset.at) > 3e9`)
	p.press("r")
	p.wait(".phase.stopped")
	total := func() float64 {
		return value[float64](p, `Number(document.querySelector(".icicle").dataset.total)`)
	}
	entries := `document.querySelector(".table .space .tr .calls").textContent`
	whole := total()
	// The first half by the mouse, then up to the end by keys.
	at := value[[]float64](p, `(() => { const r = document.querySelector(".heat canvas").getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })()`)
	p.do("brush", chromedp.MouseEvent(chromedp.MousePressed, at[0]+2, at[1]+2, chromedp.ButtonLeft), chromedp.MouseEvent(chromedp.MouseMoved, at[0]+at[2]/3, at[1]+9),
		chromedp.MouseEvent(chromedp.MouseReleased, at[0]+at[2]/2, at[1]+at[3]/2, chromedp.ButtonLeft))
	p.until(`document.querySelector("#shown-range") && ` + entries + ` === "–"`)
	p.shot("heat-map")
	if part := total(); part <= 0 || part >= whole {
		t.Errorf("a part of the time has %v ns of %v", part, whole)
	}
	if hash := value[string](p, `location.hash + location.search`); !strings.Contains(hash, "range=") {
		t.Error("the address does not say which part is shown:", hash)
	}
	p.focus(".heat .lines")
	p.press(kb.Escape)
	p.until(`!document.querySelector("#shown-range") && ` + entries + ` !== "–"`)
	if again := total(); again != whole {
		t.Errorf("all the time has %v ns again, of %v", again, whole)
	}
	p.press(kb.ArrowRight, kb.ArrowLeft)
	p.until(`document.querySelector("#shown-range")`)
	p.fair("heat map")
	if problems := p.console(); len(problems) > 0 {
		t.Errorf("console: %q", problems)
	}
}
