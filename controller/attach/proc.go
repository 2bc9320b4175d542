package attach

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// procFile is the path of a file in a process's /proc directory.
func procFile(pid int, name string) string {
	return "/proc/" + strconv.Itoa(pid) + "/" + name
}

// A status is what /proc/PID/status and /proc/PID/stat say.
type status struct {
	name    string // of the main thread, at most 15 bytes
	pid     int
	state   byte   // R, S, D, T (stopped), t (traced), Z (zombie), X
	uid     uint32 // effective
	gid     uint32 // effective
	nspid   int    // as the process sees itself
	threads int
	caught  uint64 // SigCgt
	pending uint64 // ShdPnd
	start   uint64 // clock ticks after boot: with the pid, its identity
}

// catchesQuit reports whether SIGQUIT has a handler. Without one it kills.
func (s status) catchesQuit() bool { return s.caught&signalBit(unix.SIGQUIT) != 0 }

// signalBit is a signal's bit in the masks of /proc/PID/status.
func signalBit(sig syscall.Signal) uint64 { return 1 << (sig - 1) }

// stopping reports that a stop has been asked for but has not reached the main
// thread, whose state the process shows: on a loaded machine that takes a while.
func (s status) stopping() bool {
	if s.pending&(signalBit(unix.SIGSTOP)|signalBit(unix.SIGTSTP)) != 0 {
		return true
	}
	tasks, _ := os.ReadDir(procFile(s.pid, "task"))
	for _, task := range tasks {
		b, err := os.ReadFile(procFile(s.pid, "task/"+task.Name()+"/stat"))
		if err != nil {
			continue
		}
		if _, state, ok := bytes.Cut(b[bytes.LastIndexByte(b, ')')+1:], []byte(" ")); ok && state[0] == 'T' {
			return true
		}
	}
	return false
}

func readStatus(pid int) (status, error) {
	s := status{pid: pid, nspid: pid}
	b, err := os.ReadFile(procFile(pid, "status"))
	if err != nil {
		return s, goneOr(pid, err)
	}
	for line := range strings.Lines(string(b)) {
		key, val, _ := strings.Cut(line, ":")
		f := strings.Fields(val)
		if len(f) == 0 {
			continue
		}
		switch key {
		case "Name":
			s.name = strings.TrimSpace(val)
		case "State":
			s.state = f[0][0]
		case "Uid":
			s.uid = second(f)
		case "Gid":
			s.gid = second(f)
		case "NSpid": // absent before Linux 4.1
			if n, err := strconv.Atoi(f[len(f)-1]); err == nil {
				s.nspid = n
			}
		case "Threads":
			s.threads, _ = strconv.Atoi(f[0])
		case "SigCgt":
			s.caught, _ = strconv.ParseUint(f[0], 16, 64)
		case "ShdPnd":
			s.pending, _ = strconv.ParseUint(f[0], 16, 64)
		}
	}
	s.start, err = readStart(pid)
	return s, err
}

// second returns the effective id of a "real effective saved fs" line.
func second(f []string) uint32 {
	if len(f) < 2 {
		return 0
	}
	n, _ := strconv.ParseUint(f[1], 10, 32)
	return uint32(n)
}

// readStart reads field 22 of /proc/PID/stat. The second field is a name in
// parentheses that may itself hold spaces and parentheses.
func readStart(pid int) (uint64, error) {
	b, err := os.ReadFile(procFile(pid, "stat"))
	if err != nil {
		return 0, goneOr(pid, err)
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 20 {
		return 0, fmt.Errorf("pid %d: /proc/%d/stat has only %d fields", pid, pid, len(f)+2)
	}
	return strconv.ParseUint(f[19], 10, 64)
}

// ticksPerSecond is USER_HZ, 100 on every Linux architecture.
const ticksPerSecond = 100

// age is the time since the process with this start value began.
func age(start uint64) time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return 0
	}
	return max(0, time.Duration(now.Nano())-time.Duration(start)*(time.Second/ticksPerSecond))
}

// goneOr turns the errors of a vanished /proc entry into ErrNoProcess.
func goneOr(pid int, err error) error {
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return &Error{PID: pid, Kind: ErrNoProcess, Cause: "no such process", Fix: "see rivulet ps"}
	}
	return err
}

