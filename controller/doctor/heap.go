package doctor

import "github.com/rivulet-profiler/rivulet/controller/attach"

// fullHeap is the share of its room that the old generation uses, in percent, from which on a heap is taken for full.
const fullHeap = 95

// heap warns where memory may run out while the agent is loaded. What the JVM can't do at that moment it may keep as
// failed for good: the initialization of a class of its own, or the linking of a call site (JVMS 5.4.3, 5.5). The
// counters are those of the last collection; a collector without an old generation has none.
func (e *examination) heap() {
	values, err := attach.Counters(e.pid)
	if err != nil {
		return // measures says so
	}
	used, _ := values["sun.gc.generation.1.space.0.used"].(int64)
	room, _ := values["sun.gc.generation.1.maxCapacity"].(int64)
	switch {
	case room <= 0:
	case used >= room/100*fullHeap:
		e.add("heap", Warning, "wait until it has room; rivulet sample, threads and locks load nothing into it",
			"its old generation is full (%d of %d MB): where memory runs out while an agent is loaded, the JVM may keep classes and call sites broken for good", used>>20, room>>20)
	default:
		e.add("heap", OK, "", "its old generation uses %d of %d MB", used>>20, room>>20)
	}
}
