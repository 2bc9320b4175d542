package linktest

import (
	"slices"
	"sync/atomic"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// Class is a copy of a loaded class, nil if there is none of that name.
func (a *Agent) Class(id cha.ClassID) *Class {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.classes[id]; c != nil {
		copied := *c
		return &copied
	}
	return nil
}

// Redefined are the batches of classes that were redefined so far.
func (a *Agent) Redefined() [][]cha.ClassID {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.batches)
}

// Load has a thread load a class, inside the subgraph or not: it gets the bytes that the
// session wants.
func (a *Agent) Load(c *Class, inside bool) error {
	flags := uint8(0)
	if inside {
		flags = wire.HookInside
	}
	b, err := a.transform(c.ID, c.File, flags)
	if err != nil {
		return err
	}
	c.Bytes = b
	a.mu.Lock()
	defer a.mu.Unlock()
	a.add(c)
	return nil
}

// Unload has a class be gone.
func (a *Agent) Unload(id cha.ClassID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.classes, id)
	a.order = slices.DeleteFunc(a.order, func(o cha.ClassID) bool { return o == id })
}

// Enter has a thread enter an instrumented method. Where that is fresh, the thread waits until
// its callees are instrumented, and does its part of that.
func (a *Agent) Enter(method int32) error {
	if a.Mode(method) != wire.ModeFresh {
		return nil
	}
	reply, err := a.memory.call(&link.Reveal{Method: method})
	if err != nil {
		return err
	}
	return a.part(method, reply)
}

// Find has a thread be about to call methods that no code names. Number is negative, and its own.
func (a *Agent) Find(number int32, methods ...cha.MethodID) error {
	at := a.memory.long(wire.HRedefined)
	reply, err := a.memory.call(&link.Targets{Number: number, Redefined: atomic.LoadInt64(at), Methods: methods})
	if err != nil {
		return err
	}
	return a.part(number, reply)
}

// part redefines what is left to a thread that waits.
func (a *Agent) part(number int32, reply []byte) error {
	for len(reply) > 0 { // an empty one: it can't be done now
		var left link.Left
		if err := link.Decode(&left, reply); err != nil {
			return err
		}
		if len(left.Classes) == 0 {
			break
		}
		refused, err := a.redefine(left.Classes, wire.HookReveal)
		if err != nil {
			return err
		}
		if reply, err = a.memory.call(&link.Revealed{Method: number, Refused: refused, Done: left.Classes}); err != nil {
			return err
		}
	}
	return nil
}

// Mode is how a method is recorded, a MODE_ number without MODE_ROOT.
func (a *Agent) Mode(method int32) byte {
	return a.memory.mem[wire.OffModes+int64(method)] &^ wire.ModeRoot
}

// Send sends any bytes as a request, and returns the reply.
func (a *Agent) Send(typ uint32, body []byte) ([]byte, error) { return a.memory.send(typ, body) }
