// Package compare tries the schemes on the same roots, one after another, and
// puts side by side what each recorded, instrumented and cost: on a JVM that
// runs ([Running]), or by whole runs of a program ([Runs]).
//
// Each step is a session of its own, so a target is restored between two of
// them. What differs by some percent is alike: the JVM gets warmer meanwhile,
// and its load may change. The functions block until the comparison is done;
// several may run at once on different targets.
package compare

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// Options say how schemes are compared on one target. Recording is what each of
// them records; its Scheme is ignored.
type Options struct {
	spec.Recording
	Schemes []string      // in this order
	For     time.Duration // of each recording, and of timing the root; 0: until UntilCalls
	Config  session.Config
	Say     func(string) // tells what is being done; may be nil

	// Show gets a copy of what there is after each step of [Running]; may be nil.
	Show func(*export.Comparison)
}

func (c *Options) say(format string, args ...any) {
	if c.Say != nil {
		c.Say(fmt.Sprintf(format, args...))
	}
}

// show shows what there is so far.
func (c *Options) show(out *export.Comparison) {
	if c.Show != nil {
		sofar := *out
		sofar.Runs, sofar.Notes = slices.Clone(out.Runs), slices.Clone(out.Notes)
		c.Show(&sofar)
	}
}

// scheme is the recording by one of the schemes.
func (c *Options) scheme(name string) spec.Recording {
	rec := c.Recording
	rec.Scheme = name
	return rec
}

// bareWarm is how long the root is timed for nothing at first: the first
// redefinition in a JVM throws all compiled code away.
const bareWarm = 3 * time.Second

// Running records the same roots of a running JVM by one scheme after another.
// Before, it times them with nothing beneath ([session.Session.StartTiming]); between,
// the target is restored and left alone until its compiler has little to do. Each
// step is a session of its own. What was compared until an error is returned
// with it, nil if that is nothing. Errors are those of [session.Attach] and
// [session.Session.Start].
func Running(ctx context.Context, pid int, c Options) (*export.Comparison, error) {
	out := &export.Comparison{Clock: clockOf(c.Clock)}
	var err error
	for i, length := range []time.Duration{min(c.For, bareWarm), c.For} {
		if i > 0 {
			c.settle(ctx, pid, out, "the root was timed for good")
		}
		c.say("timing the roots alone%s", lengthText(length))
		if out.Root, err = c.time(ctx, pid, length); err != nil {
			return nil, err
		}
		c.show(out)
	}
	for _, name := range c.Schemes {
		c.settle(ctx, pid, out, "scheme "+name+" began")
		c.say("recording by scheme %s%s", name, lengthText(c.For))
		begin := time.Now()
		s, err := session.Attach(ctx, pid, c.Config)
		if err != nil {
			return c.sofar(out, name, err)
		}
		err = s.Start(ctx, c.scheme(name))
		if errors.Is(err, session.ErrUnobservable) && len(c.Schemes) > 1 {
			out.Notes = append(out.Notes, fmt.Sprintf("Scheme %s was left out: %v.", name, err))
			if err := s.Close(); err != nil {
				return c.sofar(out, name, err)
			}
			continue
		}
		if err != nil {
			return c.sofar(out, name, errors.Join(err, s.Close()))
		}
		armed := time.Since(begin)
		if err := c.await(ctx, s, c.For, nil); err != nil {
			return c.sofar(out, name, errors.Join(err, s.Close()))
		}
		r, err := s.Finish(ctx)
		if err != nil {
			return c.sofar(out, name, errors.Join(err, s.Close()))
		}
		c.add(out, r, armed)
		c.show(out)
	}
	c.judge(out)
	return out, nil
}

// sofar returns what there is when a scheme could not be tried.
func (c *Options) sofar(out *export.Comparison, name string, err error) (*export.Comparison, error) {
	err = fmt.Errorf("scheme %s: %w", name, err)
	if len(out.Runs) == 0 {
		return nil, err
	}
	c.judge(out)
	return out, err
}

// add takes a scheme's recording in.
func (c *Options) add(out *export.Comparison, r *export.Report, armed time.Duration) *export.SchemeRun {
	if len(out.Runs) == 0 {
		out.Target, out.Roots = r.Target, r.Roots
	}
	run := export.NewSchemeRun(r)
	run.Armed = armed
	out.Runs = append(out.Runs, run)
	if n := int64(len(r.Late)); n > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("Scheme %s recorded %s late, which were asleep when it began: its counts are not exact.", r.Scheme, export.Plural(n, "method", "methods")))
	}
	for _, n := range r.Notes {
		out.Notes = append(out.Notes, "Scheme "+r.Scheme+": "+n)
	}
	return &out.Runs[len(out.Runs)-1]
}

