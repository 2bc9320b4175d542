package session

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// A guard gives a thread of the target its priority back when this process ends
// without having done so, by whatever means: the target must not keep ours. It is
// a shell in a session of its own that waits for the end of a pipe.
type guard struct {
	cmd  *exec.Cmd
	pipe io.Closer
}

// guardScript renices the thread $2 of the process $1 to $3 once nobody has the
// pipe open any more, unless it has another priority than $4 by then.
const guardScript = `trap '' HUP INT TERM QUIT
echo
exec >/dev/null
read -r _
cd "/proc/$1/task/$2" 2>/dev/null || exit 0
read -r stat <stat
set -- "$1" "$2" "$3" "$4" ${stat##*)}
[ "${21}" = "$4" ] && exec renice "$3" -p "$2"`

// guardThread starts a guard for a thread whose priority we are going to change,
// where we may (CAP_SYS_NICE).
func guardThread(pid, tid int) (*guard, error) {
	var caps [2]unix.CapUserData
	if err := unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &caps[0]); err != nil || caps[0].Effective&(1<<unix.CAP_SYS_NICE) == 0 {
		return nil, errors.Join(err, unix.EPERM)
	}
	a, err := unix.SchedGetAttr(tid, 0)
	if err != nil {
		return nil, err
	}
	if a.Policy != unix.SCHED_NORMAL || a.Nice <= favourNice {
		return nil, errors.New("it has a priority of its own")
	}
	for _, tool := range []string{"sh", "renice"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command("sh", "-c", guardScript, "rivulet-guard", strconv.Itoa(pid), strconv.Itoa(tid), strconv.Itoa(int(a.Nice)), strconv.Itoa(favourNice))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	ready, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a guard: %w", err)
	}
	g := &guard{cmd, pipe}
	if _, err := ready.Read(make([]byte, 1)); err != nil {
		g.end()
		return nil, fmt.Errorf("a guard: %w", err)
	}
	return g, nil
}

// end ends the guard, which has the priority put back if that was not done yet.
func (g *guard) end() {
	if g == nil {
		return
	}
	_ = g.pipe.Close()
	_ = g.cmd.Wait() // there may have been nothing to put back
}
