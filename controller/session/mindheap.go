package session

import (
	"fmt"

	"github.com/rivulet-profiler/rivulet/controller/attach"
)

// mindHeap refuses a target whose memory is about to run out. A JVM that publishes no counters is not refused.
func (c *Config) mindHeap(pid int, counters map[string]any) error {
	if c.FullHeap {
		return nil
	}
	if old, ok := attach.OldGenerationOf(counters); ok && old.Full() && old.Whole {
		return fmt.Errorf("pid %[1]d: %[2]w: a full collection has left %[3]d of %[4]d MB of its old generation in use. If memory runs out while the agent is loaded, the JVM may keep classes and call sites broken for good. Wait until there is room (after another collection, such as by jcmd %[1]d GC.run, it is known), use rivulet sample, threads or locks, which load nothing, or attach all the same with --full-heap", pid, ErrFullHeap, old.Used>>20, old.Room>>20)
	}
	return nil
}
