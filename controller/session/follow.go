package session

import (
	"context"
	"errors"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/patch"
	"github.com/rivulet-profiler/rivulet/hotswap"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/verify"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// following is how tasks are followed to the threads that execute them: methods
// of the JDK through which they go tell the boot class Follow (decision 16).
type following struct {
	jdkPatches
	rows map[string]map[probe.MethodKey]*hotswap.Method // of executing methods, by class
}

// followTasks changes the classes through which tasks go, before the gate opens, and has
// run methods of the program's own thread classes begin executions. With waits
// it changes those in which threads wait, too.
func (s *Session) followTasks(ctx context.Context, waits bool) error {
	follow := s.bundle.Part("Follow")
	edit, err := patch.Tasks(patch.Parts{Probe: s.bundle.Probe, Follow: follow, Waits: s.bundle.Part("Waits")}, waits)
	if err != nil {
		return err
	}
	f := following{jdkPatches: jdkPatches{Edit: edit}, rows: map[string]map[probe.MethodKey]*hotswap.Method{}}
	var problem error
	err = s.patchJDK(ctx, &f.jdkPatches, func() {
		l := &s.loop
		l.following = f
		runs := func(super string) func(hotswap.ClassID, probe.MethodKey) bool {
			return func(id hotswap.ClassID, m probe.MethodKey) bool {
				return m.Name == "run" && m.Desc == "()V" && l.h.Extends(cha.ClassID(id), super)
			}
		}
		problem = l.ledger.StartsBy(
			hotswap.Start{Call: probe.Call{Class: follow, Name: "start", Desc: "(I)J"}, Is: runs("java/lang/Thread")},
			hotswap.Start{Call: probe.Call{Class: follow, Name: "start", Desc: "(Ljava/lang/Object;I)J"}, This: true, Is: runs("java/util/TimerTask")},
		)
		s.data.Follow()
	})
	return errors.Join(problem, err)
}

// patched shows the loop to package patch.
type patched struct{ l *loop }

// Types implements patch.Target.
func (p patched) Types(loader uint32) verify.Hierarchy { return types{p.l.h, loader} }

// Method implements patch.Target.
func (p patched) Method(id cha.ClassID, k probe.MethodKey) (int32, bool) {
	l := p.l
	rows := l.following.rows[id.Name]
	if rows == nil {
		rows = map[probe.MethodKey]*hotswap.Method{}
		l.following.rows[id.Name] = rows
	}
	m := rows[k]
	if m == nil {
		if m = l.ledger.Door(hotswap.ClassID(id), k); m == nil {
			return 0, false
		}
		rows[k] = m
		l.setMode(m.ID, l.modeOf(methodID(m), true))
	}
	return m.ID, true
}
