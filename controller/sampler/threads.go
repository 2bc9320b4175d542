package sampler

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/sampler/perf"
	"github.com/rivulet-profiler/rivulet/controller/sampler/unwinder"
)

// Threads are listed again when one is not known, and in any case from time to time, in
// nanoseconds.
const (
	listAfter = 20e6
	listEach  = 1e9
	nameEach  = 5e9
	waitEach  = 30e9 // of threads that wait
	mostKnown = 1 << 17
	mostAsked = 3 // times that a thread which is not in the list is looked for again
)

// A thread is what is known of one of the target's.
type thread struct {
	thread   unwinder.Thread
	asked    int  // how often it was looked for in the list
	listed   bool // by the JVM, as one of Java's
	java     bool // listed, and not for the JVM's own work
	name     string
	own      string // its name in Java, as it was last read for sure
	named    int64  // when
	unsure   bool   // a collection moved objects when its name in Java was to be read
	internal bool   // by its name it does the JVM's own work
	number   int64  // in Java; 0 if it was not asked for, or is not known

	daemon, daemonRead bool // what was read stays
}

// threads are those of the target, by their number in this process's namespace.
type threads struct {
	pid    int
	u      *unwinder.Unwinder
	now    int64
	read   int64
	known  map[int]*thread
	all    bool        // those as well that Java does not know and nothing was seen of
	mapped bool        // the target has numbers of its own
	inner  map[int]int // from those to these
	outer  map[int]int // and back

	lists  int   // how often the JVM's list was read
	sorted []int // what java gives
	stale  bool  // sorted isn't that any more
}

func (t *threads) init(pid int, u *unwinder.Unwinder) {
	t.pid, t.u, t.known, t.read = pid, u, map[int]*thread{}, -listEach
	own, err1 := os.Readlink("/proc/self/ns/pid")
	its, err2 := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid))
	t.mapped = err1 == nil && err2 == nil && own != its
}

// begin begins a batch.
func (t *threads) begin(now int64) {
	t.now = now
	if now-t.read >= listEach {
		t.list()
	}
}

// of returns what is known of a thread.
func (t *threads) of(tid int) *thread {
	k := t.known[tid]
	if k == nil || !k.listed && k.asked < mostAsked {
		if t.now-t.read >= listAfter {
			t.list()
		}
		if k = t.known[tid]; k == nil {
			k = &thread{}
			t.known[tid] = k
		}
		k.asked++
	}
	if t.due(k, nameEach) {
		t.rename(tid, k)
	}
	return k
}

// due reports whether a thread's name has to be read, as it has to each so many ns.
func (t *threads) due(k *thread, each int64) bool {
	if k.unsure {
		each = listAfter
	}
	return k.named == 0 || t.now-k.named >= each
}

// list reads the JVM's list.
func (t *threads) list() {
	t.read, t.stale = t.now, true
	t.lists++
	all := t.u.Threads()
	if len(t.known) > mostKnown {
		clear(t.known)
	}
	was := make(map[int]uint64, len(t.known))
	for tid, k := range t.known {
		was[tid] = k.thread.At
		k.listed, k.java = false, false
		k.thread = unwinder.Thread{}
	}
	if t.mapped {
		t.translate()
	}
	if t.all {
		t.others()
	}
	for _, j := range all {
		tid := j.TID
		if t.mapped {
			if tid = t.inner[j.TID]; tid == 0 {
				continue
			}
		}
		k := t.known[tid]
		if k == nil {
			k = &thread{}
			t.known[tid] = k
		}
		if k.thread, k.listed = j.Thread, true; was[tid] != j.At {
			k.named, k.number, k.own, k.daemonRead = 0, 0, "", false // new, or another of the same number
		}
		k.java = k.listed && !k.internal
	}
}

// inside are the numbers of those of Java's threads that Java gives these, in order.
func (t *threads) inside(wanted map[int64]bool) []int {
	find := func() (out []int) {
		for tid, k := range t.known {
			if !k.listed {
				continue
			}
			t.readNumber(k)
			if wanted[k.number] {
				if t.due(k, waitEach) {
					t.rename(tid, k)
				}
				out = append(out, tid)
			}
		}
		return out
	}
	out := find()
	if len(out) < len(wanted) && t.now-t.read >= listAfter { // one that is new
		t.list()
		out = find()
	}
	slices.Sort(out)
	return out
}

