package sampler

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/sampler/unwinder"
)

// Threads are listed again when one is not known, and in any case from time to time, in
// nanoseconds.
const (
	listAfter = 20e6
	listEach  = 1e9
	nameEach  = 5e9
	mostKnown = 1 << 17
)

// A thread is what is known of one of the target's.
type thread struct {
	thread unwinder.Thread
	listed bool // by the JVM, as one of Java's
	java   bool // listed, and not for the JVM's own work
	name   string
	named  int64 // when
}

// threads are those of the target, by their number in this process's namespace.
type threads struct {
	pid    int
	u      *unwinder.Unwinder
	now    int64
	read   int64
	known  map[int]*thread
	mapped bool        // the target has numbers of its own
	inner  map[int]int // from those to these
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
	if (k == nil || !k.listed) && t.now-t.read >= listAfter {
		t.list()
		k = t.known[tid]
	}
	if k == nil {
		k = &thread{}
		t.known[tid] = k
	}
	if k.named == 0 || t.now-k.named >= nameEach {
		k.named = t.now
		t.name(tid, k)
	}
	return k
}

// list reads the JVM's list.
func (t *threads) list() {
	t.read = t.now
	all := t.u.Threads()
	if len(t.known) > mostKnown {
		clear(t.known)
	}
	for _, k := range t.known {
		k.listed, k.java = false, false
		k.thread = unwinder.Thread{}
	}
	if t.mapped {
		t.translate()
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
		k.thread, k.listed = j.Thread, true
		k.java = !internal(k.name)
	}
}

// translate reads which numbers the target's namespace has for its threads.
func (t *threads) translate() {
	t.inner = map[int]int{}
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
			t.inner[inner] = outer
		}
	}
}

// name reads a thread's name, which the kernel cuts to 15 bytes.
func (t *threads) name(tid int, k *thread) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/comm", t.pid, tid))
	if err != nil {
		if k.name == "" {
			k.name = fmt.Sprintf("thread %d", tid)
		}
		return
	}
	k.name = strings.TrimSuffix(string(b), "\n")
	if tid == t.pid || k.name == "java" && k.listed {
		k.name = mainName(k)
	}
	k.java = k.listed && !internal(k.name)
}

// mainName is the name of the thread that runs main, which the kernel knows by the
// program's.
func mainName(k *thread) string {
	if k.listed {
		return "main"
	}
	return k.name
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
