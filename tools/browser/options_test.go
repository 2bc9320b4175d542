package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// TestOptions chooses that short methods are timed, that computing is told from waiting, and
// a mode for a method, and wants the recording to be so. The page of a recording that the
// command line began with such options has them chosen for the next one.
func TestOptions(t *testing.T) {
	program := program(t, "Busy")
	pid := fmt.Sprint(program.cmd.Process.Pid)
	url := served(t)
	p := open(t, url, 1280, 800)
	p.root(program, "Busy handle")
	p.click(".more summary")
	p.click("#cpu")
	value[bool](p, `(() => { const s = document.querySelector("#leaves"); s.value = "timed"; return s.dispatchEvent(new Event("change", { bubbles: true })); })()`)
	p.do("a pattern", chromedp.SendKeys("#mode-pattern", "Busy.pr*"))
	p.click("#add-mode")
	p.until(`document.querySelector("#modes li code")?.textContent === "Busy.pr*"`)
	p.fair("the options of a recording")
	value[bool](p, `(document.querySelector("#memory").scrollIntoView({ block: "end" }), true)`)
	p.shot("options")
	p.click("#start")
	p.wait(".phase.recording")
	p.until(`Number(document.querySelector(".fig:nth-child(3) dd")?.textContent.replace(/\D/g, "")) > 20`)
	p.click("#stop")
	p.wait(".phase.stopped")
	address, secret, _ := strings.Cut(url, "/#")
	var state struct {
		Recording struct {
			CPU    bool
			Leaves string
			Modes  []string
		}
	}
	if err := json.Unmarshal(ask(t, address+"/api/state", secret, nil), &state); err != nil {
		t.Fatal(err)
	}
	if r := state.Recording; !r.CPU || r.Leaves != "timed" || fmt.Sprint(r.Modes) != "[Busy.pr*=counted]" {
		t.Errorf("recorded %+v", r)
	}
	report := string(ask(t, address+"/api/report", secret, nil))
	if !strings.Contains(report, `"counted":true`) || strings.Contains(report, `"cpu": null`) {
		t.Errorf("price is not only counted, or there are no samples of time on a core: %.3000s", report)
	}
	p.click("#detach")
	p.wait(".start, #targets, button[data-pid]")

	file, err := build()
	if err != nil {
		t.Fatal(err)
	}
	server := start(t, file, "profile", pid, "--ui", "--root", "Busy.handle", "--leaves", "timed", "--mode", "Busy.ship=precise", "--snapshots", t.TempDir())
	l := server.line(t, "http://")
	p = open(t, l[strings.Index(l, "http://"):], 1280, 800)
	p.wait(".phase.recording")
	p.click("#stop")
	p.wait(".phase.stopped")
	p.click("#other")
	p.until(`document.querySelector("#leaves")?.value === "timed" && document.querySelector("#modes li")?.textContent.includes("Busy.ship")`)
	if problems := p.console(); len(problems) > 0 {
		t.Errorf("console: %q", problems)
	}
}

// TestPageOptions: the page's form asks for every option that a recording has, except for those that it has another way for.
func TestPageOptions(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "web", "ui", "src", "setup.tsx"))
	if err != nil {
		t.Fatal(err)
	}
	from, _, ok := strings.Cut(string(text), "/** takeDefaults")
	if !ok {
		t.Fatal("setup.tsx has no takeDefaults")
	}
	without := map[string]string{
		"share":  "every says the same",
		"wait":   "the page offers methods of classes that are loaded",
		"events": "timeline and slowest record them; without these, there is nothing to see of them",
	}
	for _, o := range spec.Options {
		has := regexp.MustCompile(`\b` + o.Field + `:`).MatchString(from)
		if why, exempt := without[o.Field]; has == exempt {
			t.Errorf("%s: in the form %v, but %q", o.Field, has, why)
		}
	}
}

// TestRemoveTwo removes two rules and a mode before the page has been drawn again.
func TestRemoveTwo(t *testing.T) {
	t.Parallel()
	p := open(t, served(t), 1280, 800)
	p.root(program(t, "Counted"), "counted root")
	for _, rule := range []string{"a.**", "b.**", "c.**"} {
		p.do("a rule", chromedp.SendKeys("#rule", rule))
		p.click("#exclude")
		p.until(fmt.Sprintf(`[...document.querySelectorAll(".filter .chosen code")].some((e) => e.textContent === %q)`, rule))
	}
	value[bool](p, `([...document.querySelectorAll(".filter .chosen button[aria-label^=Remove]")].slice(0, 2).forEach((b) => b.click()), true)`)
	p.until(`[...document.querySelectorAll(".filter .chosen code")].map((e) => e.textContent).join() === "c.**"`)
}

// TestFewRootCalls records one of three root calls, as chosen on the page.
func TestFewRootCalls(t *testing.T) {
	t.Parallel()
	p := open(t, served(t), 1800, 900)
	c := program(t, "Counted")
	p.root(c, "counted root")
	value[bool](p, `document.querySelector("details.more").open = true`)
	value[bool](p, `((i) => { i.value = "3"; return i.dispatchEvent(new Event("input", { bubbles: true })); })(document.querySelector("#every"))`)
	p.click("#start")
	p.wait(".phase.recording")
	c.counts(t, 30)
	p.until(figure("Calls", "^10$"))
}
