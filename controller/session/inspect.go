package session

import (
	"context"
	"errors"
	"path"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/room"
	"github.com/rivulet-profiler/rivulet/controller/roots"
	"github.com/rivulet-profiler/rivulet/jvmside"
)

// ErrAgentStays reports that the agent of an earlier session is in the target
// and does not leave, though no controller holds the target any more.
var ErrAgentStays = errors.New("the agent of another session is in this JVM and does not leave")

// CheckFree tells whether a session could have the target: [ErrBusy] if another
// controller has it, [ErrAgentStays] if an agent does not leave within four
// seconds, ctx's error, or that of opening the process. Nothing is kept. It is
// safe for concurrent use, but a call reserves the target for a moment, so one
// that runs beside another, or beside Attach, may find it busy.
func CheckFree(ctx context.Context, pid int) error {
	lock, err := room.Reserve(pid)
	if err != nil {
		return err
	}
	room.Release(lock)
	err = waitForOther(ctx, pid)
	if errors.Is(err, ErrBusy) {
		return ErrAgentStays
	}
	return err
}

// CheckFiles makes the files of a session in the target and removes them. It
// returns the tmpfs that the trees would lie on, as the target names it, and how
// many bytes are left there. Errors say which file could not be made. It is safe
// for concurrent use.
func CheckFiles(p attach.Process) (dir string, free int64, err error) {
	bundle, err := jvmside.NewBundle()
	if err != nil {
		return "", 0, err
	}
	r, err := room.New(p.PID, p.UID, p.GID, bundle)
	if err != nil {
		return "", 0, err
	}
	defer r.Close(false)
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(r.Data.Fd()), &fs); err != nil {
		return "", 0, err
	}
	return path.Dir(r.DataPath), int64(fs.Bavail) * fs.Bsize, nil
}

// InspectRoot says what a root stands for, and which threads are inside it: it
// takes one thread dump of the target, a pause of about a millisecond. Nothing is
// redefined. Errors are [*spec.Error] or wrap [roots.ErrNoRoot] where the root can't be
// one, or say why the session has ended. It is safe for concurrent use.
func (s *Session) InspectRoot(ctx context.Context, text string) (roots.Info, error) {
	var info roots.Info
	specs, _, err := s.prepare(ctx, Recording{Roots: []string{text}})
	if err != nil {
		return info, err
	}
	dump, err := s.vm.ThreadDump(ctx)
	none := err
	err = s.do(ctx, func() {
		c, r := s.loop.catalog(), &specs[0]
		info = c.Describe(r)
		if info.NoDump = none; none != nil || len(r.IDs) == 0 {
			return
		}
		var above []string
		if info.Threads, above = roots.OnStack(dump, r); len(info.Threads) > 0 {
			info.Callees = append(above, c.Callees(r)...)
		}
	})
	return info, err
}
