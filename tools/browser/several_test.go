package browser

import (
	"fmt"
	"os"
	"testing"
)

// TestSeveral records two JVMs of this machine at once from the page, counts their objects, and looks for deadlocks; nobody has
// set up a fleet.
func TestSeveral(t *testing.T) {
	t.Parallel()
	const both = "-Dotel.service.name=several"
	one, two := program(t, "Counted", both), program(t, "Counted", both)
	p := open(t, served(t), 1280, 900)
	p.click("#several summary")
	put := func(field, text string) {
		t.Helper()
		value[bool](p, fmt.Sprintf(`(() => {
			const e = document.querySelector(%q);
			e.value = %q;
			e.dispatchEvent(new Event("input", { bubbles: true }));
			return true;
		})()`, field, text))
	}
	p.until(`document.querySelector("#fleet-look:enabled")`)
	put("#fleet-select", "app=several")
	p.click("#fleet-look")
	p.until(`document.querySelector("#fleet-sample:enabled")?.textContent === "Sample 2 JVMs"`)
	if source, err := os.ReadFile(axeFile); err == nil {
		p.axe(string(source), "several JVMs")
	}
	p.shot("several")
	p.click("#fleet-heap")
	p.until(listed("fleet-heaps", fmt.Sprint(one.cmd.Process.Pid), "Counted") + " && " + listed("fleet-heaps", fmt.Sprint(two.cmd.Process.Pid), "Counted"))
	p.click("#fleet-stuck")
	p.until(`document.querySelector("#fleet-deadlocks")?.textContent === "No deadlock: 2 JVMs."`)
	put("#fleet-root", "Counted.root")
	put("#fleet-seconds", "300")
	p.click("#fleet-profile")
	p.until(`document.querySelector("#fleet .going").textContent.includes("recording in 2 of 2 JVMs")`)
	one.counts(t, 30)
	two.counts(t, 12)
	p.endNow()
	p.until(`document.querySelector(".treename") && document.querySelector(".table .space .tr .calls")?.textContent === "42"`)
	p.until(`document.querySelector(".table .space .tr").querySelectorAll(".part").length === 2`)
	if problems := p.console(); len(problems) > 0 {
		t.Errorf("console: %q", problems)
	}
}
