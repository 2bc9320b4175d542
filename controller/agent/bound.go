package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"
	"time"

	"go.starlark.net/starlark"
)

// Limits bound what scripts may take. The zero value has the defaults.
type Limits struct {
	Steps  uint64        // of Starlark in one activation; default 50 million
	Time   time.Duration // of one activation; default 5 s
	Memory int64         // bytes that a script may keep, and that this process may grow by in one activation; default 256 MB
	Files  int64         // bytes that a script may write; default 256 MB
}

func (l Limits) withDefaults() Limits {
	if l.Steps == 0 {
		l.Steps = 50_000_000
	}
	if l.Time == 0 {
		l.Time = 5 * time.Second
	}
	if l.Memory == 0 {
		l.Memory = 256 << 20
	}
	if l.Files == 0 {
		l.Files = 256 << 20
	}
	return l
}

// watchEvery is how often time and memory of an activation are looked at.
const watchEvery = 5 * time.Millisecond

// errGone marks an activation that did not come back: one operation of it takes longer than all
// may. Its goroutine is left to itself.
var errGone = errors.New("it did not come back: one operation of it takes longer than an activation may")

// bounded runs f, which runs Starlark on the thread, within the limits. When ctx is done the
// script is cancelled, too.
func (l Limits) bounded(ctx context.Context, thread *starlark.Thread, f func() error) error {
	thread.Uncancel()
	thread.Steps = 0
	thread.SetMaxExecutionSteps(l.Steps)
	thread.OnMaxSteps = func(t *starlark.Thread) {
		t.Cancel(fmt.Sprintf("more than %d steps in one activation", l.Steps))
	}
	done := make(chan error, 1)
	go func() { done <- f() }()
	base, begin := heap(), time.Now()
	look := time.NewTicker(watchEvery)
	defer look.Stop()
	cancelled := false
	cancel := func(why string) {
		if !cancelled {
			cancelled = true
			thread.Cancel(why)
		}
	}
	for {
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			cancel(errEnding.Error())
		case <-look.C:
		}
		took := time.Since(begin)
		switch {
		case took > 2*l.Time+time.Second:
			return errGone
		case took > l.Time:
			cancel(fmt.Sprintf("more than %v in one activation", l.Time))
		case heap()-base > l.Memory:
			runtime.GC()
			if heap()-base > l.Memory {
				cancel(fmt.Sprintf("more than %d MB of memory", l.Memory>>20))
			}
		}
	}
}

// heap is what this process has on its heap, in bytes.
func heap() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}

// size is about how many bytes values keep, counted no further than most.
func size(most int64, values ...starlark.Value) (n int64) {
	seen := map[starlark.Value]bool{}
	stack := values
	for len(stack) > 0 && n <= most {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		n += 16
		switch v := v.(type) {
		case starlark.String:
			n += int64(len(v))
		case starlark.Bytes:
			n += int64(len(v))
		case starlark.Tuple:
			stack = append(stack, v...)
		case *starlark.List:
			if !seen[v] {
				seen[v] = true
				for e := range v.Elements() {
					stack = append(stack, e)
				}
			}
		case *starlark.Set:
			if !seen[v] {
				seen[v] = true
				for e := range v.Elements() {
					stack = append(stack, e)
					n += 64
				}
			}
		case *starlark.Dict:
			if !seen[v] {
				seen[v] = true
				for k, e := range v.Entries() {
					stack = append(stack, k, e)
					n += 64
				}
			}
		case keeper:
			if !seen[v] {
				seen[v] = true
				n += v.keeps()
			}
		}
	}
	return n
}

// A keeper is a value of this package that keeps a tree.
type keeper interface {
	starlark.Value
	keeps() int64 // bytes
}

// boundedRange is range with a bound.
func boundedRange(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	v, err := starlark.Call(t, starlark.Universe["range"], args, kwargs)
	if err == nil && starlark.Len(v) > maxElements {
		return nil, fmt.Errorf("%s of more than %d numbers", b.Name(), maxElements)
	}
	return v, err
}
