package sampler

import (
	"github.com/rivulet-profiler/rivulet/controller/sampler/unwinder"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
)

// A Trace is one sample and what came of it, for looking into the sampler's own faults. It is
// valid until the function that was given it returns.
type Trace struct {
	Walk   *unwinder.Walk
	Java   bool // of one of Java's threads
	s      *Sampler
	regs   unwinder.Registers
	dump   []byte
	thread unwinder.Thread
}

// Explain describes the sample: registers, stack and code around the place where its walk
// ended.
func (t Trace) Explain() string { return t.s.u.Explain(t.regs, t.dump, t.Walk) }

// Core does the walk once more and returns all that it needed. It has parts of the target's
// stack and code.
func (t Trace) Core() (*unwinder.Walk, *unwinder.Core) {
	c := unwinder.Core{Layout: *t.s.layout, Registers: t.regs, Dump: t.dump, Thread: t.thread}
	return unwinder.Record(c, vmstructs.Process(t.s.pid), t.s.images)
}