// A mapping is one named range of a process's address space.
type mapping struct {
	path       string
	start, end uint64
	deleted    bool
}

// A layout is what a process has mapped, as far as it tells the kind of JVM.
type layout struct {
	libjvm   mapping // HotSpot or, as a redirector, OpenJ9
	openJ9   bool
	perf     mapping // the hsperfdata file
	empty    bool    // nothing mapped from files: a kernel thread, or exiting
	launcher bool    // libjli: started by java, javac, ..., so the command line holds the options
}

// readLayout reads /proc/PID/maps, which takes the same permission as
// attaching does. It is empty for kernel threads and zombies.
func readLayout(pid int) (layout, error) {
	var l layout
	f, err := os.Open(procFile(pid, "maps"))
	if err != nil {
		return l, goneOr(pid, err)
	}
	defer f.Close()
	l.empty = true
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		// 7f00-7f01 r-xp 00000000 08:01 1234      /path with spaces (deleted)
		slash := bytes.IndexByte(sc.Bytes(), '/')
		if slash < 0 {
			continue
		}
		l.empty = false
		name := sc.Bytes()[slash:]
		if !bytes.Contains(name, []byte("libj")) && !bytes.Contains(name, []byte("/hsperfdata_")) {
			continue
		}
		m := mapping{}
		m.path, m.deleted = strings.CutSuffix(string(name), " (deleted)")
		lo, hi, _ := strings.Cut(strings.Fields(sc.Text())[0], "-")
		m.start, _ = strconv.ParseUint(lo, 16, 64)
		m.end, _ = strconv.ParseUint(hi, 16, 64)
		base := path.Base(m.path)
		switch {
		case base == "libjvm.so":
			l.libjvm = m
		case strings.HasPrefix(base, "libj9vm"):
			l.openJ9 = true
		case base == "libjli.so":
			l.launcher = true
		case strings.HasPrefix(path.Base(path.Dir(m.path)), "hsperfdata_"):
			l.perf = m
		}
	}
	return l, goneOr(pid, sc.Err())
}

// readStrings reads a file of NUL-terminated strings, cmdline or environ.
func readStrings(pid int, name string) []string {
	b, err := os.ReadFile(procFile(pid, name))
	if err != nil || len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}

// frozen reports whether the process's control group is frozen, as "docker
// pause" does. Best effort: where no hierarchy is visible, the answer is no.
func frozen(pid int) bool {
	b, err := os.ReadFile(procFile(pid, "cgroup"))
	if err != nil {
		return false
	}
	const fs = "/sys/fs/cgroup"
	for line := range strings.Lines(string(b)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) < 3 {
			continue
		}
		switch {
		case f[0] == "0":
			for _, dir := range []string{fs, fs + "/unified"} {
				ev, _ := os.ReadFile(path.Join(dir, f[2], "cgroup.events"))
				if bytes.Contains(ev, []byte("frozen 1")) {
					return true
				}
			}
		case f[1] == "freezer":
			st, _ := os.ReadFile(path.Join(fs, "freezer", f[2], "freezer.state"))
			if len(st) > 0 && !bytes.HasPrefix(st, []byte("THAWED")) {
				return true
			}
		}
	}
	return false
}

// checkRuns returns an error if a process in this state can't answer.
func checkRuns(pid int, s status) error {
	switch s.state {
	case 'Z', 'X':
		return &Error{
			PID: pid, Kind: ErrExited,
			Cause: "has ended; only its entry in the process table is left", Fix: "see rivulet ps for live ones",
		}
	case 'T':
		return &Error{
			PID: pid, Kind: ErrStopped,
			Cause: "is stopped (state T) and can't answer", Fix: fmt.Sprintf("continue it with kill -CONT %d, or fg in its shell", pid),
		}
	case 't':
		return &Error{
			PID: pid, Kind: ErrStopped,
			Cause: "is held by a debugger or tracer (state t) and can't answer", Fix: "continue it there or detach the debugger",
		}
	}
	if frozen(pid) {
		return &Error{
			PID: pid, Kind: ErrStopped,
			Cause: "is in a frozen control group (a paused container) and can't answer", Fix: "unpause the container",
		}
	}
	return nil
}
