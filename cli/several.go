package cli

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// armAtOnce is how many sessions are attached and armed at a time: each analyses
// thousands of classes, which takes memory and a core.
const armAtOnce = 4

// each runs a function for each process at the same time, and waits for all.
func each(parts []export.ProcessReport, do func(i int, p *export.ProcessReport)) {
	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() { do(i, &parts[i]) })
	}
	wg.Wait()
}

// sampleSeveral samples several JVMs at the same time until the context or the time
// ends. The error is that of putTogether.
func (a *app) sampleSeveral(ctx context.Context, pids []int, o sampleOptions, length time.Duration, begun time.Time) (*export.Report, error) {
	parts := a.nameTargets(ctx, pids)
	opened := make([]*sampled, len(pids))
	each(parts, func(i int, p *export.ProcessReport) {
		opened[i], p.Err = a.sample(ctx, p.Target.PID, o, begun)
	})
	m := a.meter(func() session.Progress {
		n, jvms := int64(0), int64(0)
		for _, s := range opened {
			if s != nil {
				n, jvms = n+s.collector.Samples(), jvms+1
			}
		}
		return session.Progress{Phase: "sampling " + export.Plural(jvms, "JVM", "JVMs"), Times: export.Plural(n, "sample", "samples")}
	})
	defer m.stop()
	if length > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, length)
		defer cancel()
	}
	each(parts, func(i int, p *export.ProcessReport) {
		s := opened[i]
		if s == nil {
			return
		}
		ended, err := s.run(ctx)
		if p.Err = err; err == nil || s.collector.Samples() > 0 {
			p.Report = s.report(ended)
		}
	})
	m.stop()
	return a.putTogether(parts)
}

// sampleSeveralFor is sampleSeveral until an interrupt.
func (a *app) sampleSeveralFor(pids []int, o sampleOptions, length time.Duration, begun time.Time) (*export.Report, error) {
	in := watchInterrupts()
	defer in.stop()
	return a.sampleSeveral(in.first, pids, o, length, begun)
}

// recordSeveral records the same roots in several JVMs at the same time: counting of
// each begins when it is armed, and ends with all others by time or interrupt, or by
// itself.
func (a *app) recordSeveral(in *interrupts, pids []int, rec spec.Recording, length time.Duration) (*export.Report, error) {
	parts := a.nameTargets(in.first, pids)
	var tried, armed, over atomic.Int64
	m := a.meter(func() session.Progress {
		phase := fmt.Sprintf("attaching to %d JVMs", len(pids))
		if n := armed.Load(); n > 0 {
			phase = fmt.Sprintf("recording in %d of %d JVMs", n-over.Load(), len(pids))
		}
		return session.Progress{Phase: phase}
	})
	defer m.stop()
	room := make(chan struct{}, armAtOnce)
	each(parts, func(_ int, p *export.ProcessReport) {
		room <- struct{}{}
		s, err := a.armOne(in, p.Target.PID, rec, a.config(rec.Memory))
		<-room
		if p.Err = err; err == nil {
			armed.Add(1)
		}
		if tried.Add(1) == int64(len(parts)) && armed.Load() > 0 {
			m.say(fmt.Sprintf("recording in %d of %d JVMs", armed.Load(), len(parts)))
		}
		if err != nil {
			return
		}
		a.awaitOne(in, s, rec, length)
		notes := ""
		select {
		case <-s.Done():
		default:
			notes = s.Diagnose(in.second)
		}
		p.Report, p.Err = s.Finish(in.second)
		over.Add(1)
		if p.Report != nil && notes != "" {
			p.Report.Notes = append(p.Report.Notes, oneLine(notes))
		}
	})
	m.stop()
	return a.putTogether(parts)
}

// armOne attaches to a JVM and begins to record; where it can't, nothing stays.
func (a *app) armOne(in *interrupts, pid int, rec spec.Recording, cfg session.Config) (attached, error) {
	cfg.Observe = rec.Scheme == "D" || rec.Scheme == spec.SchemeAuto
	s, err := a.attach(in, pid, cfg)
	if err != nil {
		return nil, err
	}
	if err := s.Start(in.first, rec); err != nil {
		if closing := s.Close(); closing != nil && !errors.Is(closing, err) {
			err = fmt.Errorf("%w (and detaching failed: %w)", err, closing)
		}
		return nil, interrupted(in, err)
	}
	return s, nil
}

// awaitOne sees the warm-up through, and waits for the end of a recording.
func (a *app) awaitOne(in *interrupts, s attached, rec spec.Recording, length time.Duration) {
	if rec.HasWarmup() {
		_ = s.Warm(in.first) // a recording that ends in it is reported all the same
	}
	select {
	case <-in.first.Done():
	case <-deadline(length):
	case <-s.Done():
	}
}

// profileSeveral is rivulet profile of several JVMs.
func (a *app) profileSeveral(pids []int, f *recordFlags) error {
	if f.ui || f.auto || f.beside.hz > 0 || f.trace != "" || f.stream != "" {
		return usage("--ui, --root auto, --sample, --trace and --stream are of one JVM: give one PID")
	}
	return a.with(f.file, a.stdout, func(in *interrupts, out *output) error {
		if _, err := out.format(f.format); err != nil {
			return err
		}
		r, err := a.recordSeveral(in, pids, f.rec, f.length)
		return a.deliver(r, err, f, out)
	})
}
