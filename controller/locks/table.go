package locks

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// A Row is one lock with one context of waiters and one of owners.
type Row struct {
	Class    string `json:"class"`
	Instance string `json:"instance"` // an address; objects may move at a collection
	Waiter   string `json:"waiter"`   // the method that waits
	Owner    string `json:"owner"`    // the method that the owner runs, or had entered the lock in; "" if not known
	Count    int64  `json:"count"`    // waits
	Blocked  int64  `json:"blocked_ns"`
	Error    int64  `json:"error_ns"` // 95 % of estimates are within it; 0 if they are none

	OwnerThread string   `json:"owner_thread"` // "" if not known, or several
	WaiterStack []string `json:"waiter_stack"` // the innermost first, from the waiter on
	OwnerStack  []string `json:"owner_stack"`  // from the owner on
}

// mostRows bounds a table. What comes beyond is put together.
const mostRows = 20_000

// A Table adds waits up.
type Table struct {
	rows  map[string]*Row
	seen  map[*Row]*estimate
	other *Row

	shorts map[*string][]string // of stacks, by their first frame's place
}

type estimate struct {
	squares float64 // of the times that single observations stand for, ns²
}

// row is the row of a lock and two contexts.
func (t *Table) row(r Row) *Row {
	key := strings.Join([]string{r.Class, r.Instance, strings.Join(r.WaiterStack, "\n"), strings.Join(r.OwnerStack, "\n")}, "\x00")
	if t.rows == nil {
		t.rows, t.seen = map[string]*Row{}, map[*Row]*estimate{}
	}
	if have := t.rows[key]; have != nil {
		if have.OwnerThread != r.OwnerThread {
			have.OwnerThread = ""
		}
		return have
	}
	if len(t.rows) >= mostRows {
		if t.other == nil {
			t.other = &Row{Class: "(others)"}
		}
		return t.other
	}
	r.Waiter, r.Owner = first(r.WaiterStack), first(r.OwnerStack)
	t.rows[key] = &r
	return &r
}

func first(stack []string) string {
	if len(stack) == 0 {
		return ""
	}
	return stack[0]
}

// observe adds a moment at which somebody waited; it stands for some ns. fresh says that
// the wait was not seen before.
func (t *Table) observe(r Row, ns int64, fresh bool) {
	row := t.row(r)
	row.Blocked += ns
	if fresh {
		row.Count++
	}
	e := t.seen[row]
	if e == nil {
		e = &estimate{}
		t.seen[row] = e
	}
	e.squares += float64(ns) * float64(ns)
	row.Error = int64(1.96 * math.Sqrt(e.squares))
}

// Rows are the rows, those with the longest waits first.
func (t *Table) Rows() []Row {
	out := []Row{}
	for _, r := range t.rows {
		out = append(out, *r)
	}
	if t.other != nil {
		out = append(out, *t.other)
	}
	slices.SortFunc(out, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Blocked, a.Blocked), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Instance, b.Instance),
			slices.Compare(a.WaiterStack, b.WaiterStack), slices.Compare(a.OwnerStack, b.OwnerStack))
	})
	for i := range out {
		if out[i].WaiterStack == nil {
			out[i].WaiterStack = []string{}
		}
		if out[i].OwnerStack == nil {
			out[i].OwnerStack = []string{}
		}
	}
	return out
}

// parking are the frames below which a thread parks, by the beginnings of their names.
var parking = []string{
	"sun.misc.Unsafe.park", "jdk.internal.misc.Unsafe.park", "java.util.concurrent.locks.LockSupport.",
	"java.lang.VirtualThread.", "java.lang.System$", "jdk.internal.vm.Continuation.",
}

func starts(frame string, with ...string) bool {
	return slices.ContainsFunc(with, func(p string) bool { return strings.HasPrefix(frame, p) })
}

// parked is the stack of a thread that parks, from the one on that wants the lock; nil if it
// waits for something else.
func parked(stack []string) []string {
	for len(stack) > 0 && starts(stack[0], parking...) {
		stack = stack[1:]
	}
	const locks = "java.util.concurrent.locks."
	if len(stack) == 0 || !starts(stack[0], locks+"StampedLock.", locks+"AbstractQueuedSynchronizer.acquire", locks+"AbstractQueuedLongSynchronizer.acquire",
		locks+"AbstractQueuedSynchronizer.doAcquire", locks+"AbstractQueuedLongSynchronizer.doAcquire",
		locks+"AbstractQueuedSynchronizer.parkAndCheckInterrupt", locks+"AbstractQueuedLongSynchronizer.parkAndCheckInterrupt") {
		return nil
	}
	for len(stack) > 0 && starts(stack[0], locks, "java.util.concurrent.Semaphore") {
		stack = stack[1:]
	}
	if len(stack) == 0 || starts(stack[0], "java.util.concurrent.CountDownLatch", "java.util.concurrent.ThreadPoolExecutor") {
		return nil // waits until something has happened, not for an owner
	}
	return stack
}

// ofJDK tells whether a frame is of the JDK's own code.
func ofJDK(frame string) bool {
	return starts(frame, "java.", "javax.", "jdk.", "sun.", "com.sun.")
}

// outside is a stack from its first frame on that is not the JDK's; the whole one if there is none.
func outside(stack []string) []string {
	for i, f := range stack {
		if !ofJDK(f) {
			return stack[i:]
		}
	}
	return stack
}
