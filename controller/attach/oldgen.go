package attach

import "strings"

// fullHeap is the share of its room that the old generation uses, in percent, from which on it is taken for full.
const fullHeap = 95

// An OldGeneration is the part of a heap for objects that live long, or all of the heap with a collector that has no
// such part, as the JVM's counters have it (see [Counters]). They are those of the last collection.
type OldGeneration struct {
	Used, Room int64 // bytes; Room is the most that it may get
	Whole      bool  // the last collection was one of the whole heap: what is used is in use, not garbage; always false with ZGC and Shenandoah, which do not tell
}

// OldGenerationOf reads it. ok is false where the counters don't have it. It may be called concurrently.
func OldGenerationOf(counters map[string]any) (g OldGeneration, ok bool) {
	number := func(name string) int64 { n, _ := counters[name].(int64); return n }
	g.Used, g.Room = number("sun.gc.generation.1.space.0.used"), number("sun.gc.generation.1.maxCapacity")
	whole := number("sun.gc.collector.1.lastExitTime")
	// Shenandoah counts each of its cycles as one of the whole heap, and what is used while one goes on.
	name, _ := counters["sun.gc.collector.1.name"].(string)
	g.Whole = whole > 0 && whole >= number("sun.gc.collector.0.lastExitTime") && !strings.HasPrefix(name, "Shenandoah")
	return g, g.Room > 0
}

// Full tells whether it is as good as full. With some collectors that is usual before a collection: see Whole.
func (g OldGeneration) Full() bool { return g.Used >= g.Room/100*fullHeap }
