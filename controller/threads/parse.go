package threads

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A Lock is a monitor, or a lock of java.util.concurrent.
type Lock struct {
	Address string `json:"address"` // "0x00000000d6f01234"
	Class   string `json:"class"`
}

// A Wait is how a thread waits for a lock.
type Wait string

// How threads wait.
const (
	Enter  Wait = "enter"  // the monitor is another thread's
	Notify Wait = "notify" // Object.wait
	Park   Wait = "park"   // LockSupport.park: a lock, a condition, a queue, ...
)

// A Thread is what a dump says of a platform thread.
type Thread struct {
	Name    string        `json:"thread"`
	ID      int64         `json:"id"`  // Java's (Thread.getId); 0 for the JVM's own threads
	NID     int           `json:"nid"` // the operating system's, in the target's own pid namespace
	Daemon  bool          `json:"daemon"`
	State   string        `json:"state"`  // of java.lang.Thread.State; "" for the JVM's own threads
	Detail  string        `json:"detail"` // "on object monitor", "parking", "sleeping"
	CPU     time.Duration `json:"-"`      // -1 if the dump doesn't say
	Wait    Wait          `json:"wait,omitempty"`
	WaitFor *Lock         `json:"waits_for,omitempty"`
	Holds   []Lock        `json:"holds"`
	Stack   []string      `json:"stack"` // "pkg.Class.method(File.java:12)", the innermost first

	Virtual bool `json:"virtual"`

	owner  int64  // id of the thread that holds what this one waits for, if that is said; less than zero: its nid
	locked []Lock // monitors by frame, those that it waits on included
}

var (
	nid     = regexp.MustCompile(`\bnid=(0x[0-9a-f]+|\d+)`)
	javaID  = regexp.MustCompile(`^ #(\d+)\b`)
	cpuTime = regexp.MustCompile(`\bcpu=([0-9.]+)ms`)
	lockRef = regexp.MustCompile(`<(0x[0-9a-f]+)> \(a (?:java\.lang\.Class for )?([^)]*)\)`)
)

// Parse reads a thread dump of JDK 8 to 25.
func Parse(dump string) []Thread {
	var out []Thread
	var t *Thread
	mounted := false
	synchronizers := false
	for line := range strings.Lines(dump) {
		line = strings.TrimRight(line, "\r\n")
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, `"`):
			if t != nil {
				t.finish()
			}
			t, mounted, synchronizers = nil, false, false
			if head, ok := parseHead(line); ok {
				out = append(out, head)
				t = &out[len(out)-1]
			}
		case t == nil:
		case strings.HasPrefix(text, "java.lang.Thread.State: "):
			state, detail, _ := strings.Cut(strings.TrimPrefix(text, "java.lang.Thread.State: "), " (")
			t.State, t.Detail = state, strings.TrimSuffix(detail, ")")
		case strings.HasPrefix(text, "Mounted virtual thread"):
			mounted = true // its stack follows, which is not this thread's
		case text == "Locked ownable synchronizers:":
			mounted, synchronizers = false, true
		case strings.HasPrefix(line, "Found ") && strings.Contains(line, "deadlock"):
			t.finish()
			return out // what follows says the same again
		case mounted:
		case strings.HasPrefix(text, "at "):
			t.Stack = append(t.Stack, cutModule(strings.TrimPrefix(text, "at ")))
		case strings.HasPrefix(text, "- "):
			t.lockLine(strings.TrimPrefix(text, "- "), synchronizers)
		}
	}
	if t != nil {
		t.finish()
	}
	return out
}

// parseHead reads `"name" #12 [4711] daemon prio=5 os_prio=0 cpu=1.23ms elapsed=4.56s
// tid=0x00007f nid=0x1a2b runnable  [0x00007f]`. JDK 8 has neither cpu nor elapsed, JDK 21
// and later write nid in decimal. A name may hold anything, so the line is read from its
// end; a thread of the JVM's own has no number.
func parseHead(line string) (Thread, bool) {
	end := strings.LastIndex(line, `" `)
	if end < 1 {
		return Thread{}, false
	}
	t := Thread{Name: line[1:end], CPU: -1, Holds: []Lock{}, Stack: []string{}}
	rest := line[end+1:]
	m := nid.FindStringSubmatch(rest)
	if m == nil {
		return Thread{}, false
	}
	n, err := strconv.ParseInt(m[1], 0, 32)
	if err != nil {
		return Thread{}, false
	}
	t.NID = int(n)
	if m := javaID.FindStringSubmatch(rest); m != nil {
		t.ID, _ = strconv.ParseInt(m[1], 10, 64)
	}
	if m := cpuTime.FindStringSubmatch(rest); m != nil {
		if ms, err := strconv.ParseFloat(m[1], 64); err == nil {
			t.CPU = time.Duration(ms * 1e6)
		}
	}
	t.Daemon = strings.Contains(rest, " daemon ")
	return t, true
}

// lockLine reads what stands below a frame, or below "Locked ownable synchronizers".
func (t *Thread) lockLine(text string, synchronizer bool) {
	m := lockRef.FindStringSubmatch(text)
	if m == nil {
		return // none, or eliminated by the compiler
	}
	l := Lock{m[1], m[2]}
	switch {
	case synchronizer:
		t.Holds = append(t.Holds, l)
	case strings.HasPrefix(text, "waiting to re-lock in wait() ") && t.State != "BLOCKED":
		t.Wait, t.WaitFor = Notify, &l // JDK 9 to 17 say so before anybody has notified it
	case strings.HasPrefix(text, "waiting to lock "), strings.HasPrefix(text, "waiting to re-lock in wait() "):
		t.Wait, t.WaitFor = Enter, &l
	case strings.HasPrefix(text, "waiting on "):
		t.Wait, t.WaitFor = Notify, &l
	case strings.HasPrefix(text, "parking to wait for "):
		t.Wait, t.WaitFor = Park, &l
	case strings.HasPrefix(text, "locked "):
		t.locked = append(t.locked, l)
	}
}

// finish tells monitors that the thread owns from the one that it has given up in
// Object.wait: the dump calls both locked.
func (t *Thread) finish() {
	seen := map[string]bool{}
	if t.WaitFor != nil {
		// Of a thread that waits to get its monitor back, too.
		seen[t.WaitFor.Address] = true
	}
	for _, l := range t.Holds {
		seen[l.Address] = true
	}
	var held []Lock
	for _, l := range t.locked {
		if !seen[l.Address] {
			seen[l.Address] = true
			held = append(held, l)
		}
	}
	t.Holds = append(held, t.Holds...)
	t.locked = nil
}

// cutModule leaves the module out: "p.A.m(java.base@17.0.1/A.java:1)".
func cutModule(frame string) string {
	head, place, ok := strings.Cut(frame, "(")
	if !ok {
		return frame
	}
	return head + "(" + place[strings.LastIndexByte(place, '/')+1:]
}
