package sampler

import (
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/controller/sampler/unwinder"
)

// take copies what came of a walk, and the kernel's frames before it.
func (s *Sampler) take(out *stack.Stack, within []stack.Frame, w *unwinder.Walk) {
	out.Frames = s.copied(within, w.Frames)
	out.Complete, out.Heuristic, out.Broken = w.Complete, w.Heuristic, w.Broken
	s.mu.Lock()
	if w.NativeTop {
		s.stats.NativeTop++
	}
	if w.Live {
		s.stats.Live++
		s.deep++
	} else {
		s.shallow++
	}
	if w.Heap || w.Broken == unwinder.BrokenContinuation {
		s.frozen++
	}
	s.mu.Unlock()
}

// copied are frames in memory of their own.
func (s *Sampler) copied(parts ...[]stack.Frame) []stack.Frame {
	const chunk = 4096
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	if cap(s.frames)-len(s.frames) < n {
		s.frames = make([]stack.Frame, 0, max(chunk, n))
	}
	from := len(s.frames)
	for _, p := range parts {
		s.frames = append(s.frames, p...)
	}
	return s.frames[from:len(s.frames):len(s.frames)]
}

// check gives up the stacks that rest on code which has changed.
func (s *Sampler) check() {
	for _, n := range s.u.Check() {
		if n >= len(s.walks) {
			continue
		}
		w := s.walks[n]
		if w.waiter != nil {
			w.waiter.valid = false
		}
		if w.stack < len(s.batch) {
			p := &s.batch[w.stack]
			p.Frames, p.Complete, p.Broken = nil, false, unwinder.BrokenChanged
		}
	}
}
