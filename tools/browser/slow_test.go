package browser

import (
	"strings"
	"testing"
)

// TestSlowByDefault looks at the slowest root calls of a recording that did not ask for them, and goes
// to the tree of the time in which the slowest one ran: two clicks, without recording again.
func TestSlowByDefault(t *testing.T) {
	t.Parallel()
	program := program(t, "Busy")
	p := open(t, served(t), 1280, 800)
	p.root(program, "busy handle")
	p.click("#start")
	p.wait(".phase.recording")
	p.until(`Number(document.querySelector("#history")?.dataset.at) > 4e9`)
	p.click("#stop")
	p.wait(".phase.stopped")
	value[bool](p, `(window.clicks = 0, addEventListener("click", (e) => { if (e.isTrusted) window.clicks++; }, true), true)`)
	p.click("#tab-slowest")
	p.until(`document.querySelectorAll("#slowest tbody tr").length === 20 && document.querySelector("#slowest tr.selected") && document.querySelector("#in-history")`)
	if !value[bool](p, `(() => {
		const took = [...document.querySelectorAll("#slowest .parts")].map((b) => b.ariaLabel), wide = [...document.querySelectorAll("#slowest .parts .all")].map((b) => parseFloat(b.style.width));
		return took.every((l) => l.startsWith("computing or waiting ")) && wide[0] === 100 && wide.every((w, k) => k === 0 || w <= wide[k - 1]);
	})()`) {
		t.Error("the bars: ", value[string](p, `[...document.querySelectorAll("#slowest .parts")].map((b) => b.ariaLabel).join("; ")`))
	}
	if text := p.text("main"); !strings.Contains(text, "50 % up to") || !strings.Contains(text, "kept in every recording") || !strings.Contains(text, "Busy.handle") {
		t.Error("the view of the slowest:", text)
	}
	p.fair("slowest by default")
	p.shot("slowest-by-default")
	p.click("#in-history")
	p.until(`document.querySelector("#tab-tree").ariaSelected === "true" && document.querySelector("#shown-range") && location.hash.includes("range=")`)
	if n := value[int](p, `window.clicks`); n != 2 {
		t.Errorf("%d clicks to where the slowest root call lies in time", n)
	}
	if problems := p.console(); len(problems) > 0 {
		t.Errorf("console: %q", problems)
	}
}
