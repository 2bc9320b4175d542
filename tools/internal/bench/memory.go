package bench

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Memory is what a process has resident, in MB: its own, and what it shares
// with others, such as the data file.
type Memory struct{ Own, Shared float64 }

// Resident returns what a process has resident now.
func Resident(pid string) (Memory, error) {
	b, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return Memory{}, err
	}
	return resident(string(b))
}

func resident(status string) (m Memory, err error) {
	found := 0
	for line := range strings.Lines(status) {
		f := strings.Fields(line)
		if len(f) != 3 || f[0] != "RssAnon:" && f[0] != "RssShmem:" {
			continue
		}
		kb, err := strconv.ParseFloat(f[1], 64)
		if err != nil {
			return m, err
		}
		found++
		if f[0] == "RssAnon:" {
			m.Own = kb / 1024
		} else {
			m.Shared = kb / 1024
		}
	}
	if found != 2 {
		return m, fmt.Errorf("no RssAnon and RssShmem in /proc/PID/status: Linux has them since 4.5, but not of a process that has ended")
	}
	return m, nil
}

// Peak watches a process's memory and returns a function that ends that and
// returns the most of each that was seen.
func Peak(pid string) (end func() Memory) {
	stop, result := make(chan struct{}), make(chan Memory)
	go func() {
		var most Memory
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			if m, err := Resident(pid); err == nil { // it may have ended
				most.Own, most.Shared = max(most.Own, m.Own), max(most.Shared, m.Shared)
			}
			select {
			case <-stop:
				result <- most
				return
			case <-tick.C:
			}
		}
	}()
	return func() Memory {
		close(stop)
		return <-result
	}
}

// CPU is the time on cores that a process has used, in seconds; a hundredth is the least that it tells.
func CPU(pid string) (float64, error) {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, err
	}
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	user, err1 := strconv.ParseFloat(f[11], 64)
	system, err2 := strconv.ParseFloat(f[12], 64)
	return (user + system) / 100, errors.Join(err1, err2)
}
