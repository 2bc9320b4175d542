package doctor

import "github.com/rivulet-profiler/rivulet/controller/attach"

// heap warns where memory may run out while the agent is loaded. What the JVM can't do at that moment it may keep as
// failed for good: the initialization of a class of its own, or the linking of a call site (JVMS 5.4.3, 5.5). The
// counters are those of the last collection; a collector without an old generation has none.
func (e *examination) heap() {
	values, err := attach.Counters(e.pid)
	if err != nil {
		return // measures says so
	}
	old, ok := attach.OldGenerationOf(values)
	switch advice := "wait until it has room; rivulet sample, threads and locks load nothing into it"; {
	case !ok:
	case old.Full() && old.Whole:
		e.add("heap", Warning, advice+"; the agent is not loaded without --full-heap",
			"its old generation was still full after a full collection (%d of %d MB): where memory runs out while an agent is loaded, the JVM may keep classes and call sites broken for good", old.Used>>20, old.Room>>20)
	case old.Full():
		e.add("heap", Warning, advice,
			"its old generation is full (%d of %d MB), perhaps of garbage: where memory runs out while an agent is loaded, the JVM may keep classes and call sites broken for good", old.Used>>20, old.Room>>20)
	default:
		e.add("heap", OK, "", "its old generation uses %d of %d MB", old.Used>>20, old.Room>>20)
	}
}
