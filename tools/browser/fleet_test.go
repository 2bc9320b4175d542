package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFleet has two nodes, of which each sees all JVMs of this machine, on one page: a program is recorded below one root on
// both at once, and the tree has the calls of both.
//
// Then two programs are compared with each other, their objects are counted, and another's deadlock is found.
func TestFleet(t *testing.T) {
	t.Parallel()
	file, err := build()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	key := func(name string) string { return filepath.Join(dir, "hub", "keys", name+".key") }
	hub := start(t, file, "hub", "--dir", filepath.Join(dir, "hub"), "--listen", "127.0.0.1:0", "--name", "127.0.0.1")
	hub.line(t, "the hub listens at")
	node := start(t, file, "node", "--key", key("node"), "--dir", filepath.Join(dir, "one"), "--name", "one", "--watch", "main=Busy", "--watch-when", "cpu > 1% for 2s")
	node.line(t, "connected to")
	app := fmt.Sprintf("pair%d", os.Getpid()) // other tests run such programs, too
	pair := "-Dotel.service.name=" + app
	busy, counted, other, stuck := program(t, "Busy"), program(t, "Counted", pair), program(t, "Counted", pair), program(t, "Inside")
	server := start(t, file, "serve", "--snapshots", t.TempDir(), "--fleet", key("admin"))
	l := server.line(t, "http://")
	p := open(t, l[strings.Index(l, "http://"):], 1280, 900)
	again := func() { value[bool](p, `(document.querySelector("#fleet-look:enabled")?.click(), true)`) } // a node that is busy may not answer in time
	p.patiently(listed("fleet-jvms", "one", fmt.Sprint(busy.cmd.Process.Pid), "Busy")+" && "+listed("fleet-jvms", "one", fmt.Sprint(counted.cmd.Process.Pid), "Counted"), again)
	p.shot("fleet")

	// Samples of what happened before somebody asked, and what came true then.
	node.line(t, "cpu > 1% for 2s: ")
	kept := func(state string) string {
		return fmt.Sprintf(`[...document.querySelectorAll("#fleet-jvms tbody tr")].find((r) => [...r.cells].some((c) => c.textContent === "%d"))?.querySelector("td:last-child button%s")`, busy.cmd.Process.Pid, state)
	}
	p.patiently(kept("")+` && `+listed("fleet-events", "one", "Busy", "cpu > 1% for 2s"), again)
	p.patiently(`document.querySelector(".treename")`, func() {
		value[bool](p, `((`+kept(":enabled")+` ?? document.querySelector("#fleet-look:enabled"))?.click(), true)`)
	})
	p.until(`document.querySelector(".table .space .tr")`)
	p.click("#tab-doubts")
	p.until(listed("processes", "one", fmt.Sprint(busy.cmd.Process.Pid), "Busy"))
	p.shot("fleet-processes")
	if problems := p.console(); len(problems) > 0 {
		t.Errorf("console: %q", problems)
	}

	// fill opens the page anew, and fills in what is meant.
	fill := func(root string, seconds int, only, button string) {
		t.Helper()
		p = open(t, l[strings.Index(l, "http://"):], 1280, 900)
		p.patiently(`document.querySelector("#fleet-root")`, again)
		value[bool](p, fmt.Sprintf(`(() => {
			const put = (id, v) => { const e = document.querySelector(id); e.value = v; e.dispatchEvent(new Event("input", { bubbles: true })); };
			put("#fleet-select", %q);
			put("#fleet-root", %q);
			put("#fleet-seconds", "%d");
			return true;
		})()`, only, root, seconds))
		p.patiently(fmt.Sprintf(`document.querySelector("#fleet-sample").textContent === %q && !document.querySelector("#fleet-sample").disabled`, button), again)
	}
	pid := func(c *child) string { return fmt.Sprint("pid=", c.cmd.Process.Pid) }
	push := func(button string) func() { // until it has an effect
		return func() { value[bool](p, fmt.Sprintf(`(document.querySelector(%q)?.click(), true)`, button+":enabled")) }
	}

	// both begins a recording in two JVMs. On a machine that is short of processor time one of them
	// may have given up: then both are recorded anew.
	both := func(fill func(), button string) {
		t.Helper()
		const on = `document.querySelector("#fleet .going")?.textContent.includes("recording in 2")`
		for range 5 {
			fill()
			p.patiently(on+` || !document.querySelector("#fleet")`, func() { // one that is empty has no row
				value[bool](p, fmt.Sprintf(`(document.querySelector("#fleet .going")?.textContent.includes("2 of 2 JVMs done") && document.querySelector("#fleet-end:enabled")?.click(),
					document.querySelector(%q)?.click(), true)`, button+":enabled"))
			})
			if value[bool](p, `!!document.querySelector("#fleet")`) {
				return
			}
			t.Log("a recording has ended by itself")
		}
		t.Fatal("no two JVMs were recorded at the same time")
	}

	// Samples of all that are meant.
	fill("", 1, pid(busy), "Sample 1 JVM")
	p.click("#fleet-wall")
	p.patiently(`document.querySelector(".treename")`, func() {
		value[bool](p, `(document.querySelector("#fleet-sample:enabled")?.click(), true)`)
	})
	p.until(`document.querySelector(".table .space .tr")`)

	// One root in all that are meant; it is ended before its time.
	both(func() {
		fill("Counted.root", 300, "app="+app, "Sample 2 JVMs")
		if source, err := os.ReadFile(axeFile); err == nil {
			p.axe(string(source), "the fleet")
		}
	}, "#fleet-profile")
	counted.counts(t, 100)
	other.counts(t, 50)
	p.endNow()
	p.until(`document.querySelector(".treename") && document.querySelector(".table .space .tr .calls")?.textContent === "150"`)
	// A column for each process, all of whose time is in the root.
	const parts = `[...document.querySelector(".table .space .tr").querySelectorAll(".part")].map((e) => e.textContent).join()`
	p.until(parts + ` === "100,100"`)
	p.shot("fleet-columns")
	p.click("#divided")
	p.until(parts + ` === ""`)

	// A deadlock, and the objects of one program.
	fill("", 1, pid(stuck), "Sample 1 JVM")
	p.patiently(`document.querySelectorAll("#fleet .deadlock .stack").length === 2`, push("#fleet-stuck"))
	p.patiently(listed("fleet-classes", "Inside$Leaked", fmt.Sprint(stuck.cmd.Process.Pid)), push("#fleet-heap"))
	p.until(listed("fleet-heaps", fmt.Sprint(stuck.cmd.Process.Pid), "Inside"))
	p.shot("fleet-heap")

	// Two programs, recorded at the same time; one of them makes twice as many calls.
	both(func() {
		fill("Counted.root", 300, "app="+app, "Sample 2 JVMs")
		value[bool](p, `(() => {
			const e = document.querySelector("#fleet-by");
			e.value = "pid";
			e.dispatchEvent(new Event("input", { bubbles: true }));
			return true;
		})()`)
	}, "#fleet-compare")
	counted.counts(t, 20)
	other.counts(t, 40)
	p.endNow()
	row := func(c *child, n string) string { return listed("fleet-groups", fmt.Sprint(c.cmd.Process.Pid), n) }
	p.until(row(counted, "20") + " && " + row(other, "40") + ` && document.querySelectorAll("#fleet-groups tbody button").length === 3`)
	if source, err := os.ReadFile(axeFile); err == nil {
		p.axe(string(source), "groups of the fleet")
	}
	p.shot("fleet-groups")
	value[bool](p, `([...document.querySelectorAll("#fleet-groups tbody button")].find((b) => b.textContent === "Difference").click(), true)`)
	p.until(`document.querySelector(".comparison .sourcebar")?.textContent.includes("root calls")`)
	if problems := p.console(); len(problems) > 0 {
		t.Errorf("console: %q", problems)
	}
}

// endNow ends what several JVMs are recorded for. It does not use the mouse: the button moves when JVMs come and when the
// line before it changes.
func (p *page) endNow() {
	p.t.Helper()
	value[bool](p, `(document.querySelector("#fleet-end").click(), true)`)
}
