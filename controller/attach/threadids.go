package attach

import (
	"os"
	"strconv"
	"strings"
)

// ThreadIDs reads from a thread dump ([VM.ThreadDump]) which thread of the
// operating system each platform thread is: Java's id (Thread.getId) to the id
// in the target's own pid namespace. Threads of the JVM's own have no Java id;
// virtual threads are not in such dumps.
func ThreadIDs(dump string) map[int64]int {
	out := map[int64]int{}
	for _, s := range Stacks(dump) {
		out[s.ID] = s.NID
	}
	return out
}

// NumberFor is this process's number as another one sees it. It is 0 where the two are in
// different PID namespaces, or where that can't be said.
func NumberFor(pid int) int {
	own, err1 := os.Readlink("/proc/self/ns/pid")
	its, err2 := os.Readlink(procFile(pid, "ns/pid"))
	if err1 != nil || err2 != nil || own != its {
		return 0
	}
	return os.Getpid()
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
