package priority

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Guard gives threads of another process their priority back when this process
// ends without having done so, by whatever means. It is a shell in a session of
// its own that waits for the end of a pipe. One goroutine at a time may use it; a
// nil one guards nothing.
type Guard struct {
	cmd  *exec.Cmd
	pipe io.WriteCloser
}

const guardName = "rivulet-guard"

// guardScript renices, once nobody has the pipe open any more, those threads of the
// process $1 that have the priority $2: thread $3 to $4, and the compiler's to $5. If
// it was told to linger, it leaves the compiler's priority for up to 30 seconds, until it
// has had little to do for two.
var guardScript = `trap '' HUP INT TERM QUIT
echo
exec >/dev/null 2>&1
read -r linger
cd "/proc/$1/task" || exit 0
ours=$2
back() {
  read -r stat <"$1/stat" || return
  set -- "$1" "$2" ${stat##*)}
  [ "${19}" = "$ours" ] && renice "$2" -p "$1"
}
compilers() {
  for task in *; do
    read -r name <"$task/comm" && case $name in "` + strings.Join(compilerThreads, `"*|"`) + `"*) "$@" ;; esac
  done
}
labour() { read -r ran waited _ <"$task/schedstat" && sum=$((sum + ran + waited)); }
unhurry() { back "$task" "$usual"; }
back "$3" "$4"
usual=$5 seconds=0 calm=0 before=0
[ "$linger" ] && while [ $calm -lt 2 ] && [ $seconds -lt 30 ]; do
  sum=0
  compilers labour
  [ $seconds -gt 0 ] && { [ $((sum - before)) -gt 250000000 ] && calm=0 || calm=$((calm + 1)); }
  before=$sum seconds=$((seconds + 1))
  sleep 1
done
compilers unhurry`

// NewGuard starts a guard for the thread tid of a process, whose priority we are
// going to change, and for the process's compiler threads, whose own nice value is
// compilers ([Compilers.Nice]). It fails where priority can't be given ([Allowed]),
// where the thread has one of its own, and where the tools sh and renice lack:
// the thread is to be left alone then. End or Linger ends the guard.
func NewGuard(pid, tid int, compilers int32) (*Guard, error) {
	if err := Allowed(); err != nil {
		return nil, err
	}
	a, err := unix.SchedGetAttr(tid, 0)
	if err != nil {
		return nil, err
	}
	if a.Policy != unix.SCHED_NORMAL || a.Nice <= Nice {
		return nil, errors.New("it has a priority of its own")
	}
	for _, tool := range []string{"sh", "renice"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command("sh", "-c", guardScript, guardName, strconv.Itoa(pid), strconv.Itoa(Nice),
		strconv.Itoa(tid), strconv.Itoa(int(a.Nice)), strconv.Itoa(int(compilers)))
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
	g := &Guard{cmd, pipe}
	if _, err := ready.Read(make([]byte, 1)); err != nil {
		g.End()
		return nil, fmt.Errorf("a guard: %w", err)
	}
	return g, nil
}

// End ends the guard, after it has put back the priorities that were not yet.
func (g *Guard) End() {
	if g == nil {
		return
	}
	_ = g.pipe.Close()
	_ = g.cmd.Wait() // there may have been nothing to put back
}

// linger lets the guard go on for as long as the compilers have much to do, beyond
// the end of this process if need be.
func (g *Guard) linger() {
	_, _ = io.WriteString(g.pipe, "linger\n") // or it has ended
	_ = g.pipe.Close()
	go func() { _ = g.cmd.Wait() }()
}

// relieve takes over from guards of a process that linger: it puts back what
// they would, which takes them seconds on a busy machine, and ends them. A guard
// has nothing left to do where no thread has our priority.
func relieve(pid int, compilers []int) {
	if !slices.ContainsFunc(compilers, func(tid int) bool { _, ok := raised(tid); return ok }) {
		return
	}
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		line, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		tid, nice, usual, ok := parseGuard(line, pid)
		if !ok || !ownProcess(filepath.Dir(f)) {
			continue
		}
		putBack(tid, nice)
		for _, c := range compilers {
			putBack(c, usual)
		}
		if p, err := strconv.Atoi(filepath.Base(filepath.Dir(f))); err == nil {
			_ = unix.Kill(p, unix.SIGKILL) // or it has just ended
		}
	}
}

// ownProcess tells whether a process, of which this is the folder under /proc, has our user.
func ownProcess(dir string) bool {
	var st unix.Stat_t
	return unix.Stat(dir, &st) == nil && int(st.Uid) == os.Geteuid()
}

// parseGuard reads the command line of a guard of a process's threads: what it is to put
// back for the thread tid and for those of the compiler.
func parseGuard(cmdline []byte, pid int) (tid int, nice, usual int32, ok bool) {
	_, args, _ := strings.Cut(string(cmdline), "\x00"+guardName+"\x00")
	n, err := fmt.Sscanf(strings.ReplaceAll(args, "\x00", " "), strconv.Itoa(pid)+" "+strconv.Itoa(Nice)+" %d %d %d", &tid, &nice, &usual)
	return tid, nice, usual, err == nil && n == 3
}
