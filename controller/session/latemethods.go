package session

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// A lateMethod was called, or may have been, before it had probes.
type lateMethod struct {
	id      cha.MethodID
	calls   int64         // that the JVM counted before, in the whole program; -1 where it did not count
	after   time.Duration // from the beginning of the recording to its probes
	inForce bool
}

// noteLate notes that methods get probes late. One that is asleep has not been called.
func (l *loop) noteLate(steps []scheme.Step, calls map[cha.MethodID]int64) {
	w := l.s.watching
	for _, st := range steps {
		n, woke := calls[st.Method]
		if !woke {
			n = -1
			if !st.Root && !w.isActive(st.Method) {
				continue
			}
		}
		if w.late[st.Method] == nil {
			x := &lateMethod{id: st.Method, calls: n}
			w.late[st.Method] = x
			w.pending[st.Method.Class] = append(w.pending[st.Method.Class], x)
		}
	}
}

// lateInForce notes when late methods have got their probes.
func (l *loop) lateInForce() {
	w := l.s.watching
	for class, xs := range w.pending {
		if l.pending(class) {
			continue
		}
		for _, x := range xs {
			x.after, x.inForce = time.Since(l.rec.armed), true
		}
		delete(w.pending, class)
	}
}

// forget takes no method for late that has its probes by now: a recording begins anew.
func (w *observation) forget() {
	maps.DeleteFunc(w.late, func(_ cha.MethodID, x *lateMethod) bool { return x.inForce })
}

// reportLate says in a report what was recorded late.
func (l *loop) reportLate(r *export.Report) {
	w := l.s.watching
	if w == nil {
		return
	}
	r.Late = []export.Late{}
	var names []string
	for _, id := range slices.SortedFunc(maps.Keys(w.late), cha.MethodID.Compare) {
		x := w.late[id]
		r.Late = append(r.Late, export.Late{Method: id.String(), After: x.after, Calls: x.calls})
		names = append(names, id.String())
	}
	if len(names) > 0 {
		r.AddGap("methods were called while recording that had been asleep, or within their reach: they are recorded from some moment on", names)
	}
	if w.failed != nil {
		r.AddGap(fmt.Sprintf("methods that were asleep could not be watched to the end: %v", w.failed), nil)
	}
}
