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

// A trigger is the file whose existence makes HotSpot take SIGQUIT for a
// request to listen. Whoever shakes hands holds a lock on it: a second SIGQUIT
// after the first one's success would print a thread dump.
type trigger struct {
	proc  Process
	dir   *os.File
	fd    int  // locked
	found bool // somebody else created it
}

var (
	errOwner  = errors.New("the file system gave the trigger file another owner")
	errLocked = errors.New("another attach is under way")
	errTaken  = errors.New("a file of this name belongs to another user")
)

func triggerName(nspid int) string { return ".attach_pid" + strconv.Itoa(nspid) }

// plant returns a locked trigger, or nil if meanwhile the socket came into
// being by another's effort.
func (vm *VM) plant(ctx context.Context, tmp *os.File) (*trigger, error) {
	p := vm.proc
	for {
		trig, err := plantAnywhere(p, tmp)
		if err == nil && !trig.found {
			return trig, nil
		}
		if err == nil {
			// Nobody holds the lock: the file is left from the dead, or a
			// tool of the JDK, which knows no locks, is at work.
			grace, cancel := context.WithTimeout(ctx, time.Second)
			err = vm.await(grace, tmp)
			cancel()
			switch {
			case err == nil:
				trig.remove()
				return nil, nil
			case grace.Err() == nil:
				trig.remove()
				return nil, err
			}
			return trig, nil
		}
		if !errors.Is(err, errLocked) {
			return nil, triggerError(p, err)
		}
		if _, err := statSocket(tmp, p.NSPID); err == nil {
			return nil, nil
		}
		if _, err := p.look(); err != nil {
			return nil, err
		}
		if !sleep(ctx, 5*time.Millisecond) {
			return nil, cancelled(ctx, p.PID, &Error{
				PID: p.PID, Kind: ErrNoSocket, Err: errLocked, Cause: "the JVM's attach listener didn't start in time", Fix: "try again",
			})
		}
	}
}

// plantAnywhere creates the trigger. HotSpot looks in its current directory
// first and in /tmp then; /tmp comes first here because that is where the
// socket must go anyway and where nobody watches for new files. A trigger of
// somebody else in the current directory would hide ours.
func plantAnywhere(p Process, tmp *os.File) (*trigger, error) {
	cwd, err := os.OpenFile(procFile(p.PID, "cwd"), unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return plantIn(p, tmp, true)
	}
	defer cwd.Close()
	if uid, there := triggerOwner(p, cwd); there {
		if uid != p.UID {
			return nil, &Error{
				PID: p.PID, Kind: ErrNoSocket,
				Cause: fmt.Sprintf("a file %s of another user (uid %d) lies in the JVM's current directory and would make it print a thread dump", triggerName(p.NSPID), uid),
				Fix:   "remove that file",
			}
		}
		return plantIn(p, cwd, false)
	}
	t, err := plantIn(p, tmp, true)
	if !errors.Is(err, errOwner) && !errors.Is(err, errTaken) { // errOwner: such as NFS with all_squash
		return t, err
	}
	if t, other := plantIn(p, cwd, true); other == nil || errors.Is(err, errOwner) {
		return t, other
	}
	return nil, err
}

// triggerOwner is the owner of the trigger in a directory, if one is there. A link counts as itself.
func triggerOwner(p Process, dir *os.File) (uid uint32, there bool) {
	var st unix.Stat_t
	err := unix.Fstatat(int(dir.Fd()), triggerName(p.NSPID), &st, unix.AT_SYMLINK_NOFOLLOW)
	return st.Uid, err == nil
}

// plantIn creates the trigger in a directory, or takes over the one that is
// there, and locks it.
func plantIn(p Process, dir *os.File, create bool) (*trigger, error) {
	t := &trigger{proc: p, found: !create}
	name := triggerName(p.NSPID)
	// Nothing of another user's is opened: its lock would keep us waiting.
	if uid, there := triggerOwner(p, dir); create && there && uid != p.UID {
		return nil, errTaken
	}
	const flags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK
	err := asUser(p.UID, p.GID, func() (err error) {
		t.fd = -1
		if create {
			t.fd, err = unix.Openat(int(dir.Fd()), name, flags|unix.O_CREAT|unix.O_EXCL, 0o600)
			t.found = errors.Is(err, unix.EEXIST)
		}
		if t.found {
			t.fd, err = unix.Openat(int(dir.Fd()), name, flags, 0)
		}
		return err
	})
	if t.found && errors.Is(err, unix.ENOENT) {
		return nil, errLocked // it has just gone; look again
	}
	if err != nil {
		return nil, err
	}
	if t.dir, err = duplicate(dir); err != nil {
		unix.Close(t.fd)
		return nil, err
	}
	var st unix.Stat_t
	if err = unix.Flock(t.fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		err = errLocked
	} else if err = unix.Fstat(t.fd, &st); err == nil && st.Nlink == 0 {
		err = errLocked
	}
	switch {
	case err != nil:
		t.release()
		return nil, err
	case st.Uid != p.UID:
		if t.found {
			t.release()
		} else {
			t.remove()
		}
		return nil, errOwner
	}
	return t, nil
}

// sweep deletes a trigger that has been left behind. The socket exists, so
// nobody needs it any more.
func sweep(p Process, tmp *os.File) {
	var st unix.Stat_t
	if unix.Fstatat(int(tmp.Fd()), triggerName(p.NSPID), &st, unix.AT_SYMLINK_NOFOLLOW) != nil || st.Uid != p.UID {
		return
	}
	if t, err := plantIn(p, tmp, false); err == nil {
		t.remove()
	}
}

func duplicate(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// remove deletes the trigger, also one that was found: it is locked, so its
// creator is done or dead.
func (t *trigger) remove() {
	_ = asUser(t.proc.UID, t.proc.GID, func() error {
		return unix.Unlinkat(int(t.dir.Fd()), triggerName(t.proc.NSPID), 0)
	})
	t.release()
}

func (t *trigger) release() {
	unix.Flock(t.fd, unix.LOCK_UN) //nolint:errcheck // a program that is just being started may have it, too
	unix.Close(t.fd)
	t.dir.Close()
}

func triggerError(p Process, err error) error {
	var told *Error
	if errors.As(err, &told) {
		return err
	}
	e := &Error{PID: p.PID, Kind: ErrReadOnly, Err: err, Cause: "can't create the trigger file in the JVM's /tmp", Fix: "make its /tmp writable for the JVM's user"}
	switch {
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		e.Fix = "free some space on its /tmp"
	case errors.Is(err, errTaken):
		e.Kind, e.Cause = ErrNoSocket, fmt.Sprintf("a file %s of another user lies in the JVM's /tmp, and its current directory can't have one", triggerName(p.NSPID))
		e.Err, e.Fix = nil, "remove that file"
	case errors.Is(err, errOwner):
		e.Fix = "run as the JVM's user"
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EINVAL):
		e.Kind, e.Fix = ErrOtherUser, "run as "+p.User+", or as root with CAP_SETUID and CAP_SETGID"
	}
	return e
}
