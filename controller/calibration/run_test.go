package calibration

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/rivulet-profiler/rivulet/calibrate"
	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/controller/shm"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// TestCalibrationEnd: what can't be believed is no reason to end, for a while.
func TestCalibrationEnd(t *testing.T) {
	dear := calibrate.Batch{Calls: 1000, Bare: 1000, Probed: 500_000, Callee: 200_000, Caller: 299_000} // not compiled yet
	good := calibrate.Batch{Calls: 100_000, Bare: 100_000, Probed: 600_000, Callee: 200_000, Caller: 400_000}
	for _, c := range []struct {
		name    string
		passed  time.Duration
		batches []calibrate.Batch
		steady  int
		goes    bool
	}{
		{"soon", 50 * time.Millisecond, []calibrate.Batch{good, good, good, good}, steady, true},
		{"steady", 200 * time.Millisecond, []calibrate.Batch{dear, good, good, good}, steady, false},
		{"steady, not compiled", 200 * time.Millisecond, []calibrate.Batch{dear, dear, dear, dear}, steady, true},
		{"late, not compiled", time.Second, []calibrate.Batch{dear, dear, dear, dear}, 0, true},
		{"late", time.Second, []calibrate.Batch{dear, good, good, good}, 0, false},
		{"too late", 3 * time.Second, []calibrate.Batch{dear, dear, dear, dear}, 0, false},
	} {
		k := run{Run: Run{Mode: wire.ModeTick}, begin: time.Now().Add(-c.passed), batches: c.batches, best: 1, steady: c.steady - 1}
		if goes := k.take(c.batches[len(c.batches)-1]) != 0; goes != c.goes {
			t.Errorf("%s: goes on %v, want %v", c.name, goes, c.goes)
		}
	}
}

// TestTimerEnd: a timer costs more than any probe, and charges no node. Its run ends as soon as others do, and says
// nothing of a mode.
func TestTimerEnd(t *testing.T) {
	timed := calibrate.Batch{Calls: 20_000, Bare: 20_000, Probed: 1_100_000}
	dear := calibrate.Batch{Calls: 1000, Bare: 1000, Probed: 2_000_000} // not compiled yet
	for _, c := range []struct {
		name string
		last calibrate.Batch
		goes bool
	}{{"compiled", timed, false}, {"not compiled", dear, true}} {
		k := run{Run: Run{Timer: true}, begin: time.Now().Add(-200 * time.Millisecond), batches: []calibrate.Batch{dear, dear, c.last}, best: 1, steady: steady - 1}
		if goes := k.take(c.last) != 0; goes != c.goes {
			t.Errorf("%s: goes on %v, want %v", c.name, goes, c.goes)
		}
	}
	ended := false
	c, _ := calibrator(io.Discard)
	c.run = run{Run: Run{Timer: true, Done: func() { ended = true }}, batches: []calibrate.Batch{timed, timed}}
	c.end()
	if !ended || len(c.Costs()) != 0 {
		t.Errorf("ended %v, with costs of modes %v", ended, c.Costs())
	}
}

// TestInterpretedEnd: where nothing is ever compiled, what an interpreted probe costs is what all of them cost.
func TestInterpretedEnd(t *testing.T) {
	interpreted := calibrate.Batch{Calls: 1000, Bare: 30_000, Probed: 530_000, Callee: 200_000, Caller: 299_000}
	for _, c := range []struct {
		name string
		run  Run
	}{{"probe", Run{Mode: wire.ModeTick}}, {"timer", Run{Timer: true}}} {
		for _, compiles := range []bool{true, false} {
			k := run{Run: c.run, interpreted: !compiles, begin: time.Now().Add(-200 * time.Millisecond), best: 1, steady: steady - 1}
			k.batches = []calibrate.Batch{interpreted, interpreted, interpreted}
			if goes := k.take(interpreted) != 0; goes != compiles {
				t.Errorf("%s, the JVM compiles %v: goes on %v", c.name, compiles, goes)
			}
		}
	}
}

// A fakeHost is a session that does as the test says, and keeps what the agent is sent.
type fakeHost struct {
	sent              []*link.Calibrate
	redefines, leaves bool
}

