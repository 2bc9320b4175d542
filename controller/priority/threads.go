package priority

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Threads are the threads of a process by their names, of which the kernel keeps
// 15 bytes. It is empty where the process is gone or not ours to see. A thread
// that was only just begun has the name of the one that began it.
func Threads(pid int) map[string][]int {
	out := map[string][]int{}
	dir := filepath.Join("/proc", strconv.Itoa(pid), "task")
	tasks, err := os.ReadDir(dir)
	if err != nil {
		return out
	}
	for _, t := range tasks {
		tid, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		if name, err := os.ReadFile(filepath.Join(dir, t.Name(), "comm")); err == nil {
			n := strings.TrimSpace(string(name))
			out[n] = append(out[n], tid)
		}
	}
	return out
}

// Work is how long a thread has run, and how long it was ready and waited for a
// core, since it began.
type Work struct{ Ran, Waited time.Duration }

// WorkOf reads what a thread has done. task is its folder, /proc/PID/task/TID; the
// error is that of reading there, os.ErrNotExist or ESRCH once the thread has ended.
func WorkOf(task string) (w Work, err error) {
	b, err := os.ReadFile(filepath.Join(task, "schedstat"))
	if err != nil {
		return w, err
	}
	_, err = fmt.Sscan(string(b), &w.Ran, &w.Waited)
	return w, err
}
