package patch

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// What a patched method tells Follow.
type patchKind int

const (
	patchSubmit   patchKind = iota // the object in a local is handed over
	patchSchedule                  // the same, by a schedule
	patchReject                    // it will not be executed after all
	patchExecute                   // the receiver is executed
	patchLoop                      // the method executes tasks by calling run on them
	patchBefore                    // a loop is about to execute the object in a local
	patchAfter                     // it has, and caught what is in a local, or null
	patchQuiet                     // the method starts threads that are no tasks
	patchPark                      // the method parks the thread
	patchJoin                      // it waits for the end of the receiver, a thread
	patchAwait                     // it waits for the receiver's end, a task, on its monitor
	patchEnd                       // it notifies those
	patchWake                      // it lets the thread in a local go on
)

// A taskPatch is a method, or overloads, through which tasks go. No JDK has all
// that there are for one purpose in a class; each has at least one.
type taskPatch struct {
	class, name, desc string // desc "" is any
	kind              patchKind
	local             int // of the task, or of the thread
}

const jucPrefix = "java/util/concurrent/"

// taskPatches is the table of them, JDK 8 to 25 (read from their class files).
// An execution is known by the object that its submission named: a thread, a
// Runnable, a ForkJoinTask (which stages of a CompletableFuture are, too), a
// TimerTask. A task may pass several patched methods on its way; the first one counts.
var taskPatches = []taskPatch{
	{class: "java/lang/Thread", name: "start", desc: "()V", kind: patchSubmit},
	{class: "java/lang/Thread", name: "start", desc: "(Ljdk/internal/vm/ThreadContainer;)V", kind: patchSubmit},
	{class: "java/lang/Thread", name: "run", desc: "()V", kind: patchExecute},
	{class: "java/lang/VirtualThread", name: "start", desc: "(Ljdk/internal/vm/ThreadContainer;)V", kind: patchSubmit},
	{class: "java/lang/VirtualThread", name: "run", desc: "(Ljava/lang/Runnable;)V", kind: patchExecute},

	{class: jucPrefix + "ThreadPoolExecutor", name: "execute", kind: patchSubmit, local: 1},
	{class: jucPrefix + "ThreadPoolExecutor", name: "reject", kind: patchReject, local: 1},
	{class: jucPrefix + "ThreadPoolExecutor", name: "addWorker", kind: patchQuiet},
	{class: jucPrefix + "ThreadPoolExecutor", name: runWorker, kind: patchLoop},
	{class: jucPrefix + "ThreadPoolExecutor", name: "beforeExecute", kind: patchBefore, local: 2},
	{class: jucPrefix + "ThreadPoolExecutor", name: "afterExecute", kind: patchAfter, local: 2},
	{class: jucPrefix + "ScheduledThreadPoolExecutor", name: "delayedExecute", kind: patchSchedule, local: 1},

	{class: jucPrefix + "ForkJoinTask", name: "fork", desc: "()Ljava/util/concurrent/ForkJoinTask;", kind: patchSubmit},
	{class: jucPrefix + "ForkJoinTask", name: "doExec", kind: patchExecute},
	{class: jucPrefix + "ForkJoinPool", name: "externalPush", kind: patchSubmit, local: 1},
	{class: jucPrefix + "ForkJoinPool", name: "externalSubmit", kind: patchSubmit, local: 1},
	{class: jucPrefix + "ForkJoinPool", name: "poolSubmit", kind: patchSubmit, local: 2},

	// A stage belongs where it was asked for, not where the one before it ended.
	{class: jucPrefix + "CompletableFuture", name: "push", desc: "(Ljava/util/concurrent/CompletableFuture$UniCompletion;)V", kind: patchSubmit, local: 1},
	{class: jucPrefix + "CompletableFuture", name: "unipush", kind: patchSubmit, local: 1},
	{class: jucPrefix + "CompletableFuture", name: "bipush", kind: patchSubmit, local: 2},
	{class: jucPrefix + "CompletableFuture", name: "orpush", kind: patchSubmit, local: 2},
	{class: jucPrefix + "CompletableFuture$Completion", name: "run", desc: "()V", kind: patchExecute},

	{class: "java/util/Timer", name: "sched", kind: patchSchedule, local: 1},
	{class: "java/util/TimerThread", name: "mainLoop", kind: patchLoop},
}

