package session

import (
	"fmt"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/shm"
	"github.com/rivulet-profiler/rivulet/hotswap"
)

// A recorder is a kind of recording: what the probes write, and what a session
// reads of it. A tree is the plain kind (treeRecorder); events are a tree whose
// probes write every entry and exit as well (events); a timing has neither
// (timingRecorder). Unless a method says otherwise it is the loop's.
type recorder interface {
	// mode is how a method is recorded whose mode in a tree would be m.
	mode(m byte) byte
	// modes tells whether methods have modes. A kind without modes has no tree
	// either: it can't be paused, reset or looked at.
	modes() bool
	// reserve makes the room that a method needs before it gets its probes, or gives
	// it a reason why it has none.
	reserve(m *hotswap.Method)
	// implementations tells whether a root in an interface, or an abstract one,
	// stands for those implementations of it that are yet to be loaded, too.
	implementations() bool
	// again tells whether the probes' cost may be measured while it is on.
	again() bool

	// renew begins anew; the first root invocation is still to come.
	renew(rec Recording)
	// forget leaves what is about to be freed in the data file.
	forget()
	// aside leaves out what a calibration is about to write.
	aside()

	// entered is how many root invocations have begun, of those that were let in.
	entered(admitted int64) int64
	// returned is how many have returned. A kind for which that takes long says 0
	// until all are in that were let in.
	returned() int64
	// progress says how far it is. Whoever holds the mapping may call it.
	progress(p *Progress)

	// far adds to a report so far, which has its tree. Whoever holds the mapping
	// may call it.
	far(r *export.Report, b correctionInputs, rec Recording, began int64)
	// finish adds to the report of a recording that has ended. now is the target's
	// time at the end, 0 where it has gone.
	finish(r *export.Report, b correctionInputs, closed map[int64]int64, now int64) error
}

// A treeRecorder records a calling context tree.
type treeRecorder struct{ s *Session }

func (t treeRecorder) mode(m byte) byte        { return m }
func (t treeRecorder) modes() bool             { return true }
func (t treeRecorder) reserve(*hotswap.Method) {}
func (t treeRecorder) implementations() bool   { return false }
func (t treeRecorder) again() bool             { return true }
func (t treeRecorder) renew(Recording)         {}
func (t treeRecorder) forget()                 {}
func (t treeRecorder) aside()                  {}

func (t treeRecorder) entered(int64) int64 {
	n, _ := t.s.data.Roots()
	return n
}

func (t treeRecorder) returned() int64 {
	_, n := t.s.data.Roots()
	return n
}

func (t treeRecorder) progress(p *Progress) {
	p.Calls, p.Called = t.s.glance.look(t.s.data.Memory())
	p.RootInvocations, _ = t.s.data.Roots()
}

func (t treeRecorder) far(*export.Report, correctionInputs, Recording, int64) {}

func (t treeRecorder) finish(*export.Report, correctionInputs, map[int64]int64, int64) error {
	return nil
}

func (e *events) mode(m byte) byte {
	if with := eventModes[m]; with != 0 {
		return with
	}
	return m
}

// Its calibration would have to be told from the recording in every ring.
func (e *events) again() bool { return false }

func (e *events) finish(r *export.Report, b correctionInputs, closed map[int64]int64, now int64) error {
	same := r.Tree
	if e.s.loop.rec.Follow {
		var err error
		if same, err = cct.ReadWith(e.s.data.Memory(), cct.Options{Now: now, Closed: closed, InPlace: true, Types: e.s.loop.allocations.Types()}); err != nil {
			return err
		}
	}
	e.report(r, same, b, closed, now)
	e.reportTimeline(r, now)
	return nil
}

// A timingRecorder records times of methods, without a tree.
type timingRecorder struct {
	treeRecorder
	*shm.Timers
}

func (t timingRecorder) modes() bool { return false }

func (t timingRecorder) reserve(m *hotswap.Method) {
	if err := t.Reserve(m.ID); err != nil && m.Reason == "" {
		m.Reason = err.Error()
	}
}

func (t timingRecorder) implementations() bool { return true }

func (t timingRecorder) entered(admitted int64) int64 {
	return admitted - max(t.s.data.ToAdmit(), 0)
}

func (t timingRecorder) returned() int64 {
	if t.s.data.ToAdmit() > 0 {
		return 0
	}
	return t.Count()
}

func (t timingRecorder) progress(p *Progress) {
	var top shm.Timed
	p.Called, p.Calls, top = t.Sum()
	p.RootInvocations = p.Calls
	if top.Count > 0 {
		p.Times = fmt.Sprintf("mean %s, p99 %s, max %s", export.Duration(top.Total/top.Count), export.Duration(top.Quantile(0.99)), export.Duration(top.Most))
	}
}

// timed are the cells of a timing; ok is false for another kind.
func (l *loop) timed() (t *shm.Timers, ok bool) {
	if k, ok := l.kind.(timingRecorder); ok {
		return k.Timers, true
	}
	return nil, false
}

// events are those of a recording of that kind, nil for another.
func (l *loop) events() *events {
	e, _ := l.kind.(*events)
	return e
}