// time times the roots with nothing beneath them.
func (c *Options) time(ctx context.Context, pid int, length time.Duration) (*export.BareRoot, error) {
	s, err := session.Attach(ctx, pid, c.Config)
	if err != nil {
		return nil, err
	}
	if err := s.StartTiming(ctx, session.Timing{Roots: c.Roots, UntilCalls: c.UntilCalls, Wait: c.Wait}); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := c.await(ctx, s, length, nil); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	r, err := s.FinishTiming(ctx)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return r.Bare(), nil
}

// await waits until a step has taken its time, or has ended by itself.
func (c *Options) await(ctx context.Context, s *session.Session, length time.Duration, exited <-chan struct{}) error {
	var over <-chan time.Time
	if length > 0 {
		t := time.NewTimer(length)
		defer t.Stop()
		over = t.C
	}
	select {
	case <-over:
	case <-s.Done():
	case <-exited:
		select { // the session finds out a little later
		case <-s.Done():
		case <-time.After(500 * time.Millisecond):
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

const (
	settleLook    = 250 * time.Millisecond
	settleShare   = 0.05             // of a core, that the compilers may take
	settleLongest = 30 * time.Second // the shop takes up to 25, see docs/decisions/0027
	settleBlind   = 2 * time.Second  // of a JVM without counters
)

// settle waits until the target's compilers have little to do: code that was
// changed runs interpreted until it is compiled again. If they don't get there, a
// note says before what.
func (c *Options) settle(ctx context.Context, pid int, out *export.Comparison, before string) {
	pause := func(d time.Duration) {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
	}
	counters, err := attach.OpenCounters(pid)
	if err != nil {
		pause(settleBlind)
		return
	}
	defer counters.Close()
	begin := time.Now()
	last, ok := compiled(counters)
	for calm := 0; calm < 2 && ctx.Err() == nil; {
		if time.Since(begin) > settleLongest {
			out.Notes = append(out.Notes, fmt.Sprintf("The target's compilers were still busy when %s, after %v: part of what was slower then was restored code that ran interpreted.", before, settleLongest))
			break
		}
		pause(settleLook)
		now, known := compiled(counters)
		if !ok || !known {
			pause(settleBlind)
			return
		}
		if float64(now-last) < settleShare*float64(settleLook) {
			calm++
		} else {
			calm = 0
		}
		last = now
	}
	if log := c.Config.Log; log != nil {
		log.Debug("settled", "pid", pid, "took", time.Since(begin))
	}
}

// compiled is how long the target's compilers have been at work.
func compiled(f *attach.CounterFile) (time.Duration, bool) {
	v, err := f.Read()
	if err != nil {
		return 0, false
	}
	ticks, a := v["java.ci.totalTime"].(int64)
	frequency, b := v["sun.os.hrt.frequency"].(int64)
	if !a || !b || frequency <= 0 {
		return 0, false
	}
	return time.Duration(float64(ticks) / float64(frequency) * 1e9), true
}

// fewInvocations are so few that a mean says little.
const fewInvocations = 20

// judge adds what a reader has to know of the figures together.
func (c *Options) judge(out *export.Comparison) {
	equal, few, nested := true, false, false
	for i := range out.Runs {
		r, first := &out.Runs[i], &out.Runs[0]
		equal = equal && r.Calls == first.Calls && r.Invocations == first.Invocations
		few = few || r.Invocations < fewInvocations
		nested = nested || r.Nested
	}
	bounded := out.Command != nil || c.UntilCalls > 0 && c.For == 0
	switch {
	case len(out.Runs) < 2 || !bounded:
	case equal:
		out.Notes = append(out.Notes, "All schemes recorded the same calls.")
	default:
		out.Notes = append(out.Notes, "The schemes recorded different calls: what the program does was not the same each time.")
	}
	if nested && out.Command == nil {
		out.Notes = append(out.Notes, "A root was called from inside the subgraph, so an invocation here and one that is timed alone are not the same: no overhead is given.")
	}
	if few && out.Command == nil {
		out.Notes = append(out.Notes, fmt.Sprintf("There are fewer than %d root calls: compare for longer (--for).", fewInvocations))
	}
}

func clockOf(name string) string {
	if name == "" {
		return "tick"
	}
	return name
}

func lengthText(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return fmt.Sprintf(" for %v", d)
}