func (h *fakeHost) Send(c link.Command) { h.sent = append(h.sent, c.(*link.Calibrate)) }
func (h *fakeHost) Now() int64          { return 1 }
func (h *fakeHost) Redefines() bool     { return h.redefines }
func (h *fakeHost) Leaves() bool        { return h.leaves }
func (h *fakeHost) Aside()              {}

func calibrator(log io.Writer) (*Calibrator, *fakeHost) {
	h := &fakeHost{}
	data := shm.InMemory(make([]byte, wire.OffNodes))
	return New(h, data, []byte("plain"), hclog.New(&hclog.LoggerOptions{Output: log})), h
}

// TestSilent: nobody waits for ever for an agent that has given up
// measuring and can't say so, unless it has other work first.
func TestSilent(t *testing.T) {
	var log bytes.Buffer
	c, h := calibrator(&log)
	silentFor := func(r run) (ended, open bool) {
		r.Done = func() { ended = true }
		c.run = r
		c.data.Open()
		c.Check()
		return ended, c.data.IsOpen()
	}
	long := time.Now().Add(-silent)
	for name, r := range map[string]run{
		"soon": {heard: time.Now()},
		"held": {heard: long, held: long},
	} {
		if ended, _ := silentFor(r); ended {
			t.Errorf("%s: given up", name)
		}
	}
	h.redefines = true
	if ended, _ := silentFor(run{heard: long}); ended {
		t.Error("given up while the agent redefines classes")
	}
	h.redefines = false
	c.Check()
	if !c.On() {
		t.Error("given up as soon as the agent could come to it")
	}
	if log.Len() > 0 {
		t.Errorf("logged %s", &log)
	}
	if ended, open := silentFor(run{Run: Run{Mode: wire.ModeTick}, heard: long}); !ended || open || len(c.Costs()) > 0 || !strings.Contains(log.String(), "[WARN]") {
		t.Errorf("ended %v, gate open %v, costs %v, logged %q", ended, open, c.Costs(), &log)
	}
	if ended, open := silentFor(run{Run: Run{Beside: true}, heard: long}); !ended || !open {
		t.Errorf("beside a recording: ended %v, its gate open %v", ended, open)
	}
}

// TestYields: the agent leaves the sample for another command, and comes back behind it, with as many calls as it would have
// had; what comes of an earlier run is not taken; an agent that was told to go gets no batch any more.
func TestYields(t *testing.T) {
	c, h := calibrator(io.Discard)
	c.data.Open()
	ended := false
	c.Begin(Run{Mode: wire.ModeOff, Done: func() { ended = true }}, []byte("probed"))
	if len(h.sent) != 1 || h.sent[0].Calls != firstCalls || string(h.sent[0].Plain) != "plain" || string(h.sent[0].Probed) != "probed" || !c.On() {
		t.Fatalf("%+v", h.sent)
	}
	batch := func() *link.Calibrated {
		return &link.Calibrated{Number: h.sent[0].Number, Calls: 100_000, Bare: 100_000, Probed: 600_000}
	}
	next := c.Took(batch())
	if next == 0 || c.Took(&link.Calibrated{Number: 77, Calls: 1}) != 0 || len(c.Batches()) != 1 {
		t.Fatalf("next %d, %d batches", next, len(c.Batches()))
	}
	h.redefines = true // a round is under way: the agent is let go
	if got := c.Took(batch()); got != 0 || len(h.sent) != 1 {
		t.Fatalf("%d, sent %d", got, len(h.sent))
	}
	if c.Resume(); len(h.sent) != 1 {
		t.Fatal("called back while classes are redefined")
	}
	h.redefines = false
	if c.Resume(); len(h.sent) != 2 || h.sent[1].Calls != next || h.sent[1].Probed != nil {
		t.Fatalf("%+v", h.sent[len(h.sent)-1])
	}
	c.Yield() // another command was sent: the agent is called back behind it, at once
	if got := c.Took(batch()); got != 0 || len(h.sent) != 3 {
		t.Fatalf("%d, sent %d", got, len(h.sent))
	}
	if h.leaves = true; c.Took(batch()) != 0 || ended || !c.On() {
		t.Error("a run goes on, or has ended, in an agent that leaves")
	}
}
