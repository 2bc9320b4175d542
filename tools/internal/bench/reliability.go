package bench

// Reliability is the page that says what was injected into targets and what happened, as
// [Page.Update] takes it. Each part of tools/harm writes a section of it.
const Reliability = "../reliability.md"

// ReliabilityPage begins a run's part of that page.
func (k *Kit) ReliabilityPage() *Page {
	p := &Page{run: " " + k.Machine()}
	p.add(`<!-- The tables are written by "go tool task soak:faults", "go tool task test:matrix", "go tool task test:arm64", "go tool task test:places" and "go tool task test:company". Edit the other sections only. -->

# Reliability

Rivulet must never crash, block or change the program that it looks at. This page says what was tried
against that promise, how often, and what happened. Each table is written by a task that anyone can run.
A task that finds harm ends with an error and names what repeats it.
`)
	return p
}
