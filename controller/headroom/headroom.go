// Package headroom keeps a recording from taking the memory that a container has left.
//
// A container's processes share a limit, that of their control group. Where it is reached, the kernel
// kills one of them, most often the largest, which is the JVM; on Kubernetes it may kill all of them. A target
// takes some memory for classes that are redefined, and where Rivulet runs in the target's container, all that it needs
// counts there, too.
package headroom

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"time"
)

// analysis and analysisOfClass are what a session takes in this process, in bytes: for itself, and for each class that the
// target has loaded. A server with 5,500 classes could be recorded with 250 MB, not with 200; programs with 800 with 50.
const (
	analysis        = 8 << 20
	analysisOfClass = 36 << 10
)

// Enough tells whether this process may take what a session takes whose target has loaded so many classes: need is that, in bytes,
// and left what there is. It is true where there is no limit. Any goroutine may call it.
func Enough(classes int64) (need, left int64, ok bool) {
	need = analysis + classes*analysisOfClass
	m, limited := Of(os.Getpid())
	if limited && m.Left < need {
		debug.FreeOSMemory() // what an earlier session had
		m, limited = Of(os.Getpid())
	}
	return need, m.Left, !limited || m.Left >= need
}

// A Watch looks at the memory that control groups leave to this process and to a target. One goroutine at a
// time uses it.
type Watch struct {
	groups []*watched
	govern bool // Go's memory limit follows what is left
}

// watched is the group of one process, of those that have a limit.
type watched struct {
	whose   string
	pid     int
	reserve int64
}

const (
	// mostReserve is what is kept free at the most, in bytes: restoring a large subgraph's classes takes some 20 MB.
	mostReserve = 32 << 20
	// reservePart is the part of a limit that is kept free where that is less.
	reservePart = 8
	// leastHeap is a memory limit below which Go's collector would do nothing but collect.
	leastHeap = 24 << 20
	// heapPart is the part of what is left that Go's heap may take before the next look: the tree grows meanwhile.
	heapPart = 2
)

// New begins to watch, with what is left now: an eighth of the limit is kept free, 32 MB at the most, but no more than half
// of what is left. It is nil where nobody has a limit.
func New(target int) *Watch {
	w := &Watch{govern: os.Getenv("GOMEMLIMIT") == ""}
	for _, g := range []*watched{{whose: "the target's", pid: target}, {whose: "Rivulet's", pid: os.Getpid()}} {
		if m, limited := Of(g.pid); limited {
			g.reserve = min(mostReserve, m.Limit/reservePart, max(m.Left, 0)/2)
			w.groups = append(w.groups, g)
		}
	}
	if len(w.groups) == 0 {
		return nil
	}
	return w
}

// Look says whose limit is near, and how much is left: "" while there is enough. It also tells Go's collector how
// much this process may take, unless GOMEMLIMIT does. It is to be called some times a second.
func (w *Watch) Look() string {
	text := w.look()
	if text == "" {
		return ""
	}
	if w.govern { // what goes on meanwhile is to take no more than it must
		debug.SetMemoryLimit(leastHeap)
	}
	debug.FreeOSMemory() // which may have been all
	return w.look()
}

// Close lets Go's heap grow as usual again.
func (w *Watch) Close() {
	if w.govern {
		debug.SetMemoryLimit(math.MaxInt64)
	}
}

func (w *Watch) look() string {
	for _, g := range w.groups {
		m, limited := Of(g.pid)
		if !limited {
			continue
		}
		if m.Left < g.reserve {
			return fmt.Sprintf("the memory limit of %s container is near: %d of %d MB are left", g.whose, max(m.Left, 0)>>20, m.Limit>>20)
		}
		if w.govern && g.pid == os.Getpid() {
			debug.SetMemoryLimit(max(leastHeap, taken()+(m.Left-g.reserve)/heapPart))
		}
	}
	return ""
}

// Every is how often a [Watch] should look.
const Every = 50 * time.Millisecond
