package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestRootBySamples comes to the root of a server that nobody knows in two clicks: one
// attaches, one takes a box of the flame graph that is there without asking.
func TestRootBySamples(t *testing.T) {
	t.Parallel()
	p := open(t, served(t), 1280, 800)
	program := program(t, "Busy")
	p.click(fmt.Sprintf(`button[data-pid="%d"]`, program.cmd.Process.Pid)) // the first
	p.until(`document.querySelector("#samples canvas") || document.querySelector(".suggest [role=status]")?.textContent.startsWith("There are no samples")`)
	if status := p.text(".suggest [role=status]"); strings.HasPrefix(status, "There are no samples") {
		t.Skip(status)
	}
	// Keys say where the box is, and take it, too.
	p.until(`Number(document.querySelector("#samples .icicle").dataset.total) > 0`) // until then keys move nothing
	p.focus("#samples .icicle")
	label := func() string {
		return value[string](p, `document.querySelector("#samples .icicle").getAttribute("aria-label")`)
	}
	level := -1
	for at := label(); !strings.Contains(at, "Busy.handle,"); level++ {
		if level > 30 {
			t.Fatal("no Busy.handle among the samples: ", at)
		}
		p.press(kb.ArrowDown)
		p.until(fmt.Sprintf(`document.querySelector("#samples .icicle").getAttribute("aria-label") !== %q`, at))
		at = label()
	}
	p.press(kb.Enter)
	chosen := `[...document.querySelectorAll("#roots .name b")].map((e) => e.textContent).join() === "handle"`
	p.until(chosen)
	p.click("#roots li button")
	p.until(`document.querySelectorAll("#roots li").length === 0`)
	at := value[[]float64](p, `(() => { const r = document.querySelector("#samples canvas").getBoundingClientRect(); return [r.left + r.width / 3, r.top]; })()`)
	p.do("the second click", chromedp.MouseClickXY(at[0], at[1]+float64(level)*18+9))
	p.until(chosen)
	p.until(`/expected price: (low|medium|high)/.test(document.querySelector("#roots li").textContent)`)
	p.shot("root-by-samples")
	p.click("#start")
	p.wait(".phase.recording")
	p.roots("Busy.handle")
	p.until(`Number(document.querySelector(".table .space .tr .calls")?.textContent.replace(/\D/g, "")) > 50`)
	if found := p.console(); len(found) > 0 {
		t.Error(fmt.Sprint("console: ", found))
	}
}
