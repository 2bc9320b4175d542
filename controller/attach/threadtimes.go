package attach

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// ThreadTimes tells how long each thread of a process has been on a processor, by the id
// that the thread has in its own pid namespace. The kernel counts in hundredths of a
// second.
func ThreadTimes(pid int) (map[int]time.Duration, error) {
	own, err := HostThreads(pid)
	if err != nil {
		return nil, err
	}
	out := make(map[int]time.Duration, len(own))
	for id, host := range own {
		b, err := os.ReadFile(procFile(pid, "task/"+strconv.Itoa(host)+"/stat"))
		if err != nil {
			continue // it has ended
		}
		// The name, in parentheses, may hold anything.
		f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
		const user, system = 11, 12
		if len(f) <= system {
			continue
		}
		u, err1 := strconv.ParseInt(string(f[user]), 10, 64)
		s, err2 := strconv.ParseInt(string(f[system]), 10, 64)
		if err1 == nil && err2 == nil {
			out[id] = time.Duration(u+s) * (time.Second / 100)
		}
	}
	return out, nil
}
