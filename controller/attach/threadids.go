package attach

import (
	"os"
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

// ThreadIDs reads from a thread dump ([VM.ThreadDump]) which thread of the
// operating system each platform thread is: Java's id (Thread.getId) to the id
// in the target's own pid namespace. Threads of the JVM's own have no Java id;
// virtual threads are not in such dumps.
func ThreadIDs(dump string) map[int64]int {
	out := map[int64]int{}
	for line := range strings.SplitSeq(dump, "\n") {
		m := dumpedThread.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		id, err1 := strconv.ParseInt(m[1], 10, 64)
		nid, err2 := strconv.ParseInt(m[2], 0, 32)
		if err1 == nil && err2 == nil {
			out[id] = int(nid)
		}
	}
	return out
}

// HostThreads tells, for each thread of a process, which id it has here, by the
// id that it has in its own pid namespace. Outside of containers the two are the
// same.
func HostThreads(pid int) (map[int]int, error) {
	tasks, err := os.ReadDir(procFile(pid, "task"))
	if err != nil {
		return nil, goneOr(pid, err)
	}
	out := make(map[int]int, len(tasks))
	for _, t := range tasks {
		host, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		own := host
		status, err := os.ReadFile(procFile(pid, "task/"+t.Name()+"/status"))
		if err != nil {
			continue // it has ended
		}
		for line := range strings.SplitSeq(string(status), "\n") {
			if ids, ok := strings.CutPrefix(line, "NSpid:"); ok {
				if f := strings.Fields(ids); len(f) > 0 {
					if n, err := strconv.Atoi(f[len(f)-1]); err == nil {
						own = n
					}
				}
			}
		}
		out[own] = host
	}
	return out, nil
}
