package session

import (
	"context"
	"errors"
	"path"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/room"
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

// A RootInfo is what is known of a root before it is recorded. Its lists are
// empty where there is nothing to say.
type RootInfo struct {
	Methods       []string            // that it stands for, pkg.Class.method(desc)ret; none: its class is not loaded yet
	Class         string              // pkg.Class; "" for a pattern
	Overloads     []string            // of a root that is no pattern: what it names in its class, method(desc)ret
	Abstract      []string            // of these, those without code: their implementations are the roots
	Loaders       map[string][]string // by class, where several class loaders have it
	Uninitialized []string            // classes that most likely nobody has called yet

	Threads []string // by name, that are inside it at the moment
	Callees []string // if Threads: what it calls, first what it is in just now
	NoDump  error    // why Threads are not known: the JVM gave no thread dump
}

// InspectRoot says what a root stands for, and which threads are inside it: it
// takes one thread dump of the target, a pause of about a millisecond. Nothing is
// redefined. Errors are [*spec.Error] or wrap [ErrNoRoot] where the root can't be
// one, or say why the session has ended. It is safe for concurrent use.
func (s *Session) InspectRoot(ctx context.Context, text string) (RootInfo, error) {
	var info RootInfo
	specs, _, err := s.prepare(ctx, Recording{Roots: []string{text}})
	if err != nil {
		return info, err
	}
	dump, err := s.vm.ThreadDump(ctx)
	info.NoDump = err
	err = s.do(ctx, func() {
		l, r := &s.loop, &specs[0]
		l.describe(&info, r)
		if info.NoDump != nil || len(r.ids) == 0 {
			return
		}
		var above []string
		if info.Threads, above = onStack(dump, r); len(info.Threads) > 0 {
			info.Callees = append(above, l.callees(r)...)
		}
	})
	return info, err
}

// describe says what a root stands for.
func (l *loop) describe(info *RootInfo, r *rootSpec) {
	seen := map[string][]string{}
	info.Loaders = map[string][]string{}
	for _, id := range r.ids {
		info.Methods = append(info.Methods, id.String())
		name, loader := id.Class.String(), l.loaders[id.Class.Loader]
		if slices.Contains(seen[name], loader) {
			continue
		}
		if seen[name] = append(seen[name], loader); len(seen[name]) > 1 {
			info.Loaders[name] = seen[name]
		}
		if c := l.h.Class(id.Class); c != nil && !c.Initialized {
			info.Uninitialized = append(info.Uninitialized, name)
		}
	}
	if r.pattern != nil {
		return
	}
	for _, m := range l.h.Named(r.class) {
		info.Class = m.ID.String()
		for i := range m.Methods {
			f := &m.Methods[i]
			if !r.names(m, f) {
				continue
			}
			info.Overloads = append(info.Overloads, f.Name+f.Desc)
			if f.IsAbstract() {
				info.Abstract = append(info.Abstract, f.Name+f.Desc)
			}
		}
	}
	slices.Sort(info.Overloads)
	info.Overloads = slices.Compact(info.Overloads)
}
