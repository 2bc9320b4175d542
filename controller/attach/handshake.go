package attach

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// listen makes sure that the JVM's socket exists.
func (vm *VM) listen(ctx context.Context) error {
	p := vm.proc
	tmp, err := p.tmp()
	if err != nil {
		return err
	}
	defer tmp.Close()
	if st, err := statSocket(tmp, p.NSPID); err == nil {
		if st.Uid == p.UID {
			sweep(p, tmp)
			return nil
		}
		if err := p.removeForeign(tmp, st.Uid); err != nil {
			return err
		}
	}
	if err := p.checkPlace(tmp); err != nil {
		return err
	}
	if err := p.maySignal(); err != nil {
		return err
	}
	if err := p.checkDescriptors(); err != nil {
		return err
	}
	if err := checkRoom(p.PID, tmp); err != nil {
		return err
	}
	return vm.handshake(ctx, tmp)
}

// maySignal returns why SIGQUIT must not be sent to this kind of JVM.
func (p Process) maySignal() error {
	switch {
	case p.noSignals:
		return &Error{
			PID: p.PID, Kind: ErrNoSocket, Cause: "the JVM runs with -Xrs and its socket in /tmp is gone",
			Fix: "restart it, and keep cleaners of /tmp off .java_pid*",
		}
	case !p.known:
		return &Error{
			PID: p.PID, Kind: ErrNoSocket, Cause: "can't tell whether attach is disabled: the JVM is embedded in another program and has no hsperfdata",
			Fix: "start it with -XX:+UsePerfData or -XX:+StartAttachListener",
		}
	}
	return nil
}

// handshake plants the trigger, sends SIGQUIT once and waits for the socket.
func (vm *VM) handshake(ctx context.Context, tmp *os.File) error {
	p := vm.proc
	// The descriptor holds on to the process, so that between the checks and
	// the signal its number can't pass to another. Linux before 5.3 has none.
	pidfd, err := unix.PidfdOpen(p.PID, 0)
	if err == nil {
		defer unix.Close(pidfd)
	} else {
		pidfd = -1
	}
	trig, err := vm.plant(ctx, tmp)
	if trig == nil || err != nil {
		return err
	}
	if _, err = statSocket(tmp, p.NSPID); err == nil {
		trig.remove()
		return nil
	}
	if err = p.lastLook(ctx); err == nil {
		err = quit(p.PID, pidfd)
	}
	if err != nil {
		trig.remove()
		return p.signalError(err)
	}
	err = vm.await(ctx, tmp)
	if err == nil || errors.Is(err, ErrExited) || vm.signalTaken(tmp) {
		trig.remove()
		return err
	}
	trig.release()
	return &Error{
		PID: p.PID, Kind: ErrStopped,
		Cause: fmt.Sprintf("was stopped while attaching; /tmp/%s stays until the next attach, lest it print a thread dump when it continues", triggerName(p.NSPID)),
		Fix:   fmt.Sprintf("continue it with kill -CONT %d, fg or by unpausing its container, and try again", p.PID),
	}
}

// lastLook returns why SIGQUIT must not be sent now.
func (p Process) lastLook(ctx context.Context) error {
	st, err := p.look()
	switch {
	case err != nil:
		return err
	case !st.catchesQuit():
		return p.unwilling()
	case st.stopping():
		return checkRuns(p.PID, status{state: 'T'})
	case ctx.Err() != nil:
		return cancelled(ctx, p.PID, nil)
	}
	return nil
}

// linger is how long the trigger stays after the caller has lost patience.
const linger = 2 * time.Second

// signalTaken waits a little for a signal whose effect has not shown, and
// reports whether it is done with. If the JVM gets round to it when there is no
// trigger any more, it prints a thread dump: one that was stopped or frozen at
// the wrong moment keeps the trigger.
func (vm *VM) signalTaken(tmp *os.File) bool {
	p := vm.proc
	for end := time.Now().Add(linger); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		_, err := statSocket(tmp, p.NSPID)
		if _, gone := p.look(); err == nil || errors.Is(gone, ErrExited) {
			return true
		}
	}
	st, err := p.look()
	return st.pending&signalBit(unix.SIGQUIT) == 0 && !errors.Is(err, ErrStopped)
}

func quit(pid, pidfd int) error {
	if pidfd >= 0 {
		err := unix.PidfdSendSignal(pidfd, unix.SIGQUIT, nil, 0)
		if !errors.Is(err, unix.ENOSYS) {
			return err
		}
	}
	return unix.Kill(pid, unix.SIGQUIT)
}

func (p Process) signalError(err error) error {
	var told *Error
	if errors.As(err, &told) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if errors.Is(err, unix.ESRCH) {
		return exited(p.PID)
	}
	return otherUser(p, fmt.Errorf("sending SIGQUIT: %w", err))
}

