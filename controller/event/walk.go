package event

import (
	"math"
	"time"
)

// find returns the callee of the invocation on top, 0 if there is none yet.
func (s *stream) find(method int32) int32 { return s.index.find(s.nodes, s.top, method) }

// callee finds or makes it; 0 when there is no room.
func (s *stream) callee(method int32) int32 {
	k := s.find(method)
	if k == 0 {
		if s.b.nodes >= s.b.most {
			return 0
		}
		s.b.nodes++
		k = int32(len(s.nodes))
		s.nodes = append(s.nodes, node{method: method, parent: s.top})
		s.past = append(s.past, figures{})
		s.index.add(s.nodes, k)
	}
	s.nodes[s.top].cache[method&3] = k
	return k
}

// resync makes an invocation of the method the one on top; false if there is
// none. Only a damaged stream needs that.
func (s *stream) resync(method int32) bool {
	s.b.bad++
	for k := s.top; k != 0; k = s.nodes[k].parent {
		if s.nodes[k].method == method {
			for s.top != k {
				s.pop()
			}
			return true
		}
	}
	return false
}

func (s *stream) pop() {
	if s.nodes[s.top].method < 0 {
		s.ended(false)
	} else if s.b.Timeline != nil {
		s.end(s.nodes[s.top].method, s.nodes[s.nodes[s.top].parent].method)
	}
	s.top = s.nodes[s.top].parent
}

// mostAhead is how far the timeline's clock may be ahead of the stream's, in ns. No
// thread records so many events between two ticks.
const mostAhead = int64(time.Second)

// moment is the time on the timeline's clock: that of the stream, but none is shown
// twice. What begins and ends at one tick has its order so, and some length. The tick
// clock catches up: no event takes less than 1 ns.
func (s *stream) moment() int64 {
	if s.shown-s.time > mostAhead { // a damaged stream
		s.shown = s.time
	}
	s.shown = max(s.shown+1, s.time)
	return s.shown
}

// end enters the invocation on top into the timeline. above is the method of the
// node above it.
func (s *stream) end(method, above int32) {
	if n := len(s.begins) - 1; n >= 0 {
		task := above <= firstTask
		if task && len(s.frames) > 0 { // the clock may have ticked since it was named
			s.frames[len(s.frames)-1].began = s.begins[n]
		}
		var span *Span
		if n == 0 && !task && s.span.Known() {
			of := s.span
			span = &of
		}
		s.b.Timeline.add(Slice{Span: span, Record: s.record, Thread: s.thread, Method: method, Depth: depthOf(n), Root: n == 0 && !task, Task: task, Start: s.begins[n], Took: max(s.moment()-s.begins[n], 0)})
		s.begins = s.begins[:n]
	}
}

// rootEnded files what the root invocation did.
func (s *stream) rootEnded(thrown bool) {
	s.returns++
	if k := s.b.Slowest; k != nil && len(s.touched) > 0 {
		if s.root == nil { // a damaged stream
			s.root = &part{began: s.began}
		}
		if took := s.time - s.began - s.left; k.wants(took) {
			k.add(s.invocation(took, thrown, k.nodes()))
		} else {
			s.root.drop()
		}
		s.root = nil
	}
	s.file()
}

// cut ends what is open without counting it as ended.
func (s *stream) cut() {
	for s.top != 0 {
		s.pop()
	}
	s.over, s.extra = 0, 0
	s.file()
}

func (s *stream) file() {
	s.fileFrom(0)
	s.frames = s.frames[:0]
	s.track, s.next = nil, math.MaxInt64
	s.begins = s.begins[:0]
	s.nodes[0].now = figures{}
}

// fileFrom files what was touched from a place on.
func (s *stream) fileFrom(from int) {
	for _, k := range s.touched[from:] {
		n, past := &s.nodes[k], &s.past[k]
		past.calls += n.now.calls
		past.thrown += n.now.thrown
		past.self += n.now.self
		n.now = figures{}
	}
	s.touched = s.touched[:from]
}
