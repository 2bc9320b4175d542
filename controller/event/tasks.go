package event

import (
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// firstTask is the method of the node that stands for the hand-over in the node
// 0 of the file; those of the following nodes are below.
const firstTask int32 = -16

// execute begins an execution of a task: below a node that stands for its
// hand-over, as in the target.
func (s *stream) execute(offset int64) {
	if s.over > 0 { // its invocations find no room either
		return
	}
	method := firstTask - int32(offset>>wire.NodeShift&(1<<30-1))
	k := s.callee(method)
	if k == 0 {
		s.b.bad++
		return
	}
	s.begin()
	n := &s.nodes[k]
	if n.now.calls == 0 {
		n.mark = int32(len(s.touched))
		s.touched = append(s.touched, k)
	}
	n.now.calls++
	s.top = k
}

// outermostEnded ends a root invocation, or the execution of a task, whose
// invocations have all ended.
func (s *stream) outermostEnded(thrown bool) {
	task := s.top != 0
	if !task {
		s.rootEnded(thrown)
		return
	}
	s.ended(true)
	if s.top = s.nodes[s.top].parent; s.top == 0 { // else the thread goes on with what it did before
		s.file()
	}
}

// copies are the stream's trees so far, by node; the children of the first one
// are the roots. Executions of tasks are marked, and lie where their thread was.
func (s *stream) copies() []cct.Node {
	copies := make([]cct.Node, len(s.nodes))
	for i := range s.nodes {
		from, to := &s.nodes[i], &copies[i]
		to.Method = from.method
		past := s.past[i]
		to.Calls, to.Thrown, to.Self = past.calls+from.now.calls, past.thrown+from.now.thrown, past.self+from.now.self
		if i == 0 || from.method < 0 {
			continue
		}
		up := from.parent
		if m := s.nodes[up].method; m <= firstTask {
			to.Details().Async = cct.InPlace(uint32(firstTask-m) << wire.NodeShift)
			to.Self += copies[up].Self
			up = s.nodes[up].parent
		}
		copies[up].Children = append(copies[up].Children, to)
	}
	return copies
}
