package shm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// Text is the text form of the file's header: each word by its name in [wire.Layout], with its
// value. Words of which the table has several, or whose type it does not say, are left out.
func (d *File) Text() string {
	var b strings.Builder
	for _, c := range slices.Concat(wire.Layout, wire.Survivors) {
		if !strings.HasPrefix(c.Name, "H_") {
			continue
		}
		switch kind, _, _ := strings.Cut(c.Doc, ":"); kind {
		case "u32":
			fmt.Fprintf(&b, "%-16s %d\n", c.Name, d.load32(c.Value))
		case "i64":
			fmt.Fprintf(&b, "%-16s %d\n", c.Name, d.load(c.Value))
		case "u64":
			fmt.Fprintf(&b, "%-16s %#x\n", c.Name, uint64(d.load(c.Value)))
		}
	}
	return b.String()
}
