package cli

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// processUse is the time on cores that a process has used, to 10 ms, and how many cores it may
// use: those that it may run on, and no more than its control groups let it.
func processUse(pid int) (used time.Duration, cores float64, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, err
	}
	const user, system = 11, 12 // after the name, which may hold anything
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) <= system {
		return 0, 0, fmt.Errorf("/proc/%d/stat makes no sense", pid)
	}
	for _, i := range []int{user, system} {
		n, err := strconv.ParseInt(string(f[i]), 10, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("/proc/%d/stat makes no sense", pid)
		}
		used += time.Duration(n) * (time.Second / 100)
	}
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(pid, &set); err != nil {
		return 0, 0, err
	}
	cores = float64(set.Count())
	if q := quota(pid); q > 0 {
		cores = min(cores, q)
	}
	return used, cores, nil
}

// quota is how many cores a process's control groups (version 2) let it use; 0 for any.
func quota(pid int) float64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	least := 0.0
	for line := range strings.Lines(string(b)) {
		group, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !ok {
			continue
		}
		for g := path.Clean("/" + group); ; g = path.Dir(g) {
			text, _ := os.ReadFile(path.Join("/sys/fs/cgroup", g, "cpu.max"))
			if f := strings.Fields(string(text)); len(f) == 2 {
				most, err1 := strconv.ParseFloat(f[0], 64)
				period, err2 := strconv.ParseFloat(f[1], 64)
				if err1 == nil && err2 == nil && period > 0 && (least == 0 || most/period < least) {
					least = most / period
				}
			}
			if g == "/" {
				break
			}
		}
	}
	return least
}