// await polls for the socket, which usually takes 2 to 10 ms. The JVM renames
// it into place when it already listens.
func (vm *VM) await(ctx context.Context, tmp *os.File) error {
	p := vm.proc
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		if _, err := statSocket(tmp, p.NSPID); err == nil {
			return nil
		}
		st, err := p.look()
		if err != nil {
			return err
		}
		if sleep(ctx, pause) {
			continue
		}
		why := fmt.Sprintf("state %c", st.state)
		if st.pending&signalBit(unix.SIGQUIT) != 0 {
			why += ", has not taken the signal yet"
		}
		return cancelled(ctx, p.PID, &Error{
			PID: p.PID, Kind: ErrNoSocket,
			Cause: fmt.Sprintf("the JVM didn't create /tmp/.java_pid%d in time (%s)", p.NSPID, why),
			Fix:   "it may be overloaded or in a long pause: try again; else check that its /tmp is writable",
		})
	}
}

// tmp opens the target's /tmp, where HotSpot keeps its socket whatever
// java.io.tmpdir says.
func (p Process) tmp() (*os.File, error) {
	f, err := openDir(p.PID, "/tmp")
	if err == nil {
		return f, nil
	}
	if _, gone := p.look(); gone != nil {
		return nil, gone
	}
	if pe := (*os.PathError)(nil); errors.As(err, &pe) && pe.Path == procFile(p.PID, "root") && errors.Is(err, os.ErrNotExist) {
		return nil, exited(p.PID) // it has let go of its root already
	}
	if errors.Is(err, os.ErrPermission) {
		return nil, otherUser(p, err)
	}
	return nil, &Error{PID: p.PID, Kind: ErrReadOnly, Err: err, Cause: "the JVM has no /tmp for its attach socket", Fix: "give its container a writable /tmp, such as a small tmpfs"}
}

// socket finds the target's socket.
func (p Process) socket() (unix.Stat_t, error) {
	tmp, err := p.tmp()
	if err != nil {
		return unix.Stat_t{}, err
	}
	defer tmp.Close()
	return statSocket(tmp, p.NSPID)
}

// removeSocket deletes a socket that nobody listens on. While it exists, a JVM
// that listens elsewhere would answer SIGQUIT with a thread dump.
func (p Process) removeSocket() {
	tmp, err := p.tmp()
	if err != nil {
		return
	}
	defer tmp.Close()
	_ = asUser(p.UID, p.GID, func() error { return unix.Unlinkat(int(tmp.Fd()), socketName(p.NSPID), 0) })
}

// removeForeign deletes the socket of another user's JVM that had the same
// number and died: this JVM wanted to at its start, but in a sticky /tmp only
// root can. It is kept if we aren't root or somebody listens.
func (p Process) removeForeign(tmp *os.File, uid uint32) error {
	left := &Error{
		PID: p.PID, Kind: ErrNoSocket, Cause: fmt.Sprintf("/tmp/%s is left from a JVM of another user (uid %d)", socketName(p.NSPID), uid),
		Fix: "remove that file and try again",
	}
	if unix.Geteuid() != 0 {
		return left
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return left
	}
	defer unix.Close(fd)
	file, err := unix.Openat(int(tmp.Fd()), socketName(p.NSPID), unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return left
	}
	defer unix.Close(file)
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: fdPath(file)}); !errors.Is(err, unix.ECONNREFUSED) {
		left.Cause = fmt.Sprintf("/tmp/%s belongs to a process of another user (uid %d)", socketName(p.NSPID), uid)
		left.Fix = "give containers that share /tmp one of their own"
		return left
	}
	if err := unix.Unlinkat(int(tmp.Fd()), socketName(p.NSPID), 0); err != nil && !errors.Is(err, unix.ENOENT) {
		left.Kind, left.Err = ErrReadOnly, err
		left.Cause += ", and can't be removed"
		left.Fix = "make the JVM's /tmp writable, or remove that file"
		return left
	}
	return nil
}

// checkPlace returns an error if something that is no socket lies where the JVM's socket must go
// and the JVM can't replace it. It would be asked in vain, each time anew.
func (p Process) checkPlace(tmp *os.File) error {
	st, err := statSocket(tmp, p.NSPID)
	if !errors.Is(err, unix.ENOTSOCK) || st.Uid == p.UID && st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return nil
	}
	return &Error{
		PID: p.PID, Kind: ErrNoSocket, Cause: fmt.Sprintf("/tmp/%s, where the JVM's socket must go, is no socket, and belongs to uid %d", socketName(p.NSPID), st.Uid),
		Fix: "remove it and try again",
	}
}

func socketName(nspid int) string { return ".java_pid" + strconv.Itoa(nspid) }

func statSocket(tmp *os.File, nspid int) (unix.Stat_t, error) {
	var st unix.Stat_t
	err := unix.Fstatat(int(tmp.Fd()), socketName(nspid), &st, unix.AT_SYMLINK_NOFOLLOW)
	if err == nil && st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		err = unix.ENOTSOCK
	}
	return st, err
}
