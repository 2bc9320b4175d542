package threads

import (
	"fmt"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// A Seen is a thread as a sampler sees it from outside the JVM.
type Seen struct {
	Stack stack.Stack
	ID    int64 // Java's; 0 if not known
	NID   int   // in the target's own pid namespace

	Daemon bool
}

// Outside are threads in the form of a dump. What they hold is told only of locks that others wait for. file names the source file of a method; "" if it is not known.
func Outside(seen []Seen, file func(*stack.Method) string) []Thread {
	out := make([]Thread, len(seen))
	by := map[int]int{}
	for i := range seen {
		s := &seen[i].Stack
		by[s.TID] = i
		t := Thread{Name: s.Thread, ID: seen[i].ID, NID: seen[i].NID, Daemon: seen[i].Daemon, CPU: -1, Holds: []Lock{}, Stack: []string{}}
		t.State, t.Detail = javaState(s)
		for _, f := range s.Frames {
			if line := frameText(f, file); line != "" {
				t.Stack = append(t.Stack, line)
			}
		}
		out[i] = t
	}
	held := map[int]map[Lock]bool{}
	for i := range seen {
		s := &seen[i].Stack
		if s.Lock == nil || s.Lock.Class == "" {
			continue
		}
		t := &out[i]
		l := Lock{Class: strings.ReplaceAll(s.Lock.Class, "/", ".")}
		if s.Lock.Address != 0 {
			l.Address = fmt.Sprintf("0x%016x", s.Lock.Address)
		}
		t.WaitFor = &l
		switch s.State {
		case stack.Blocked:
			t.Wait = Enter
		case stack.Parked:
			t.Wait = Park
		default:
			t.Wait = Notify
		}
		o, known := by[s.Lock.Owner]
		if s.Lock.Owner == 0 || !known {
			continue
		}
		if t.owner = out[o].ID; t.owner == 0 {
			t.owner = -int64(out[o].NID)
		}
		if held[o] == nil {
			held[o] = map[Lock]bool{}
		}
		if !held[o][l] {
			held[o][l] = true
			out[o].Holds = append(out[o].Holds, l)
		}
	}
	return out
}

// The bits of a state that java.lang.Thread.State goes by: JVM TI, GetThreadState.
const (
	stateRunnable = 0x4
	stateLimit    = 0x20
	stateSleeping = 0x40
	stateObject   = 0x100
	stateParked   = 0x200
	stateBlocked  = 0x400
)

// javaState is a thread's java.lang.Thread.State, and what dumps say beside it.
func javaState(s *stack.Stack) (state, detail string) {
	waits := "WAITING"
	if s.Status&stateLimit != 0 {
		waits = "TIMED_WAITING"
	}
	switch {
	case s.State == stack.Blocked:
		return "BLOCKED", "on object monitor"
	case s.State == stack.Running, s.State == stack.Runnable, s.Status&stateRunnable != 0:
		return "RUNNABLE", ""
	case s.State == stack.Waiting, s.Status&stateObject != 0:
		return waits, "on object monitor"
	case s.State == stack.Parked, s.Status&stateParked != 0:
		return waits, "parking"
	case s.State == stack.Sleeping, s.Status&stateSleeping != 0:
		return "TIMED_WAITING", "sleeping"
	case s.Status&stateBlocked != 0:
		return "BLOCKED", "on object monitor"
	}
	return "RUNNABLE", ""
}

// frameText is a frame as dumps write it, "pkg.Class.method(File.java:12)"; "" if it is not one of Java's.
func frameText(f stack.Frame, file func(*stack.Method) string) string {
	switch {
	case f.Method == nil || f.Kind == stack.Native || f.Kind == stack.Kernel || f.Kind == stack.Stub:
		return ""
	case f.Method.Class == "":
		return f.Method.Name
	}
	name := strings.ReplaceAll(f.Method.Class, "/", ".") + "." + f.Method.Name
	source := file(f.Method)
	switch {
	case f.Kind == stack.JavaNative:
		return name + "(Native Method)"
	case source == "":
		return name + "(Unknown Source)"
	case f.Line == 0:
		return name + "(" + source + ")"
	}
	return fmt.Sprintf("%s(%s:%d)", name, source, f.Line)
}
