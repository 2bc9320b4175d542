package pauses

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

// Safepoints are how long a JVM's safepoints stop all threads while classes are
// being redefined, by hsperfdata (sun.rt.safepointTime). Collections, of which
// there are many when a program runs under load, have their own times there
// (sun.gc.collector.N.time), which are taken off. What ended between two looks
// counts as one pause: an upper bound.
// A nil one sees nothing. It is safe for concurrent use.
type Safepoints struct {
	frequency float64  // of its ticks, Hz
	gc        []string // the counters of the collectors' times

	mu             sync.Mutex
	from           counterSource // nil after the end
	on             chan struct{} // closed to end the watching; nil while nobody watches
	stopped, spent int64         // ticks as of the last look
	longest, total time.Duration // since the last lap
}

// newSafepoints is nil where a JVM lacks the counters.
func newSafepoints(from counterSource) *Safepoints {
	if from.Read() != nil || !from.Has("sun.rt.safepointTime") || from.Value("sun.os.hrt.frequency") <= 0 {
		return nil
	}
	p := &Safepoints{from: from, frequency: float64(from.Value("sun.os.hrt.frequency"))}
	for i := range mostCollectors {
		if name := fmt.Sprintf("sun.gc.collector.%d.time", i); from.Has(name) {
			p.gc = append(p.gc, name)
		}
	}
	p.look()
	p.longest, p.total = 0, 0
	return p
}

// Watch has the counters read often, or no longer.
func (p *Safepoints) Watch(on bool) {
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

func (p *Safepoints) look() {
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

// Lap yields the longest pause since the last lap, and all of them; known is
// whether that can be.
func (p *Safepoints) Lap() (longest, total time.Duration, known bool) {
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

// OpenSafepoints looks at a target's counters. It is nil where there are none.
func OpenSafepoints(pid int) *Safepoints {
	file, err := attach.OpenCounters(pid)
	if err != nil {
		return nil
	}
	defer file.Close()
	w, err := file.Watch()
	if err != nil {
		return nil
	}
	p := newSafepoints(w)
	if p == nil {
		_ = w.Close()
	}
	return p
}

// End ends the watching for good. Its error is that of closing the counters' file.
func (p *Safepoints) End() error {
	if p == nil {
		return nil
	}
	p.Watch(false)
	p.mu.Lock()
	defer p.mu.Unlock()
	from := p.from
	p.from = nil
	if c, ok := from.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
