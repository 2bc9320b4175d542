package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestSpansOnPage opens a report whose slowest root call was part of a span, and finds it by the
// trace's id, in the list and by the address.
func TestSpansOnPage(t *testing.T) {
	t.Parallel()
	file, err := build()
	if err != nil {
		t.Fatal(err)
	}
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	l := start(t, file, "view", "../receivers/testdata/report.json", "--ui").line(t, "http://")
	at := l[strings.Index(l, "http://"):]
	p := open(t, at, 1280, 800)
	p.until(`document.querySelectorAll(".table .space .tr").length > 0`)
	value[bool](p, `([...document.querySelectorAll("button, [role=tab]")].find((b) => b.textContent.trim() === "Slowest").click(), true)`)
	rows := `document.querySelectorAll("#slowest tbody tr").length`
	p.until(rows + ` === 2 && document.querySelector("#slowest").innerText.includes("4bf92f35")`)
	p.fair("slowest with a span")
	p.do("type the id", chromedp.SendKeys("#span", trace[:12]))
	p.until(rows + ` === 1 && document.querySelector("#slowest tr.selected")?.innerText.includes("main") && location.hash.includes("span=` + trace[:12] + `")`)
	p.do("no such trace", chromedp.SendKeys("#span", "0"))
	p.until(`document.body.innerText.includes("None of the kept invocations belongs to that trace or span")`)
	if problems := p.console(); len(problems) > 0 {
		t.Errorf("console: %q", problems)
	}
}
