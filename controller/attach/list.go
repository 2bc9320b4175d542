package attach

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
)

// List finds all JVMs, by ascending pid: those of other users (as far as we may
// tell), in containers, with and without hsperfdata, attachable or not.
func List(ctx context.Context) ([]Process, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var found []Process
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, err := Inspect(pid)
		if err != nil || forked(p) {
			continue // no JVM, or gone meanwhile
		}
		found = append(found, p)
	}
	slices.SortFunc(found, func(a, b Process) int { return a.PID - b.PID })
	return found, nil
}

// forked reports whether p is the child that a JVM forks to start a program:
// the JVM's memory, but a single thread.
func forked(p Process) bool {
	st, err := readStatus(p.PID)
	return err != nil || st.threads <= 1 && !p.perf && p.hotspot && !errors.Is(p.Err, ErrStarting)
}