// waitPatches are where threads wait and are let go on, for the critical path
// (decision 18). JDK 8 and 11 join a ForkJoinTask on its monitor, later ones park.
var waitPatches = []taskPatch{
	{class: "java/util/concurrent/locks/LockSupport", name: "park", kind: patchPark},
	{class: "java/util/concurrent/locks/LockSupport", name: "parkNanos", kind: patchPark},
	{class: "java/util/concurrent/locks/LockSupport", name: "parkUntil", kind: patchPark},
	{class: "java/util/concurrent/locks/LockSupport", name: "unpark", kind: patchWake},
	{class: "java/lang/Thread", name: "join", desc: "(J)V", kind: patchJoin},
	{class: jucPrefix + "ForkJoinTask", name: internalWait, kind: patchAwait},
	{class: jucPrefix + "ForkJoinTask", name: "externalAwaitDone", kind: patchAwait},
	{class: jucPrefix + "ForkJoinTask", name: "externalInterruptibleAwaitDone", kind: patchAwait},
	{class: jucPrefix + "ForkJoinTask", name: "setCompletion", kind: patchEnd},
	{class: jucPrefix + "ForkJoinTask", name: "setDone", kind: patchEnd},
	{class: jucPrefix + "ForkJoinTask", name: "abnormalCompletion", kind: patchEnd},
}

// internalWait is a method that ForkJoinTask has where it is joined on its monitor.
const internalWait = "internalWait"

// runWorker executes a pool's tasks in a loop. Workers that were in it when its
// class was changed go on in its old code, so beforeExecute and afterExecute
// speak for it, too, under its name.
const (
	runWorker     = "runWorker"
	runWorkerDesc = "(Ljava/util/concurrent/ThreadPoolExecutor$Worker;)V"
)

// runs are the calls by which a patchLoop executes a task.
func runs(ref classfile.MemberRef) bool {
	return ref.Name == "run" && ref.Desc == "()V" && (ref.Class == "java/lang/Runnable" || ref.Class == "java/util/TimerTask")
}

// program is what a method of this kind gets.
func (d *taskPatch) program(probes, follow, waits string) probe.Program {
	const object, token = "(Ljava/lang/Object;)V", "(J)V"
	task := probe.Step{Kind: probe.StepParam, Slot: d.local}
	call := func(i int) probe.Step { return probe.Step{Kind: probe.StepCall, Call: i} }
	tell := func(name string) probe.Program {
		return probe.Program{Calls: []probe.Call{{Class: follow, Name: name, Desc: object}}, Entry: probe.Sequence{task, call(0)}}
	}
	load, store, throw := probe.Step{Kind: probe.StepLoad}, probe.Step{Kind: probe.StepStore}, probe.Step{Kind: probe.StepOp, Op: classfile.OpAthrow}
	switch d.kind {
	case patchSubmit:
		return tell("submit")
	case patchSchedule:
		return tell("schedule")
	case patchReject:
		return tell("reject")
	case patchExecute:
		return probe.Program{
			Calls: []probe.Call{
				{Class: follow, Name: "begin", Desc: "(Ljava/lang/Object;I)J"},
				{Class: probes, Name: "exit", Desc: token},
				{Class: probes, Name: "thrown", Desc: token},
				{Class: probes, Name: "resync", Desc: token},
			},
			Local:   classfile.VLong,
			Entry:   probe.Sequence{task, {Kind: probe.StepID}, call(0), store},
			Exit:    probe.Sequence{load, call(1)},
			Handler: probe.Sequence{load, call(3)},
			Caught:  probe.Sequence{load, call(2), throw},
		}
	case patchLoop:
		return probe.Program{
			Calls: []probe.Call{
				{Class: follow, Name: "worker", Desc: "()J"},
				{Class: follow, Name: "caught", Desc: token},
				{Class: follow, Name: "runs", Desc: "(Ljava/lang/Object;I)J"},
				{Class: probes, Name: "exit", Desc: token},
			},
			Local:   classfile.VLong,
			Entry:   probe.Sequence{call(0), store},
			Handler: probe.Sequence{load, call(1)},
			Caught:  probe.Sequence{load, call(1), throw},
			Arounds: []probe.Around{{
				Before: probe.Sequence{{Kind: probe.StepReceiver}, {Kind: probe.StepID}, call(2), {Kind: probe.StepKeep}},
				After:  probe.Sequence{{Kind: probe.StepKept}, call(3)},
			}},
			At: func(p *probe.Point) (int, int32) {
				if ref, err := p.Callee(); err == nil && runs(ref) {
					return 0, 0
				}
				return -1, 0
			},
		}
	case patchBefore:
		return probe.Program{
			Calls: []probe.Call{{Class: follow, Name: "before", Desc: "(Ljava/lang/Object;I)V"}},
			Entry: probe.Sequence{task, {Kind: probe.StepID}, call(0)},
		}
	case patchAfter:
		return tell("after")
	case patchWake:
		return probe.Program{Calls: []probe.Call{{Class: waits, Name: "wakes", Desc: object}}, Entry: probe.Sequence{task, call(0)}}
	case patchPark:
		return around(probe.Call{Class: waits, Name: "parks", Desc: "()J"}, probe.Call{Class: waits, Name: "woke", Desc: token})
	case patchAwait:
		return around(probe.Call{Class: waits, Name: "awaits", Desc: "(Ljava/lang/Object;)J"}, probe.Call{Class: waits, Name: "woke", Desc: token}, task)
	case patchEnd:
		return probe.Program{Calls: []probe.Call{{Class: waits, Name: "ends", Desc: object}}, Entry: probe.Sequence{task, call(0)}}
	case patchJoin:
		return around(probe.Call{Class: waits, Name: "joins", Desc: "(Ljava/lang/Object;)J"}, probe.Call{Class: waits, Name: "woke", Desc: token}, task)
	default:
		return around(probe.Call{Class: follow, Name: "quiet", Desc: "()J"}, probe.Call{Class: follow, Name: "loud", Desc: token})
	}
}

