package attach

import (
	"regexp"
	"strconv"
	"strings"
)

// dumpedThread finds a thread's Java id and its id in the operating system in
// the first line that a dump has of it: `"name" #12 daemon prio=5 os_prio=0
// cpu=1.23ms elapsed=4.56s tid=0x00007f nid=0x1a2b runnable`. JDK 21 and later
// write nid in decimal. JDK 8 has neither cpu nor elapsed. A name may hold
// anything, so the line is read from its end.
var dumpedThread = regexp.MustCompile(`^".*" #(\d+) .*\bnid=(0x[0-9a-f]+|\d+) `)

// A Stack is what a thread dump ([VM.ThreadDump]) says of one platform thread.
// Threads of the JVM's own are not among them, nor are virtual threads.
type Stack struct {
	Name   string
	ID     int64    // Java's (Thread.getId)
	NID    int      // the operating system's, in the target's own pid namespace
	Frames []string // "pkg.Class.method", the innermost first
}

// Stacks reads a thread dump. Frames of hidden classes have names that no class
// can be found by.
func Stacks(dump string) []Stack {
	var out []Stack
	var at *Stack
	for line := range strings.SplitSeq(dump, "\n") {
		if strings.HasPrefix(line, `"`) {
			at = nil
			m := dumpedThread.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			id, err1 := strconv.ParseInt(m[1], 10, 64)
			nid, err2 := strconv.ParseInt(m[2], 0, 32)
			if err1 == nil && err2 == nil {
				name := line[1:]
				if i := strings.LastIndex(name, `" #`); i >= 0 {
					name = name[:i]
				}
				out = append(out, Stack{Name: name, ID: id, NID: int(nid)})
				at = &out[len(out)-1]
			}
			continue
		}
		frame, ok := strings.CutPrefix(strings.TrimSpace(line), "at ")
		if !ok || at == nil {
			continue
		}
		frame, _, _ = strings.Cut(frame, "(")
		if i := strings.IndexByte(frame, '/'); i > 0 && strings.Contains(frame[:i], "@") || i > 0 && !strings.Contains(frame[:i], "$") {
			frame = frame[i+1:] // "java.base@17.0.1/java.lang.Thread.run", "module/pkg.Class.method"
		}
		at.Frames = append(at.Frames, frame)
	}
	return out
}
