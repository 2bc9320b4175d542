package session

import "github.com/rivulet-profiler/rivulet/controller/shm"

// Inside calls f with the number that Java gives a thread, for each that is in a root invocation; for a
// virtual thread with its carrier's. Where nobody is inside it reads one word. It may be
// called at any time, also after the session's end, and concurrently.
func (s *Session) Inside(f func(thread int64)) {
	s.mapped.RLock()
	defer s.mapped.RUnlock()
	if s.data.Memory() == nil || !s.data.AnyInside() {
		return
	}
	s.data.EachInside(func(i shm.Inside) { f(i.Thread) })
}
