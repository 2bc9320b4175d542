package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestTimeline records with a timeline and looks at it: by keys and by the
// mouse, live and afterwards, in both colours.
func TestTimeline(t *testing.T) {
	p := open(t, served(t), 1280, 800)
	program := program(t, "Counted")
	p.root(program, "counted root")
	value[bool](p, `(document.querySelector(".more summary").click(), document.querySelector("#timeline").click(), true)`)
	p.until(`document.querySelector("#timeline").checked`)
	p.click("#start")
	p.wait(".phase.recording")
	const roots = 40
	want := program.counts(t, roots)
	calls := int64(0)
	for _, n := range want {
		calls += n
	}
	p.do("timeline", chromedp.KeyEvent("6"))
	label := `document.querySelector(".timeline")?.getAttribute("aria-label")`
	p.until(fmt.Sprintf(`Number(/ (\d+) calls/.exec(%s)?.[1]) >= %d`, label, calls)) // and waits of reveals
	p.until(label + `.match(/ (\d+) marks/)[1] > 1`)
	// The label is there before the canvas is drawn.
	p.until(`(() => {
		const c = document.querySelector(".timeline canvas"), d = c.getContext("2d").getImageData(0, 80, c.width, 60).data;
		let n = 0;
		for (let i = 3; i < d.length; i += 4) n += d[i] > 0;
		return n >= 100;
	})()`)
	p.shot("timeline-live")
	p.focus(".timeline")
	p.do("focus", chromedp.KeyEvent(kb.ArrowRight))
	p.until(label + `.includes("Counted.root(I)I")`)
	whole := value[string](p, `document.querySelector("#range").textContent`)
	p.do("zoom", chromedp.KeyEvent(kb.Enter))
	p.until(`!document.querySelector("#zoomall").disabled && document.querySelector("#range").textContent.includes("live view frozen")`)
	p.do("its first callee", chromedp.KeyEvent(kb.ArrowDown))
	p.until(`/Counted\.(step|leaf)\(I\)I/.test(` + label + `)`) // they can begin at the same tick
	p.do("back up", chromedp.KeyEvent(kb.ArrowUp))
	p.until(label + `.includes("Counted.root(I)I")`)
	p.shot("timeline-zoomed")
	p.scheme("dark", 1280, 800)
	p.shot("timeline-zoomed-dark")
	p.scheme("light", 1280, 800)
	p.focus(".timeline")
	p.do("all", chromedp.KeyEvent("0"))
	p.until(`document.querySelector("#zoomall").disabled`)
	p.do("in and out", chromedp.KeyEvent("+"), chromedp.KeyEvent("+"), chromedp.KeyEvent("-"))
	p.until(fmt.Sprintf(`!document.querySelector("#zoomall").disabled && document.querySelector("#range").textContent !== %q`, whole))
	p.click("#stop")
	p.wait(".phase.stopped")
	p.click("#zoomall")
	p.focus(".timeline")
	p.do("select nothing", chromedp.KeyEvent(kb.Escape))
	p.until(fmt.Sprintf(`Number(/ (\d+) calls/.exec(%s)?.[1]) >= %d`, label, calls))
	p.do("click a call", chromedp.Click(".timeline canvas"))
	p.shot("timeline-stopped")
	// Where threads don't fit, it scrolls.
	p.scheme("light", 1280, 320)
	p.until(`(() => { const e = document.querySelector(".timeline"); e.scrollTop = 30; return e.scrollHeight > e.clientHeight + 1 && e.scrollTop > 0; })()`)
	p.scheme("light", 1280, 800)
	// Without one, the page says how to get one.
	p.click("#detach")
	p.wait("#targets")
	p.root(program, "counted root")
	// What was chosen stays chosen. The list of roots has just moved the box.
	value[bool](p, `(document.querySelector("#timeline").click(), true)`)
	p.until(`!document.querySelector("#timeline").checked`)
	p.click("#start")
	p.wait(".phase.recording")
	p.do("timeline", chromedp.KeyEvent("6"))
	p.until(`document.querySelector(".empty")?.textContent.includes("There is no timeline")`)
	p.click("#stop")
	p.wait(".phase.stopped")
	if problems := p.console(); len(problems) > 0 {
		t.Errorf("console: %q", problems)
	}
}
