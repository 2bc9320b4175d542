package export

import (
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"
)

// readPprof reads a profile.proto of samples of time, as [Report.Pprof] and other
// profilers write it. Errors wrap [ErrNotReport].
func readPprof(in io.Reader) (*Report, error) {
	data, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	p, err := profile.ParseData(data)
	if err != nil {
		return nil, fmt.Errorf("%w: pprof: %w", ErrNotReport, err)
	}
	values, err := pprofTypes(p)
	if err != nil {
		return nil, err
	}
	mode := CPUMode
	if strings.Contains(values.name, "wall") {
		mode = WallMode
	}
	var t stackTree
	var all, met int64
	var stack []foreignFrame
	frames := map[*profile.Function]foreignFrame{}
	for i, s := range p.Sample {
		samples, ns, entries := values.of(s)
		if samples < 0 || ns < 0 || entries < 0 {
			return nil, fmt.Errorf("%w: pprof, sample %d: a negative value, as of a difference between profiles", ErrNotReport, i)
		}
		if most := int64(1 << 60); samples > most-t.samples || ns > most-all || entries > most-met {
			return nil, fmt.Errorf("%w: pprof, sample %d: values larger than can be added up", ErrNotReport, i)
		}
		all, met = all+ns, met+entries
		if samples == 0 && ns == 0 && entries == 0 || len(s.Location) == 0 {
			continue
		}
		stack = stack[:0]
		for _, l := range slices.Backward(s.Location) {
			if len(l.Line) == 0 {
				stack = append(stack, foreignFrame{name: fmt.Sprintf("0x%x", l.Address)})
			}
			for _, line := range slices.Backward(l.Line) { // inlined ones come first in the file
				stack = append(stack, pprofFrame(line.Function, frames))
			}
		}
		if len(stack) > mostFrames {
			return nil, fmt.Errorf("%w: pprof, sample %d: more than %d frames", ErrNotReport, i, mostFrames)
		}
		t.add(pprofThread(s), stack, samples, ns, entries)
	}
	if t.samples == 0 {
		return nil, fmt.Errorf("%w: pprof without a sample", ErrNotReport)
	}
	hz := 0.0
	if values.period > 0 {
		hz = 1e9 / float64(values.period)
	}
	notes := append([]string{}, values.notes...)
	for _, c := range p.Comments {
		if c != "" {
			notes = append(notes, "comment of the file: "+c)
		}
	}
	return t.report(pprofSource, mode, hz, time.Duration(max(p.DurationNanos, 0)), notes...), nil
}

// pprofFrame names a function as reports do.
func pprofFrame(f *profile.Function, known map[*profile.Function]foreignFrame) foreignFrame {
	if f == nil {
		return foreignFrame{name: "(unknown)"}
	}
	out, ok := known[f]
	if ok {
		return out
	}
	name := f.Name
	if strings.HasPrefix(f.SystemName, f.Name+"(") { // with its descriptor, as Rivulet writes it
		name = f.SystemName
	}
	if out.name = methodName(name); out.name == "" {
		out.name = "(no name)"
	}
	if f.Filename != "" {
		out.source, out.line = path.Base(f.Filename), int(max(f.StartLine, 0))
	}
	known[f] = out
	return out
}

// pprofThread is the name of a sample's thread; "" if it says none.
func pprofThread(s *profile.Sample) string {
	for _, key := range []string{"thread", "thread_name", "threadName"} {
		if v := s.Label[key]; len(v) > 0 {
			return v[0]
		}
	}
	return ""
}

// timeUnits are those of pprof's values, in ns.
var timeUnits = map[string]int64{
	"nanoseconds": 1, "nanosecond": 1, "ns": 1, "microseconds": 1e3, "us": 1e3, "milliseconds": 1e6, "ms": 1e6, "seconds": 1e9, "s": 1e9,
}

// pprofColumns says which values of a profile's samples are what; -1 is none.
type pprofColumns struct {
	time, count, entries int
	name                 string // of time, or of count
	unit                 int64  // ns
	period               int64  // ns between samples; 0 if unknown
	notes                []string
}

// pprofTypes finds time and samples among a profile's values.
func pprofTypes(p *profile.Profile) (c pprofColumns, err error) {
	c = pprofColumns{time: -1, count: -1, entries: -1}
	var names []string
	for i, v := range p.SampleType {
		names = append(names, v.Type+" in "+v.Unit)
		switch unit, timed := timeUnits[v.Unit]; {
		case v.Type == "calls":
			return c, fmt.Errorf("%w: pprof of an exact recording, which can't be read as samples; save it with -o FILE.rivulet", ErrNotReport)
		case timed && (c.time < 0 || v.Type == p.DefaultSampleType):
			c.time, c.unit, c.name = i, unit, v.Type
		case v.Unit == "count" && v.Type == "entries":
			c.entries = i
		case v.Unit == "count" && slices.Contains([]string{"samples", "sample", "cpu", "wall", "events", "count"}, v.Type):
			c.count = i
			if c.name == "" {
				c.name = v.Type
			}
		}
	}
	if c.time < 0 && c.count < 0 {
		return c, fmt.Errorf("%w: pprof has no samples of time, but %s", ErrNotReport, strings.Join(names, ", "))
	}
	if p.PeriodType != nil {
		c.period = min(times(p.Period, timeUnits[p.PeriodType.Unit]), 1<<40)
	}
	switch {
	case c.period > 0:
	case c.time < 0:
		c.period = int64(collapsedPeriod)
		c.notes = append(c.notes, "The profile doesn't say what a sample stands for: times are in samples of 10 ms. Shares don't depend on it.")
	case c.count < 0:
		c.notes = append(c.notes, "The profile doesn't say how many samples there were: each of its entries counts as one, so intervals of shares are wide.")
	}
	return c, nil
}

// of are a sample's values.
func (c *pprofColumns) of(s *profile.Sample) (samples, ns, entries int64) {
	if c.entries >= 0 {
		entries = s.Value[c.entries]
	}
	if c.time >= 0 {
		ns = times(s.Value[c.time], c.unit)
	}
	switch {
	case c.count >= 0:
		samples = s.Value[c.count]
	case c.period > 0 && ns > 0:
		samples = max((ns+c.period/2)/c.period, 1)
	case ns > 0:
		samples = 1
	}
	if c.time < 0 {
		ns = times(samples, c.period)
	}
	return samples, ns, entries
}

// times is a product, or the largest number there is where that is larger.
func times(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}
