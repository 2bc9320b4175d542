package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// axeFile is axe-core, where it is installed.
var axeFile = filepath.Join("viewers", "node_modules", "axe-core", "axe.min.js")

// axe runs axe-core on what is shown, and wants no serious or critical findings.
func (p *page) axe(source, where string) {
	p.t.Helper()
	value[bool](p, source+`; true`)
	found := value[string](p, `axe.run(document, { resultTypes: ["violations"] }).then((r) => JSON.stringify(r.violations.filter((v) => v.impact === "serious" || v.impact === "critical")
		.map((v) => v.impact + " " + v.id + ": " + v.help + ": " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" | "))))`)
	var list []string
	if err := json.Unmarshal([]byte(found), &list); err != nil {
		p.t.Fatal(err)
	}
	for _, f := range list {
		p.t.Errorf("%s: %s", where, f)
	}
}

// TestAxe has axe-core look at each view of a recording and of samples, at the start page and at
// the help.
func TestAxe(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(axeFile)
	if err != nil {
		t.Skip("axe-core not installed: go tool task viewers")
	}
	file, err := build()
	if err != nil {
		t.Fatal(err)
	}
	for _, report := range []string{"report.json", "sample.json"} {
		b, err := os.ReadFile(filepath.Join("..", "..", "controller", "export", "testdata", report))
		if err != nil {
			t.Fatal(err)
		}
		saved := filepath.Join(t.TempDir(), report)
		if err := os.WriteFile(saved, b, 0o600); err != nil {
			t.Fatal(err)
		}
		l := start(t, file, "view", saved, "--ui").line(t, "http://")
		p := open(t, l[strings.Index(l, "http://"):], 1280, 800)
		p.until(`document.querySelectorAll(".table .space .tr").length > 3`)
		for tab, view := range []string{"tree", "methods", "around", "threads", "slowest", "timeline", "doubts", "compare", "snapshots", "log"} {
			if view == "around" {
				p.click(".table .space .tr")
			}
			p.press(fmt.Sprint((tab + 1) % 10))
			p.until(fmt.Sprintf(`document.querySelector("#tab-%s").getAttribute("aria-selected") === "true"`, view))
			p.axe(string(source), report+", "+view)
		}
		p.click("#tab-loads")
		p.until(`document.querySelector(".loads .empty .title, #no-loads, #loads")`)
		p.axe(string(source), report+", loads")
		p.press("?")
		p.wait("dialog kbd")
		p.axe(string(source), "help")
		page := saved + ".html"
		if out, err := exec.Command(file, "view", saved, "-o", page).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		p = open(t, "file://"+page, 1280, 800)
		for _, view := range []string{"tree", "slowest", "log"} { // the others are as above
			p.until(fmt.Sprintf(`document.querySelector("#tab-%s")`, view))
			p.click("#tab-" + view)
			p.until(fmt.Sprintf(`document.querySelector("#tab-%s").ariaSelected === "true"`, view))
			p.axe(string(source), page+", "+view)
		}
	}
	p := open(t, served(t), 1280, 800)
	p.wait("#demo")
	p.axe(string(source), "start")
	// It finds what is wrong on purpose.
	value[bool](p, `(document.querySelector("main").append(document.createElement("button")), true)`)
	if n := value[int](p, `axe.run(document).then((r) => r.violations.filter((v) => v.id === "button-name").length)`); n != 1 {
		t.Error("a button without a name is not found")
	}
}
