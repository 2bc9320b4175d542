package cli

import (
	"context"
	"os"
	"sync/atomic"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/sampler"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/controller/threads"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
)

func (f *fake) inspect(_ context.Context, pid int) (attach.Process, error) {
	found, err := f.processes(context.Background())
	for _, p := range found {
		if p.PID == pid {
			return p, err
		}
	}
	return attach.Process{}, &attach.Error{PID: pid, Kind: attach.ErrNoProcess, Cause: "there is no such process", Fix: "see rivulet ps"}
}

// outline can't be had, so that commands ask the session.
func (f *fake) outline(context.Context, int) (listing, error) { return nil, vmstructs.ErrUnknown }

func (f *fake) histogram(context.Context, int, bool) (*attach.Histogram, error) {
	f.note("histogram")
	return &attach.Histogram{Classes: []attach.ClassCount{{Class: "byte[]", Objects: 3, Bytes: 300 + f.extra}, {Class: "shop.Order", Objects: 2, Bytes: 48}}, Objects: 5, Bytes: 348 + f.extra}, nil
}

func (f *fake) deadlocks(context.Context, int) ([]threads.Deadlock, error) {
	f.note("deadlocks")
	return f.locked, nil
}

func (f *fake) sample(_ context.Context, _ int, o sampler.Options) (sampling, error) {
	f.note("sample")
	f.sampled = o
	if f.attachErr != nil {
		return nil, f.attachErr
	}
	return &fakeSampling{f: f, o: o}, nil
}

// A fakeSampling has a hundred samples, and ends then as the target does: main calls
// loop, which has called handle again and again, and handle calls price or waits.
type fakeSampling struct {
	f *fake
	o sampler.Options
	n atomic.Int64
}

var fakeMethods = []*stack.Method{
	{Class: "shop/Main", Name: "main", Desc: "([Ljava/lang/String;)V"},
	{Class: "shop/Main", Name: "loop", Desc: "()V"},
	{Class: "shop/Orders$Line", Name: "handle", Desc: "(I)V"},
	{Class: "shop/Price", Name: "of", Desc: "(I)J"},
	{Class: "java/util/HashMap", Name: "get", Desc: "(Ljava/lang/Object;)Ljava/lang/Object;"},
}

func (s *fakeSampling) Run(ctx context.Context, f func([]stack.Stack)) error {
	for i := range int64(100) {
		k := stack.Stack{
			Time: 1e9 + i*10e6, Weight: 10e6, TID: 9, Thread: "main", Java: true, State: stack.Running, Complete: true,
		}
		depth := 4 + int(i%2)
		for d := depth - 1; d >= 0; d-- {
			k.Frames = append(k.Frames, stack.Frame{Method: fakeMethods[d], Kind: stack.C2, BCI: -1, Line: 10 + d, Slot: uint64(4096 - 64*d), Return: 7, Words: 1})
		}
		k.Frames[depth-2].Words = uint64(i) // loop goes on: each handle is another one
		f([]stack.Stack{k})
		s.n.Add(1)
	}
	f([]stack.Stack{{Time: 3e9, Weight: 10e6, TID: 10, Thread: "C2 CompilerThre", Java: true, State: stack.Running, Complete: true}})
	s.n.Add(1)
	if s.f.sampleOn {
		<-ctx.Done()
		return nil
	}
	return os.ErrProcessDone
}

func (s *fakeSampling) Stats() sampler.Stats {
	return sampler.Stats{Source: "perf", Mode: "cpu", Hz: s.o.Hz, Samples: s.n.Load(), First: 30 * time.Millisecond, NonSafepoints: true}
}

func (s *fakeSampling) Close() error { s.f.note("close"); return nil }
