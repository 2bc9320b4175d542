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
	busy, counted := program(t, "Busy"), program(t, "Counted")
	server := start(t, file, "serve", "--snapshots", t.TempDir(), "--fleet", key("admin"))
	l := server.line(t, "http://")
	p := open(t, l[strings.Index(l, "http://"):], 1280, 900)
	again := func() { value[bool](p, `(document.querySelector("#fleet-look:enabled")?.click(), true)`) } // a node that is busy may not answer in time
	p.patiently(listed("fleet-jvms", "one", fmt.Sprint(busy.cmd.Process.Pid), "Busy")+" && "+listed("fleet-jvms", "one", fmt.Sprint(counted.cmd.Process.Pid), "Counted"), again)
	p.shot("fleet")

	// Samples of what happened before somebody asked, and what came true then.
	node.line(t, "cpu > 1% for 2s: ")
	p.patiently(`document.querySelector("#fleet-jvms tbody td:last-child button") && `+listed("fleet-events", "one", "Busy", "cpu > 1% for 2s"), again)
	p.patiently(`document.querySelector(".treename")`, func() {
		value[bool](p, `((document.querySelector("#fleet-jvms tbody td:last-child button:enabled") ?? document.querySelector("#fleet-look:enabled"))?.click(), true)`)
	})
	p.until(`document.querySelector(".table .space .tr")`)
	p.click("#tab-doubts")
	p.until(listed("processes", "one", fmt.Sprint(busy.cmd.Process.Pid), "Busy"))
	p.shot("fleet-processes")
	if problems := p.console(); len(problems) > 0 {
		t.Errorf("console: %q", problems)
	}

	// fill opens the page anew, and fills in what is meant.
	fill := func(c *child, root string, seconds int) {
		t.Helper()
		p = open(t, l[strings.Index(l, "http://"):], 1280, 900)
		p.patiently(`document.querySelector("#fleet-root")`, again)
		value[bool](p, fmt.Sprintf(`(() => {
			const put = (id, v) => { const e = document.querySelector(id); e.value = v; e.dispatchEvent(new Event("input", { bubbles: true })); };
			put("#fleet-select", "pid=%d");
			put("#fleet-root", %q);
			put("#fleet-seconds", "%d");
			return true;
		})()`, c.cmd.Process.Pid, root, seconds))
		p.patiently(`document.querySelector("#fleet-sample").textContent === "Sample 1 JVM" && !document.querySelector("#fleet-sample").disabled`, again)
	}

	// Samples of all that are meant.
	fill(busy, "", 1)
	p.click("#fleet-wall")
	p.patiently(`document.querySelector(".treename")`, func() {
		value[bool](p, `(document.querySelector("#fleet-sample:enabled")?.click(), true)`)
	})
	p.until(`document.querySelector(".table .space .tr")`)

	// One root in all that are meant; it is ended before its time.
	fill(counted, "Counted.root", 300)
	if source, err := os.ReadFile(axeFile); err == nil {
		p.axe(string(source), "the fleet")
	}
	p.patiently(`document.querySelector("#fleet .going").textContent.includes("recording in 1")`, func() {
		value[bool](p, `(document.querySelector("#fleet-profile:enabled")?.click(), true)`)
	})
	counted.counts(t, 100)
	p.click("#fleet-end")
	p.until(`document.querySelector(".treename") && document.querySelector(".table .space .tr .calls")?.textContent === "100"`)
	if problems := p.console(); len(problems) > 0 {
		t.Errorf("console: %q", problems)
	}
}