// around calls one method at the entry, which gives a token, and another with
// that at each way out.
func around(in, out probe.Call, args ...probe.Step) probe.Program {
	call := func(i int) probe.Step { return probe.Step{Kind: probe.StepCall, Call: i} }
	load, store, throw := probe.Step{Kind: probe.StepLoad}, probe.Step{Kind: probe.StepStore}, probe.Step{Kind: probe.StepOp, Op: classfile.OpAthrow}
	return probe.Program{
		Calls:  []probe.Call{in, out},
		Local:  classfile.VLong,
		Entry:  append(args, call(0), store),
		Exit:   probe.Sequence{load, call(1)},
		Caught: probe.Sequence{load, call(1), throw},
	}
}

// Parts are the names of the probe class and its parts in the target.
type Parts struct{ Probe, Follow, Waits string }

// Tasks follows tasks to the threads that execute them; with waits also where threads wait and
// are let go on. It gives an error only if a program of its own is wrong.
func Tasks(parts Parts, waits bool) (Edit, error) {
	e := Edit{Classes: map[string]Rewriter{}}
	byClass := map[string][]taskPatch{}
	for _, d := range taskPatches {
		byClass[d.class] = append(byClass[d.class], d)
	}
	if waits {
		for _, d := range waitPatches {
			byClass[d.class] = append(byClass[d.class], d)
		}
	}
	for class, ds := range byClass {
		var ins []*probe.Injector
		for i := range ds {
			in, err := probe.NewInjector(ds[i].program(parts.Probe, parts.Follow, parts.Waits))
			if err != nil {
				return Edit{}, err
			}
			ins = append(ins, in)
		}
		e.Classes[class] = func(t Target, id cha.ClassID, b []byte) ([]byte, error) {
			found := map[patchKind]bool{}
			monitor := bytes.Contains(b, []byte(internalWait))
			for i := range ds {
				if k := ds[i].kind; (k == patchAwait || k == patchEnd) && !monitor {
					found[k] = true // it parks
					continue
				}
				out, err := ds[i].put(t, id, b, ins[i])
				if err != nil {
					return nil, err
				}
				if out != nil {
					b, found[ds[i].kind] = out, true
				}
			}
			for _, d := range ds {
				if !found[d.kind] {
					return nil, fmt.Errorf("it has no method %s, as JDKs that are known have", d.name)
				}
			}
			return b, nil
		}
	}
	return e, nil
}

// put patches one method of a class; nil if the class has no such method.
func (d *taskPatch) put(t Target, id cha.ClassID, b []byte, in *probe.Injector) ([]byte, error) {
	return inject(t, id, b, in, func(k probe.MethodKey) (int32, bool) {
		if k.Name != d.name || d.desc != "" && k.Desc != d.desc || d.local > 0 && strings.HasPrefix(k.Desc, "()") {
			return 0, false
		}
		switch d.kind {
		case patchExecute, patchLoop:
		case patchBefore:
			k = probe.MethodKey{Name: runWorker, Desc: runWorkerDesc}
		default:
			return 0, true
		}
		return t.Method(id, k)
	})
}
