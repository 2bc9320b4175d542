package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
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
	fs.Var(&f.beside, "sample", "sample all threads beside the recording, `HZ` times a second ("+strconv.Itoa(besideHz)+" without a number): estimates of time on a core, of lines, and of methods without probes go into the tree; inside, or inside,HZ: only threads in a root call, and nothing while there is none")
	fs.Lookup("sample").NoOptDefVal = strconv.Itoa(besideHz)
}

// A besideRate is how threads are sampled beside a recording.
type besideRate struct {
	hz     int  // 0: not at all
	inside bool // those in a root invocation, and no others
}

// String implements pflag.Value.
func (r *besideRate) String() string {
	switch {
	case r.inside:
		return insideWord + "," + strconv.Itoa(r.hz)
	case r.hz == 0:
		return ""
	}
	return strconv.Itoa(r.hz)
}

const insideWord = "inside"

// Set implements pflag.Value.
func (r *besideRate) Set(text string) error {
	*r = besideRate{hz: besideHz}
	if rest, ok := strings.CutPrefix(text, insideWord); ok {
		r.inside = true
		if text = strings.TrimPrefix(rest, ","); rest == "" {
			return nil
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > mostHz {
		return fmt.Errorf("give a number from 1 to %d, inside, or inside,HZ", mostHz)
	}
	r.hz = n
	return nil
}

// Type implements pflag.Value.
func (*besideRate) Type() string { return "HZ" }

// joinInside makes one word of "--sample inside": a flag that may stand without a value takes none of the
// next word.
func joinInside(args []string) []string {
	var out []string
	for i, arg := range args {
		if arg == "--" {
			return append(out, args[i:]...)
		}
		if n := len(out); n > 0 && out[n-1] == "--sample" && (arg == insideWord || strings.HasPrefix(arg, insideWord+",")) {
			out[n-1] += "=" + arg
			continue
		}
		out = append(out, arg)
	}
	return out
}

// checkSamples refuses what makes no sense with --sample.
func (f *recordFlags) checkSamples(cmd *cobra.Command) error {
	switch {
	case !cmd.Flags().Changed("sample"):
		return nil
	case f.rec.CPU:
		return usage("--sample and --cpu both say what is on a core: give one of them")
	case f.ui:
		return usage("--sample is not there on the page yet: leave out --ui, and open the report with rivulet view FILE --ui")
	case f.rec.Follow:
		return usage("--sample and --follow: samples can't tell who handed a task over; give one of them")
	}
	return nil
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
func (a *app) openBeside(ctx context.Context, pid int, f *recordFlags, of attached) (*besideSampling, error) {
	if f.beside.hz == 0 {
		return nil, nil
	}
	var o sampleOptions
	o.sampler.Hz, o.sampler.Wall = f.beside.hz, true
	if f.beside.inside {
		knows, ok := of.(interface{ Inside(f func(thread int64)) })
		if !ok {
			return nil, errors.New("this recording does not say who is inside")
		}
		o.sampler.Inside = knows.Inside
	}
	o.tree.States, o.tree.Lines = true, true
	s, err := a.sample(ctx, pid, o, time.Now())
	if err != nil {
		return nil, err
	}
	b := &besideSampling{s: s, late: beside.NewLate(f.rec.Roots)}
	if !f.beside.inside { // a thread is inside in an invocation that is recorded
		s.filter = func(batch []stack.Stack) []stack.Stack { return b.late.Filter(batch) }
	}
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
