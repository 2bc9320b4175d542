package browser

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// TestSchemes compares two schemes on a program that is at work, looks at both
// side by side, records by the one that is recommended, and opens the comparison
// as a file.
func TestSchemes(t *testing.T) {
	t.Parallel()
	program := program(t, "Busy")
	url := served(t)
	p := open(t, url, 1280, 800)
	p.root(program, "busy handle")
	// Not by the mouse: what opens moves the boxes.
	value[bool](p, `(document.querySelector("#schemes summary").click(), [3, 4].forEach((n) => document.querySelector("#schemes [role=group] label:nth-child(" + n + ") input").click()), true)`)
	// A number that is being typed stays when something is drawn anew.
	p.focus("#seconds")
	p.do("a digit", chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)), chromedp.KeyEvent("2"))
	value[bool](p, `(() => { const a = document.querySelector("#schemes [role=group] input"); a.click(); a.click(); return true; })()`)
	p.do("another", chromedp.Sleep(100*time.Millisecond), chromedp.KeyEvent("5"))
	p.until(`document.querySelector("#seconds").value === "25"`)
	p.focus("#seconds")
	// On an overloaded machine a second may pass without a root call.
	p.do("seconds", chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)), chromedp.KeyEvent("1"), chromedp.KeyEvent("0"), chromedp.KeyEvent(kb.Tab))
	p.until(`document.querySelector("#seconds").value === "10" && document.querySelector("#schemes").innerText.includes("some 45 s")`)
	p.fair("what to compare")
	p.click("#compare")
	p.wait("#comparing .steps .now")
	p.fair("comparing")
	p.until(`document.querySelectorAll("#comparing .steps li").length === 4 && document.querySelector("#side th:nth-child(3)")?.textContent.includes("all at once (A)")`)
	p.shot("comparing")
	p.wait(".advice")
	p.fair("compared")
	p.shot("compared")
	p.scheme("dark", 390, 844)
	p.shot("compared-phone")
	p.scheme("light", 1280, 800)
	heads := value[[]string](p, `[...document.querySelectorAll("#side thead th")].map((e) => e.textContent)`)
	if len(heads) != 4 || heads[1] != "Bare" || !strings.HasSuffix(heads[2], "all at once (A)") || !strings.HasSuffix(heads[3], "as called (B)") {
		t.Errorf("columns %q", heads)
	}
	address, secret, _ := strings.Cut(url, "/#")
	text := ask(t, address+"/api/report?source=1", secret, nil)
	c, err := export.ReadComparison(bytes.NewReader(text))
	if err != nil || len(c.Runs) != 2 || c.Root == nil || c.Root.Invocations == 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	advised := strings.TrimPrefix(c.Advice(), "Use ")[:1]
	for i, r := range c.Runs { // what the page shows is what was measured
		if r.Invocations == 0 || !r.Exact || r.Calls < 4*r.Invocations {
			t.Errorf("scheme %s: %+v", r.Scheme, r)
		}
		for row, want := range map[string]int64{"Root calls": r.Invocations, "Calls": r.Calls, "Methods instrumented": int64(r.Instrumented), "of them never called": int64(r.Useless())} {
			got := value[string](p, fmt.Sprintf(`(() => {
				const row = [...document.querySelectorAll("#side tbody tr")].find((e) => e.querySelector("th").textContent === %q);
				const cell = row.querySelectorAll("td")[%d].cloneNode(true);
				cell.querySelector(".ratio").remove();
				return cell.textContent.replace(/\s/g, "");
			})()`, row, i+1))
			if got != fmt.Sprint(want) {
				t.Errorf("scheme %s, %s: %q on the page, %d measured", r.Scheme, row, got, want)
			}
		}
	}
	if said := p.text(".advice"); said != c.Advice() {
		t.Errorf("the page says %q, not %q", said, c.Advice())
	}
	p.press("9")
	p.until(`document.querySelector("#snapshots tbody")?.innerText.includes("schemes compared")`)
	file := filepath.Join(t.TempDir(), "compared.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	p.do("a file", chromedp.SetUploadFiles("#file", []string{file}))
	p.until(`document.querySelector("#compared")?.selectedOptions[0].textContent.includes("compared.json") && document.querySelector(".advice")`)
	p.press("8")
	p.do("the first again", chromedp.SetValue("#compared", "1"))
	value[bool](p, `document.querySelector("#compared").dispatchEvent(new Event("change", { bubbles: true }))`)
	p.click("#record")
	p.wait(".phase.recording")
	p.until(fmt.Sprintf(`[...document.querySelectorAll(".bar .acts select")].some((e) => e.value === %q)`, advised))
	p.until(`Number(document.querySelector(".fig:nth-child(3) dd")?.textContent.replace(/\D/g, "")) > 10`)
	// Both are switched while it runs: the clock in the same recording, the scheme in
	// another one, with what was recorded kept.
	for name, to := range map[string]string{"clock": "precise", "scheme": "C"} {
		value[bool](p, fmt.Sprintf(`((e) => { e.value = %q; e.dispatchEvent(new Event("change", { bubbles: true })); return true; })(document.querySelector("#switch-%s"))`, to, name))
		p.until(fmt.Sprintf(`document.querySelector(".phase.recording") && document.querySelector("#switch-%s")?.value === %q && !document.querySelector("#switch-%s").disabled`, name, to, name))
		p.until(`Number(document.querySelector(".fig:nth-child(3) dd")?.textContent.replace(/\D/g, "")) > 10`)
	}
	p.until(`document.querySelector("#tab-snapshots").textContent.endsWith(" 3")`) // two comparisons, and that
	p.press("r")
	p.wait(".phase.stopped")
	if problems := p.console(); len(problems) > 0 {
		t.Errorf("console: %q", problems)
	}
}