// java are the numbers of Java's threads, in order.
func (t *threads) java() []int {
	if !t.stale {
		return t.sorted
	}
	out, unsure := t.sorted[:0], false
	for tid, k := range t.known {
		if k.listed {
			if t.due(k, waitEach) {
				t.rename(tid, k)
			}
			unsure = unsure || k.unsure
			if k.java {
				out = append(out, tid)
			}
		}
	}
	slices.Sort(out)
	t.sorted, t.stale = out, unsure
	return out
}

// sure reads what is not known of some threads yet, and reports whether no collection hindered that.
func (t *threads) sure(tids []int) bool {
	all := true
	for _, tid := range tids {
		if k := t.known[tid]; k != nil && k.listed {
			all = t.readNumber(k) && t.readDaemon(k) && !k.unsure && all
		}
	}
	return all
}

// readNumber reads a thread's number in Java, unless it is known. It is false when a collection moved objects meanwhile: then
// it is asked for again.
func (t *threads) readNumber(k *thread) bool {
	if k.number != 0 {
		return true
	}
	var n int64
	if !t.u.Unmoved(func() { n = t.u.ThreadNumber(k.thread) }) {
		return false
	}
	k.number = n
	return true
}

// readDaemon reads whether a thread is a daemon, as readNumber does.
func (t *threads) readDaemon(k *thread) bool {
	if k.daemonRead {
		return true
	}
	var daemon, ok bool
	if !t.u.Unmoved(func() { daemon, ok = t.u.Daemon(k.thread) }) {
		return false
	}
	k.daemon, k.daemonRead = daemon, ok
	return true
}

// others adds threads that the kernel lists, and drops those that it doesn't.
func (t *threads) others() {
	tids, err := perf.Threads(t.pid)
	if err != nil {
		return
	}
	there := make(map[int]bool, len(tids))
	for _, tid := range tids {
		if there[tid] = true; t.known[tid] == nil {
			k := &thread{}
			t.known[tid] = k
			t.rename(tid, k)
		}
	}
	for tid := range t.known {
		if !there[tid] {
			delete(t.known, tid)
		}
	}
}

// translate reads which numbers the target's namespace has for its threads.
func (t *threads) translate() {
	t.inner, t.outer = map[int]int{}, map[int]int{}
	dir := fmt.Sprintf("/proc/%d/task", t.pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		b, err := os.ReadFile(dir + "/" + e.Name() + "/status")
		if err != nil {
			continue
		}
		_, rest, ok := strings.Cut(string(b), "\nNSpid:")
		if !ok {
			continue
		}
		line, _, _ := strings.Cut(rest, "\n")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		outer, err1 := strconv.Atoi(e.Name())
		inner, err2 := strconv.Atoi(f[len(f)-1])
		if err1 == nil && err2 == nil {
			t.inner[inner], t.outer[outer] = outer, inner
		}
	}
}

// rename reads a thread's name: as Java has it, else as the kernel does, which cuts it to
// 15 bytes. Whether a thread does the JVM's own work goes by the kernel's, which programs
// can't change for such. While a collection moves objects it keeps the name that it had in
// Java, and its name is read again soon.
func (t *threads) rename(tid int, k *thread) {
	k.named, k.unsure = t.now, false
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/comm", t.pid, tid))
	name := strings.TrimSuffix(string(b), "\n")
	if err != nil {
		name = fmt.Sprintf("thread %d", tid)
	}
	k.internal = internal(name)
	if java := k.listed && !k.internal; java != k.java {
		k.java, t.stale = java, true
	}
	if k.listed {
		own := ""
		if t.u.Unmoved(func() { own = t.u.ThreadName(k.thread) }) {
			k.own = own
		} else {
			k.unsure, t.stale = true, true
		}
		switch {
		case k.own != "":
			name = k.own
		case tid != t.pid && name == t.program(): // the launcher's first thread has no other name
			name = "main"
		}
	}
	k.name = name
}

// program is the kernel's name of the process.
func (t *threads) program() string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", t.pid)) // without, there is none
	return strings.TrimSuffix(string(b), "\n")
}

// internals are the beginnings of the names of threads that count as Java's and do the JVM's
// own work.
var internals = []string{
	"C1 Comp", "C2 Comp", "JVMCI Comp", "Sweeper", "Service Thr", "Monitor Def", "Notification", "Signal Disp",
	"Attach List", "JFR ", "VM JFR", "String Dedup",
}

func internal(name string) bool {
	for _, p := range internals {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
