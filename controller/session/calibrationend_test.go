package session

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/rivulet-profiler/rivulet/calibrate"
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
		{"soon", 50 * time.Millisecond, []calibrate.Batch{good, good, good, good}, calibrationSteady, true},
		{"steady", 200 * time.Millisecond, []calibrate.Batch{dear, good, good, good}, calibrationSteady, false},
		{"steady, not compiled", 200 * time.Millisecond, []calibrate.Batch{dear, dear, dear, dear}, calibrationSteady, true},
		{"late, not compiled", time.Second, []calibrate.Batch{dear, dear, dear, dear}, 0, true},
		{"late", time.Second, []calibrate.Batch{dear, good, good, good}, 0, false},
		{"too late", 3 * time.Second, []calibrate.Batch{dear, dear, dear, dear}, 0, false},
	} {
		k := calibration{mode: wire.ModeTick, begin: time.Now().Add(-c.passed), batches: c.batches, best: 1, steady: c.steady - 1}
		if goes := k.take(c.batches[len(c.batches)-1]) != 0; goes != c.goes {
			t.Errorf("%s: goes on %v, want %v", c.name, goes, c.goes)
		}
	}
}

// TestCalibrationSilent: nobody waits for ever for an agent that has given up
// measuring and can't say so, unless it has other work first.
func TestCalibrationSilent(t *testing.T) {
	var log bytes.Buffer
	s := &Session{data: shm.InMemory(make([]byte, wire.OffNodes)), log: hclog.New(&hclog.LoggerOptions{Output: &log})}
	l := &s.loop
	l.s = s
	silent := func(c calibration) (ended, open bool) {
		c.done = func() { ended = true }
		l.calibration = c
		s.data.Open()
		l.checkCalibration()
		return ended, s.data.IsOpen()
	}
	long := time.Now().Add(-calibrationSilent)
	for name, c := range map[string]calibration{
		"soon": {heard: time.Now()},
		"held": {heard: long, held: long},
	} {
		if ended, _ := silent(c); ended {
			t.Errorf("%s: given up", name)
		}
	}
	l.round = &round{}
	if ended, _ := silent(calibration{heard: long}); ended {
		t.Error("given up while the agent redefines classes")
	}
	l.round = nil
	l.checkCalibration()
	if l.calibration.done == nil {
		t.Error("given up as soon as the agent could come to it")
	}
	if log.Len() > 0 {
		t.Errorf("logged %s", &log)
	}
	if ended, open := silent(calibration{heard: long, mode: wire.ModeTick}); !ended || open || len(l.costs) > 0 || !strings.Contains(log.String(), "[WARN]") {
		t.Errorf("ended %v, gate open %v, costs %v, logged %q", ended, open, l.costs, &log)
	}
	if ended, open := silent(calibration{heard: long, beside: true}); !ended || !open {
		t.Errorf("beside a recording: ended %v, its gate open %v", ended, open)
	}
}
