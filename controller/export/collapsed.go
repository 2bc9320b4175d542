package export

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// Collapsed writes a line for each context with time of its own, as flame graph
// tools read it: methods from the root down with semicolons between, a blank,
// and the self time in ns, or the number of samples where the report is made of
// samples. Threads are put together. by is one of [Weights] in place of the self
// time; with allocations, types come last in a stack.
func (r *Report) Collapsed(w io.Writer, by string) error {
	r = r.withTypes()
	out := sink{w: w}
	names := map[int32]string{}
	name := func(method int32) string {
		s, ok := names[method]
		if !ok {
			// A descriptor's semicolons would be frames, blanks end the stack.
			s = strings.NewReplacer(";", ":", " ", "_").Replace(Clean(r.frameName(method)))
			names[method] = s
		}
		return s
	}
	f := r.figures()
	weight := r.weightOf(by)
	switch {
	case r.Sampling != nil && (by == "" || by == "self"):
		weight = sampleCount
	case weight == nil:
		return fmt.Errorf("collapsed stacks: the report has no %s; count it with --count", by)
	}
	err := stacks(cct.Merge(f.snapshot.Roots()), func(n *cct.Node, stack []int32) error {
		if weight(n) == 0 {
			return nil
		}
		for i, m := range stack {
			if i > 0 {
				out.text(";")
			}
			out.text(name(m))
		}
		out.text(" " + strconv.FormatInt(weight(n), 10) + "\n")
		return out.err
	})
	if err == nil {
		err = out.flush()
	}
	if err != nil {
		return fmt.Errorf("collapsed stacks: %w", err)
	}
	return nil
}
