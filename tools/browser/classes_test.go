package browser

import "testing"

// TestClassLoads records a program's first root calls with the classes that they cause to be loaded: those of the lambda that the
// root makes. Their number is there while it records, how long loading took when it has ended.
func TestClassLoads(t *testing.T) {
	t.Parallel()
	p := recordedWith(t, "#classes")
	p.until(figure("Calls", "^5$") + " && " + figure("Loads", "^[1-9]") + " && " + figure("Total loads", "^[1-9]"))
	p.click("#stop")
	p.wait("#again")
	p.until(figure("Loads", "^[1-9]") + " && " + figure("Loading", "^[0-9.]+.[mµn]?s$") + " && " + figure("Total loading", "^[0-9.]+.[mµn]?s$"))
	p.shot("classes")
}

// recordedWith records five root calls of a program with a box of the setup ticked.
func recordedWith(t *testing.T, box string) *page {
	t.Helper()
	p := open(t, served(t), 1800, 900)
	program := program(t, "Counted")
	p.root(program, "counted root")
	value[bool](p, `document.querySelector("details.more").open = true`)
	p.tick(box)
	p.click("#start")
	p.wait(".phase.recording")
	program.counts(t, 5)
	return p
}

// figure tells whether the root's line has in a column what matches a pattern.
func figure(column, pattern string) string {
	return `((c) => c >= 0 && new RegExp(` + "`" + pattern + "`" + `).test(document.querySelector(".table .space .tr").children[c].textContent))([...document.querySelectorAll(".table .head > *")].findIndex((h) => h.textContent.trim() === ` + "`" + column + "`" + `))`
}

// TestSurvivorsShown records with survivors counted: allocations are, too, and the tree has the columns of both.
func TestSurvivorsShown(t *testing.T) {
	t.Parallel()
	p := recordedWith(t, "#survivors")
	p.until(figure("Calls", "^5$") + " && " + figure("Total objects", "^[1-9]") + " && " + figure("~survived", "B$") + " && " + figure("Total ~live", "B$"))
	p.shot("survivors")
}

// TestContentionShown records with waits for locks counted: the figures are there when the recording has ended.
func TestContentionShown(t *testing.T) {
	t.Parallel()
	p := recordedWith(t, "#contention")
	p.until(figure("Calls", "^5$") + " && " + figure("Total lock waits", "^0$"))
	p.click("#stop")
	p.wait("#again")
	p.until(figure("Lock waits", "^0$") + " && " + figure("Total blocked", "^0"))
}
