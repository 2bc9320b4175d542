package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/classload"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/jfr"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// loadTimesFor is for how long Flight Recorder times class loads. It ends then by itself, also if nobody is
// there any more to end it.
const loadTimesFor = time.Hour

// loadTimes has Flight Recorder time class loads beside a recording, where that counts them. It knows no context of
// ours, the load hook has no times, and hidden classes do not come by it: both are put together.
type loadTimes struct {
	recording *attach.Recording
	loads     []classload.Load // once it has ended
	began     int64            // of the recording, ns since 1970
	known     bool
}

// startLoadTimes does so. A JVM without Flight Recorder has no times, which the report says.
func (s *Session) startLoadTimes(ctx context.Context) {
	if s.metrics.Index(metric.ClassLoads.Name) < 0 {
		return
	}
	s.stage.begin("starting Flight Recorder", 0)
	err := s.openLoadTimes(ctx)
	if err != nil {
		s.noteLoads(fmt.Sprintf("How long class loads took is not known: %v.", err))
	}
}

func (s *Session) openLoadTimes(ctx context.Context) (err error) {
	vm := s.vm
	if vm == nil { // a program that was launched
		if vm, err = attach.Open(ctx, s.proc.PID); err != nil {
			return err
		}
	}
	s.loadTimes.recording, err = vm.StartRecordingToExit(ctx, []attach.EventSetting{
		{Event: classload.Event, Settings: map[string]string{"threshold": "0 ns", "stackTrace": "true"}},
	}, loadTimesFor)
	return err
}

func (s *Session) noteLoads(text string) {
	_ = s.do(s.ctx, func() { s.loop.stats.notes = append(s.loop.stats.notes, text) })
}

// endLoadTimes ends Flight Recorder's recording, and reads it. It returns what the report's reader has to know.
func (s *Session) endLoadTimes(ctx context.Context) (note string) {
	t := &s.loadTimes
	if t.recording == nil {
		return ""
	}
	defer s.dropLoadTimes()
	err := t.recording.Stop(ctx)
	if err != nil {
		err = errors.Join(t.recording.Left(), err) // what a JVM writes that exits
	}
	if t.recording.File == nil {
		return fmt.Sprintf("How long class loads took is not known: %v.", err)
	}
	now := s.now()
	t.began = time.Now().UnixNano() - (now - s.loop.rec.began)
	var lost int64
	t.loads, lost, err = classload.Events(ctx, jfr.NewReader(t.recording.File, t.recording.Size, jfr.Options{}), t.began, time.Now().UnixNano())
	t.known = err == nil || len(t.loads) > 0
	switch {
	case err != nil:
		return fmt.Sprintf("Flight Recorder's account of class loads is not whole: %v.", err)
	case lost > 0:
		return fmt.Sprintf("Flight Recorder's account of class loads lacks the last %s.", export.Plural(lost, "load", "loads"))
	}
	return ""
}

// loadWaits are the waits of the loads so far.
func (s *Session) loadWaits(ctx context.Context) (waits []int64) {
	look := func() { waits = s.loop.loads.waited(s.data.SuspendedAt) }
	if s.do(ctx, look) != nil && s.ctx.Err() != nil {
		s.wg.Wait() // the loop has ended
		look()
	}
	return waits
}

// dropLoadTimes removes Flight Recorder's recording, if there is one.
func (s *Session) dropLoadTimes() {
	r := s.loadTimes.recording
	if r == nil {
		return
	}
	s.loadTimes.recording = nil
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := r.Remove(ctx); err != nil {
		s.log.Debug("Flight Recorder's recording", "error", err)
	}
}

// A loadKey tells loads apart that both sides know.
type loadKey struct {
	thread int64
	class  string
}

// time adds to loads how long they took, less what their threads waited for the profiler. It returns a copy, and the
// loads that only Flight Recorder has seen.
func (t *loadTimes) time(list []loadAt, waits []int64) (timed []loadAt, rest []classload.Load) {
	if !t.known {
		return list, nil
	}
	timed = slices.Clone(list)
	at := map[loadKey][]int{}
	for i, k := range timed {
		key := loadKey{k.thread, k.Class}
		at[key] = append(at[key], i)
	}
	mine := make([]int, len(t.loads))
	own := make([]int64, len(t.loads)) // waits of a load's own
	for j, l := range t.loads {
		key := loadKey{l.Thread, l.Class}
		mine[j] = -1
		if queue := at[key]; len(queue) > 0 {
			mine[j], at[key] = queue[0], queue[1:]
			if mine[j] < len(waits) {
				own[j] = min(waits[mine[j]], l.Own) // a later wait of the thread's may be in it
			}
		}
	}
	all := make([]int64, len(t.loads))       // a load takes its own time, and that of the loads inside of it
	for j := len(t.loads) - 1; j >= 0; j-- { // what is inside comes later
		all[j] += max(t.loads[j].Own-own[j], 0)
		if in := t.loads[j].Inside(); in >= 0 {
			all[in] += all[j]
		}
	}
	for j, l := range t.loads {
		took, self := all[j], max(l.Own-own[j], 0)
		if i := mine[j]; i >= 0 {
			timed[i].Took, timed[i].Own = took, self
			continue
		}
		if l.Defined {
			l.End, l.Own = l.Start+took, self
			rest = append(rest, l)
		}
	}
	return timed, rest
}

// report adds what Flight Recorder alone knows to a report that has its tree.
func (t *loadTimes) report(r *export.Report, rest []classload.Load, note string) {
	if note != "" {
		r.Notes = append(r.Notes, note)
	}
	if !t.known {
		return
	}
	if r.Loads == nil {
		r.Loads = &export.ClassLoads{}
	}
	r.Loads.Timed = true
	c := newContexts(r)
	found := map[*cct.Node]*cct.Loads{}
	for _, l := range rest {
		n, inside := c.of(&l)
		switch {
		case n != nil:
			r.Loads.Inside++
			if found[n] == nil {
				found[n] = &cct.Loads{}
			}
			found[n].List = append(found[n].List, cct.Load{Class: l.Class, Loader: l.Loader, At: l.Start - t.began, Took: l.End - l.Start, Own: l.Own})
		case inside:
			r.Loads.Unplaced++
		}
	}
	for n, list := range found {
		n.Loaded(list)
	}
	for _, th := range r.Tree.Threads {
		cct.Totals(th.Roots)
	}
}
