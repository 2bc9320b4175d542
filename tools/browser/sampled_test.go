package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestSampledPage opens a report of samples: it has entries where a recording has
// calls, says nothing of probes, and how far the samples can be trusted.
func TestSampledPage(t *testing.T) {
	t.Parallel()
	file, err := build()
	if err != nil {
		t.Fatal(err)
	}
	report, err := os.ReadFile(filepath.Join("..", "..", "controller", "export", "testdata", "sample.json"))
	if err != nil {
		t.Fatal(err)
	}
	saved := filepath.Join(t.TempDir(), "sample.json")
	if err := os.WriteFile(saved, report, 0o600); err != nil {
		t.Fatal(err)
	}
	l := start(t, file, "view", saved, "--ui").line(t, "http://")
	p := open(t, l[strings.Index(l, "http://"):], 1280, 800)
	p.until(`document.querySelectorAll(".table .space .tr").length > 3`)
	p.shot("sampled-tree")
	heads := func() string {
		return value[string](p, `[...document.querySelectorAll(".table .head .td")].map((e) => e.textContent.replace(/ .$/, "")).join("|")`)
	}
	if got := heads(); got != "Total|%|Self|±|Entries|Method" {
		t.Errorf("the tree has %q", got)
	}
	figures := p.text(".figures")
	for _, want := range []string{"samples", "200", "99.0 % complete", "lost"} {
		if !strings.Contains(figures, want) {
			t.Errorf("no %q in the figures: %s", want, figures)
		}
	}
	for _, not := range []string{"root calls", "overhead removed", "instrumented"} {
		if strings.Contains(figures, not) {
			t.Errorf("%q in the figures: %s", not, figures)
		}
	}
	p.do("methods", chromedp.Click("#tab-methods"))
	p.until(`document.querySelector('[aria-label="Methods"]') && document.querySelectorAll(".table .space .tr").length === 4`)
	if got := heads(); got != "Self|%|±|Total|Entries|Paths|Method" {
		t.Errorf("methods have %q", got)
	}
	p.shot("sampled-methods")
	p.do("doubts", chromedp.Click("#tab-doubts"))
	p.until(`document.querySelector("#doubts")?.textContent.includes("no return address")`)
	p.shot("sampled-uncertain")
	if text := p.text("#doubts"); strings.Contains(text, "Without probes") {
		t.Error("what is uncertain of samples says something of probes")
	}
	p.fair("a report of samples")
	if found := p.console(); len(found) > 0 {
		t.Error("console:", found)
	}
}
