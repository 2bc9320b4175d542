package cli

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/sampler/beside"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// besideHz is how often threads are sampled beside a recording, unless somebody says it.
const besideHz = 49

// allowSamples has a command take --sample.
func (f *recordFlags) allowSamples(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.IntVar(&f.sampleHz, "sample", 0, "sample all threads beside the recording, `HZ` times a second ("+strconv.Itoa(besideHz)+" without a number): estimates of time on a core, of lines, and of methods without probes go into the tree")
	fs.Lookup("sample").NoOptDefVal = strconv.Itoa(besideHz)
	fs.BoolVar(&f.sampleHeap, "sample-heap", false, "with --count allocations: have the JVM (JDK 16 and later) sample what is allocated on the heap, and put estimates beside the counts: what the compiler has removed, and what methods without probes allocate")
}

// checkSamples refuses what makes no sense with --sample.
func (f *recordFlags) checkSamples(cmd *cobra.Command) error {
	switch {
	case !cmd.Flags().Changed("sample"):
		return f.checkHeap()
	case f.sampleHz < 1 || f.sampleHz > mostHz:
		return usage("--sample %d: give a number from 1 to %d", f.sampleHz, mostHz)
	case f.rec.CPU:
		return usage("--sample and --cpu both say what is on a core: give one of them")
	case f.ui:
		return usage("--sample is not there on the page yet: leave out --ui, and open the report with rivulet view FILE --ui")
	case f.rec.Follow:
		return usage("--sample and --follow: samples can't tell who handed a task over; give one of them")
	}
	return f.checkHeap()
}

// A besideSampling samples while something is recorded. The nil one does nothing.
type besideSampling struct {
	s    *sampled
	late *beside.Late
	end  context.CancelFunc
	done chan struct{}
	err  error
}

// openBeside opens a source of samples for a recording.
func (a *app) openBeside(ctx context.Context, pid int, f *recordFlags) (*besideSampling, error) {
	if f.sampleHz == 0 {
		return nil, nil
	}
	var o sampleOptions
	o.sampler.Hz, o.sampler.Wall = f.sampleHz, true
	o.tree.States, o.tree.Lines = true, true
	s, err := a.sample(ctx, pid, o, time.Now())
	if err != nil {
		return nil, err
	}
	b := &besideSampling{s: s, late: beside.NewLate(f.rec.Roots)}
	s.filter = func(batch []stack.Stack) []stack.Stack { return b.late.Filter(batch) }
	return b, nil
}

// start begins to sample, when the recording has begun.
func (b *besideSampling) start() {
	if b == nil {
		return
	}
	var ctx context.Context
	ctx, b.end = context.WithCancel(context.Background())
	b.done = make(chan struct{})
	b.s.collector.Reset()
	go func() {
		defer close(b.done)
		_, b.err = b.s.run(ctx)
	}()
}

// stop ends sampling, before the recording ends.
func (b *besideSampling) stop() {
	switch {
	case b == nil:
	case b.done == nil:
		b.s.close() //nolint:errcheck // it never ran
	default:
		b.end()
		<-b.done
	}
}

// join puts what was sampled into the report.
func (b *besideSampling) join(r *export.Report) {
	if b == nil || r == nil {
		return
	}
	if b.err != nil {
		r.Notes = append(r.Notes, "Samples beside the recording ended early: "+oneLine(b.err.Error()))
	}
	samples := b.s.report("")
	samples.Sampling.First = 0 // it waited for the recording to begin
	if inside := beside.Join(r, samples); inside == 0 {
		r.Notes = append(r.Notes, "No sample lies inside: invocations of the root are short or few, or the time was.")
	}
	if b.late.Left > 0 {
		r.Notes = append(r.Notes, export.Plural(b.late.Left, "sample", "samples")+" of invocations that began before the recording are left out of the estimates.")
	}
	for _, n := range samples.Notes {
		r.Notes = append(r.Notes, "Estimates by samples: "+n)
	}
}
