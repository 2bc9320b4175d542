package pauses

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/event"
)

// gcEvery is how often the collectors' counters are read where events are
// recorded, 10 µs each time; gcSeldom is how often they are elsewhere.
const (
	gcEvery  = 5 * time.Millisecond
	gcSeldom = 20 * time.Millisecond
)

// mostCollectors bounds those that are looked for; HotSpot has three at most.
const mostCollectors = 8

// A counterSource are counters of the target, [attach.CounterWatch].
type counterSource interface {
	Has(name string) bool
	Read() error
	Value(name string) int64
	Text(name string) string
}

// A gcWatch makes marks of what a JVM's collectors say of themselves in
// hsperfdata (sun.gc.collector.N.invocations, time, lastEntryTime,
// lastExitTime), without anything in the target. Their times are on the JVM's
// own time base, ns since it began; where that lies on nanoTime no counter says.
// It is found by elimination: what has changed between two looks has happened
// between them. One goroutine at a time uses it.
type gcWatch struct {
	from       counterSource
	collectors []collector
	frequency  float64
	ticks      int64 // sun.os.hrt.ticks, until JDK 24 written every 50 ms

	looked int64 // on nanoTime, when the last look began; 0 before the first
	lo, hi int64 // bounds of what is to be added to the JVM's times
	known  bool
}

type collector struct {
	prefix, name                   string
	invocations, time, entry, exit int64 // as of the last look, the last three in ns
	done                           int64 // invocations that have ended and have their mark
}

// newCollectors looks which collectors there are. names are the counters that are
// texts.
func newCollectors(from counterSource, names map[string]any) (*gcWatch, error) {
	g := &gcWatch{from: from, frequency: 1e9}
	if err := from.Read(); err != nil {
		return nil, err
	}
	if f := from.Value("sun.os.hrt.frequency"); f > 0 {
		g.frequency = float64(f)
	}
	for i := range mostCollectors {
		prefix := fmt.Sprintf("sun.gc.collector.%d.", i)
		if !from.Has(prefix+"invocations") || !from.Has(prefix+"time") || !from.Has(prefix+"lastEntryTime") || !from.Has(prefix+"lastExitTime") {
			continue
		}
		c := collector{prefix: prefix}
		c.name, _ = names[prefix+"name"].(string)
		if c.name == "" {
			c.name = fmt.Sprint("collector ", i)
		}
		g.collectors = append(g.collectors, c)
	}
	if len(g.collectors) == 0 {
		return nil, errors.New("its collectors have no counters")
	}
	return g, nil
}

func (g *gcWatch) ns(counter string) int64 {
	return int64(float64(g.from.Value(counter)) / g.frequency * 1e9)
}

// look reads the counters. begin and end are when it does so, on nanoTime; add
// gets the marks, whose times are the JVM's own.
func (g *gcWatch) look(now func() int64, add func(event.Mark)) error {
	begin := now()
	if err := g.from.Read(); err != nil {
		return err
	}
	end := now()
	first := g.looked == 0
	if t := g.ns("sun.os.hrt.ticks"); t != g.ticks {
		if g.ticks = t; !first {
			g.bound(t, end)
		}
	}
	for i := range g.collectors {
		g.one(&g.collectors[i], first, end, add)
	}
	g.looked = begin
	return nil
}

// bound narrows down where the JVM's time lies: at ns was between the last two
// looks.
func (g *gcWatch) bound(ns, end int64) {
	lo, hi := g.looked-ns, end-ns
	if !g.known || lo > g.hi || hi < g.lo { // the first, or clocks that don't go together
		g.lo, g.hi, g.known = lo, hi, true
		return
	}
	g.lo, g.hi = max(g.lo, lo), min(g.hi, hi)
}

// one makes a mark of what a collector has done since the last look.
func (g *gcWatch) one(c *collector, first bool, end int64, add func(event.Mark)) {
	was := *c
	c.invocations, c.time = g.from.Value(c.prefix+"invocations"), g.ns(c.prefix+"time")
	c.entry, c.exit = g.ns(c.prefix+"lastEntryTime"), g.ns(c.prefix+"lastExitTime")
	if first {
		c.done = c.invocations
		if c.entry > c.exit {
			c.done-- // under way
		}
		return
	}
	if c.entry != was.entry {
		g.bound(c.entry, end)
	}
	if c.exit == was.exit {
		return
	}
	g.bound(c.exit, end)
	ended := c.invocations
	if c.entry > c.exit {
		ended-- // the next one is under way already
	}
	n, took := ended-c.done, c.time-was.time
	c.done = ended
	if n <= 0 || took < 0 {
		return // read while it was written: the next look has it
	}
	mark := event.Mark{Kind: event.GC, Name: c.name, Start: c.exit - took, Took: took, Count: n, Pause: took}
	if c.entry <= c.exit {
		mark.Cause = g.cause(c)
	}
	if n == 1 && c.entry <= c.exit {
		mark.Start, mark.Took = c.entry, c.exit-c.entry
		mark.Pause = mark.Took
	} else if n > 1 { // where the others lie, nobody knows
		mark.Off = max(c.exit-took-was.exit, 0)
	}
	if !countsPauses(c.name) {
		mark.Pause = -1
	}
	add(mark)
}

// noCause is what HotSpot's counters say while no collection is under way.
const noCause = "No GC"

// cause is that of the collection of a collector that has just ended. HotSpot
// sets the cause before a collection, and moves it to lastCause after it. G1's
// pauses within a concurrent cycle set none: what is there is another's.
func (g *gcWatch) cause(c *collector) string {
	if strings.HasPrefix(c.name, "G1") && strings.Contains(c.name, "concurrent") {
		return "G1 concurrent cycle"
	}
	for _, name := range []string{"sun.gc.cause", "sun.gc.lastCause"} {
		if text := g.from.Text(name); text != "" && text != noCause {
			return text
		}
	}
	return ""
}

// offset is what is to be added to the JVM's times, and how far it may be off.
func (g *gcWatch) offset() (add, off int64, known bool) {
	return g.lo + (g.hi-g.lo)/2, (g.hi - g.lo + 1) / 2, g.known
}
