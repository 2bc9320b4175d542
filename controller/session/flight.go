package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/classload"
	"github.com/rivulet-profiler/rivulet/controller/jfr"
	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/controller/locks"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// flightFor is for how long Flight Recorder records beside. It ends then by itself, also if neither this process nor the
// agent is there any more to end it.
const flightFor = time.Hour

// heapJDK is the first JDK that samples what it puts on the heap.
const heapJDK = 16

// A flight is a recording of Flight Recorder's beside one of ours, for what our probes can't tell.
type flight struct {
	recording *attach.Recording
	of        []string // what it is to tell, as in "class loads"
	notes     []string // what the report's reader has to know of it

	began, ended int64 // between which the recording was on, ns since 1970
}

// flightEvents are the events that recordings with these metrics need.
var flightEvents = []struct {
	row    metric.Metric
	what   string
	from   int    // the first JDK that has them; 0 is all
	name   string // of the setting of each event that matters
	value  string
	events []string
}{
	{metric.ClassLoads, "how long class loads took", 0, "threshold", "0 ns", []string{classload.Event}},
	{metric.LockWaits, "who waited for locks", 0, "threshold", "0 ns", []string{locks.MonitorEnter, locks.ThreadPark}},
	{metric.HeapBytes, "what was allocated on the heap", heapJDK, "throttle", "1000/s", []string{jfr.AllocationSample}}, // profile.jfc has 300/s
}

// startFlight has Flight Recorder tell what the recording wants. What a JVM without it can't tell, the report says.
func (s *Session) startFlight(ctx context.Context) {
	var events []attach.EventSetting
	for _, w := range flightEvents {
		if s.metrics.Index(w.row.Name) < 0 {
			continue
		}
		if s.proc.Major() < w.from {
			s.noteFlight(fmt.Sprintf("It is not known %s: JVMs tell that from JDK %d on.", w.what, w.from))
			continue
		}
		s.flight.of = append(s.flight.of, w.what)
		for _, e := range w.events {
			events = append(events, attach.EventSetting{Event: e, Settings: map[string]string{w.name: w.value, "stackTrace": "true"}})
		}
	}
	if len(events) == 0 {
		return
	}
	s.stage.begin("starting Flight Recorder", 0)
	if err := s.openFlight(ctx, events); err != nil {
		s.noteFlight(s.flight.unknown(err))
	}
}

func (s *Session) noteFlight(text string) {
	_ = s.do(s.ctx, func() { s.loop.stats.notes = append(s.loop.stats.notes, text) }) // it has ended
}

func (f *flight) unknown(err error) string {
	text := strings.Join(f.of, ", and ")
	return fmt.Sprintf("It is not known %s: %v.", text, err)
}

func (s *Session) openFlight(ctx context.Context, events []attach.EventSetting) (err error) {
	vm := s.vm
	if vm == nil { // a program that was launched
		if vm, err = attach.Open(ctx, s.proc.PID); err != nil {
			return err
		}
	}
	if s.flight.recording, err = vm.StartRecordingToExit(ctx, events, flightFor); err != nil {
		return err
	}
	return s.do(ctx, func() { s.loop.send(&link.Flight{Recording: s.flight.recording.Name()}) })
}

// endFlight ends Flight Recorder's recording, and reads of it what needs no tree. [Session.dropFlight] has to follow.
func (s *Session) endFlight(ctx context.Context) {
	f := &s.flight
	if f.recording == nil {
		return
	}
	err := f.recording.Stop(ctx)
	if err != nil {
		err = errors.Join(f.recording.Left(), err) // what a JVM writes that exits
	}
	if f.recording.File == nil {
		f.notes = append(f.notes, f.unknown(err))
		return
	}
	f.ended = time.Now().UnixNano()
	f.began = f.ended - (s.now() - s.loop.rec.began)
	if f.ended-f.began > int64(flightFor) {
		f.notes = append(f.notes, fmt.Sprintf("Flight Recorder told %s for %v only.", strings.Join(f.of, ", and "), flightFor))
	}
	read := func(row metric.Metric, by func(context.Context, *jfr.Reader, int64, int64) string) {
		if s.metrics.Index(row.Name) < 0 {
			return
		}
		if note := by(ctx, jfr.NewReader(f.recording.File, f.recording.Size, jfr.Options{}), f.began, f.ended); note != "" {
			f.notes = append(f.notes, note)
		}
	}
	read(metric.ClassLoads, s.loadTimes.read)
	read(metric.LockWaits, s.contention.read)
}

// dropFlight removes Flight Recorder's recording, if there is one.
func (s *Session) dropFlight() {
	r := s.flight.recording
	if r == nil {
		return
	}
	s.flight.recording = nil
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := r.Remove(ctx); err != nil {
		s.log.Debug("Flight Recorder's recording", "error", err)
	}
}
