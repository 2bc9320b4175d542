package headroom

import (
	"bytes"
	"os"
	"os/exec"
	"sync"
)

const (
	scoreFile = "/proc/self/oom_score_adj"
	mostScore = "1000" // such a process is killed before all that have less, see proc(5)
)

var score struct {
	sync.Mutex
	usual []byte // what this process had before; nil: it has that still
}

// DieFirst has the kernel kill this process before others when memory is short: the target then loses a
// profiler, whose agent restores it. Anybody may raise the own score. Where the file can't be written, nothing changes.
// Any goroutine may call it.
func DieFirst() {
	score.Lock()
	defer score.Unlock()
	usual, err := os.ReadFile(scoreFile)
	if err == nil && score.usual == nil && os.WriteFile(scoreFile, []byte(mostScore), 0) == nil {
		score.usual = bytes.TrimSpace(usual)
	}
}

// Start starts a command that is not to be killed first: a program that is profiled. Errors are those of [exec.Cmd.Start].
// Any goroutine may call it.
func Start(cmd *exec.Cmd) error {
	score.Lock()
	defer score.Unlock()
	if score.usual != nil && os.WriteFile(scoreFile, score.usual, 0) == nil {
		defer os.WriteFile(scoreFile, []byte(mostScore), 0) //nolint:errcheck // it could be written before
	}
	return cmd.Start()
}
