package session

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
)

// pauseEvery is how often the JVM's counters are read while classes are being
// redefined: 10 µs each time.
const pauseEvery = time.Millisecond

// A pauseWatch sees how long a JVM's safepoints stop all threads while classes are
// being redefined, by hsperfdata (sun.rt.safepointTime). Collections, of which
// there are many when a program runs under load, have their own times there
// (sun.gc.collector.N.time), which are taken off. What ended between two looks
// counts as one pause: an upper bound.
// A nil one sees nothing.
type pauseWatch struct {
	frequency float64  // of its ticks, Hz
	gc        []string // the counters of the collectors' times

	mu             sync.Mutex
	from           counterSource // nil after the end
	on             chan struct{} // closed to end the watching; nil while nobody watches
	stopped, spent int64         // ticks as of the last look
	longest, total time.Duration // since the last lap
}

// newPauseWatch is nil where a JVM lacks the counters.
func newPauseWatch(from counterSource) *pauseWatch {
	if from.Read() != nil || !from.Has("sun.rt.safepointTime") || from.Value("sun.os.hrt.frequency") <= 0 {
		return nil
	}
	p := &pauseWatch{from: from, frequency: float64(from.Value("sun.os.hrt.frequency"))}
	for i := range mostCollectors {
		if name := fmt.Sprintf("sun.gc.collector.%d.time", i); from.Has(name) {
			p.gc = append(p.gc, name)
		}
	}
	p.look()
	p.longest, p.total = 0, 0
	return p
}

// watch has the counters read often, or no longer.
func (p *pauseWatch) watch(on bool) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.from == nil || on == (p.on != nil) {
		return
	}
	if !on {
		close(p.on)
		p.on = nil
		return
	}
	stop := make(chan struct{})
	p.on = stop
	go func() {
		tick := time.NewTicker(pauseEvery)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				p.mu.Lock()
				if p.from != nil {
					p.look()
				}
				p.mu.Unlock()
			}
		}
	}()
}

func (p *pauseWatch) look() {
	if p.from.Read() != nil {
		return
	}
	stopped, spent := p.from.Value("sun.rt.safepointTime"), int64(0)
	for _, name := range p.gc {
		spent += p.from.Value(name)
	}
	// A collection says what it took before its safepoint ends.
	d, gc := stopped-p.stopped, spent-p.spent
	if d <= 0 {
		return
	}
	if gc > 0 && gc < d { // else the collector counts what it does beside the program
		d -= gc
	}
	p.stopped, p.spent = stopped, spent
	took := time.Duration(float64(d) / p.frequency * 1e9)
	p.longest = max(p.longest, took)
	p.total += took
}

// lap yields the longest pause since the last lap, and all of them; known is
// whether that can be.
func (p *pauseWatch) lap() (longest, total time.Duration, known bool) {
	if p == nil {
		return 0, 0, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.from == nil {
		return 0, 0, false
	}
	p.look()
	longest, total = p.longest, p.total
	p.longest, p.total = 0, 0
	return longest, total, true
}

// openPauses looks at a target's counters. It is nil where there are none.
func openPauses(pid int) *pauseWatch {
	file, err := attach.OpenCounters(pid)
	if err != nil {
		return nil
	}
	defer file.Close()
	w, err := file.Watch()
	if err != nil {
		return nil
	}
	p := newPauseWatch(w)
	if p == nil {
		_ = w.Close()
	}
	return p
}

// end ends the watching for good.
func (p *pauseWatch) end() error {
	if p == nil {
		return nil
	}
	p.watch(false)
	p.mu.Lock()
	defer p.mu.Unlock()
	from := p.from
	p.from = nil
	if c, ok := from.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// beginPauses forgets what was before a redefinition. A JVM that has only just begun
// makes its counters one by one: as long as some lack, they are looked for again.
func (l *loop) beginPauses() {
	if l.pauses == nil {
		l.pauses = openPauses(l.s.proc.PID)
	}
	l.pauses.lap()
}

// endPauses takes what a redefinition of some classes has stopped all threads for.
// It returns the longest pause, -1 where it is not known.
func (l *loop) endPauses(classes int) time.Duration {
	longest, total, known := l.pauses.lap()
	if !known {
		return -1
	}
	l.stats.pauseKnown = true
	l.stats.longestPause = max(l.stats.longestPause, longest)
	l.stats.pauses += total
	l.pace.note(classes, longest)
	return longest
}
