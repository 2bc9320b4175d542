// Command schemes measures real programs under each scheme and writes the
// columns of Dmitriev, "Design of JFluid", Tables 1 and 2, to docs/figures/schemes.md. Run it from
// the repository's root:
//
//	go tool task bench:schemes
//	go tool task bench:schemes -- -part partial -only h2,shop -jdk 17
package main

import (
	"fmt"

	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

func main() { bench.Main(1, "schemes.md", measure) }

// The headings of both tables: those of the paper, then Rivulet's own.
var headings = []string{
	"program|", "scheme|", "calls", "bare ms", "charged ms", "total ms", "overhead %",
	"probes %", "hotswap %", "tool 1 %", "tool 2 %", "instrumented", "called", "useless",
	"batches", "redefining ms", "longest pause ms", "all pauses ms", "longest wait ms", "armed ms",
}

func measure(k *bench.Kit) (*bench.Page, error) {
	page := k.NewPage("bench:schemes", "The schemes beside each other",
		"The columns of M. Dmitriev, *Design of JFluid*, Tables 1 and 2, for real programs, with the tick clock. "+
			"A program makes a few iterations bare, then Rivulet attaches, then the iterations that are measured follow: they contain all "+
			"revealing, and compiling again what was redefined. *Bare* is the time of the same iterations in a process without a profiler; "+
			"for partial roots the time of as many invocations of the root, timed alone in a process of its own. *Charged* is what the corrected "+
			"tree sums up to. *Overhead* is by the iterations without a profiler in both tables. *Probes*, *hotswap*, *tool 1* "+
			"(analysis and rewriting) and *tool 2* (reading and correcting the tree) are shares of *total*; the tools work beside the program. "+
			"*Useless* is instrumented less called. *Longest wait* is of a thread at its first call of a method. *Armed* is from the start of the "+
			"command until it recorded. The shop's *bare* and *total* are the cores' time for a request, "+
			"of a bare server and of the recorded one, which are loaded in turns with eight connections, and its *armed* is under such a load.")
	for _, part := range parts {
		if !k.Has(part.name) {
			continue
		}
		for _, j := range k.JDKs {
			page.Table(fmt.Sprintf("%s, JDK %d", part.title, j.Version), part.intro, headings...)
			part.rows(k, page, j)
		}
	}
	if k.Has("quoted") {
		quote(page)
	}
	return page, nil
}
