// Command cost measures what recording costs and writes docs/figures/cost.md:
// a call, in each mode, on micro programs (part calls), and real programs,
// taken apart into what their calls explain and a rest (part programs). Run it
// from the repository's root by "go tool task bench:cost", on a machine that
// does nothing else.
package main

import (
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

func main() { bench.Main(3, "cost.md", measure) }

func measure(k *bench.Kit) (*bench.Page, error) {
	page := k.NewPage("bench:cost", "What recording costs", "A call, and real programs.")
	found, err := calls(k, page)
	if err != nil || !k.Has("programs") {
		return page, err
	}
	programs(k, page, found)
	return page, nil
}
