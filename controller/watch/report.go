package watch

import (
	"fmt"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/sampler/collect"
	"github.com/rivulet-profiler/rivulet/controller/sampler/pcct"
	"github.com/rivulet-profiler/rivulet/controller/sampler/ring"
)

// Report makes a report of the samples of a piece of time, CLOCK_MONOTONIC ns, from a folder of
// samples or a capture's file. It is like that of rivulet sample. The error wraps [ErrNothing] if
// there are no samples.
func Report(path string, from, until int64, o pcct.Options) (*export.Report, error) {
	r, err := ring.Open(path)
	if err != nil {
		return nil, err
	}
	all, err := r.Summary()
	if err != nil {
		return nil, err
	}
	from, until = max(from, all.First), min(until, all.Last)
	var h ring.Header
	var c *collect.Collector
	var lost, cpu, samples int64
	mixed := false
	if err := r.Read(from, until, func(now *ring.Header, k *ring.Chunk) error {
		if c == nil {
			o.Physical, o.States = now.Physical, now.Mode == export.WallMode
			c = collect.New(export.Target{PID: now.PID, Java: now.Java, VM: now.VM, Main: now.Main}, o)
		} else if now.Mode != h.Mode || now.Hz != h.Hz {
			mixed = true
		}
		h = *now
		lost += k.Lost
		cpu += k.CPU
		for _, m := range k.Moves {
			c.Moved(m.From, m.Until)
		}
		c.Add(k.Stacks)
		samples += int64(len(k.Stacks))
		return nil
	}); err != nil {
		return nil, err
	}
	if samples == 0 {
		return nil, fmt.Errorf("%w of this time", ErrNothing)
	}
	elapsed := until - from + int64(time.Second)/int64(max(h.Hz, 1))
	src := collect.Source{
		Name: h.Source, Mode: h.Mode, Hz: float64(h.Hz), Lost: lost, Skewed: h.Skewed, Physical: h.Physical, NoKernel: h.NoKernel,
		Share: float64(cpu) / float64(elapsed),
	}
	out := c.ReportOver(src, time.Duration(elapsed), "")
	const form = "2006-01-02 15:04:05"
	out.Ended = "kept samples end"
	out.Notes = append(out.Notes, fmt.Sprintf("Of kept samples, from %s to %s.",
		time.Unix(0, h.Clock(from)).Format(form), time.Unix(0, h.Clock(until)).Format(form)))
	if mixed {
		out.Notes = append(out.Notes, "The samples were taken in several ways, with --hz or --wall changed between: times are right, shares of samples are of both.")
	}
	if r.Damaged > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%s of the kept samples could not be read.", export.Plural(r.Damaged, "part", "parts")))
	}
	return out, nil
}
