package session

import (
	"slices"

	"github.com/rivulet-profiler/rivulet/calibrate"
	"github.com/rivulet-profiler/rivulet/controller/allocation"
	"github.com/rivulet-profiler/rivulet/controller/calibration"
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/clock"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// correctionInputs returns those of the recording that has ended.
func (s *Session) correctionInputs() correctionInputs {
	b := s.loop.correctionInputs()
	if s.loop.final != nil {
		b.modes = s.loop.final
	}
	return b
}

// correctionInputs are what the correction of times is computed from, at one moment.
type correctionInputs struct {
	clock    byte
	modes    []byte // of methods by id
	costs    map[byte]*calibration.Cost
	executed []cct.Executed   // by id; nil where nobody asked for bytecodes
	types    []*cct.Type      // by id; nil where nobody asked for allocations
	sizes    map[string]int64 // of classes' objects, by their names in internal form; never changed
	tick     *export.Tick     // nil where the tick clock has not run
}

// correctionInputs returns those of the present recording.
func (l *loop) correctionInputs() correctionInputs {
	b := correctionInputs{clock: l.s.data.MainMode(), modes: make([]byte, l.ledger.Len()), costs: l.calibrator.Costs(), executed: l.executed(), types: l.allocations.Types(), sizes: l.allocations.Sizes()}
	for id := range b.modes {
		b.modes[id] = l.s.data.Mode(int32(id)) &^ wire.ModeRoot
	}
	if l.s.ticker != nil {
		b.tick = l.s.ticker.Figures()
	}
	return b
}

// counted are the methods that were recorded without times of their own.
func (b correctionInputs) counted() map[int32]bool {
	out := map[int32]bool{}
	for id, mode := range b.modes {
		if calibration.Counts(mode) {
			out[int32(id)] = true
		}
	}
	return out
}

// correct takes the probes' cost off a report's tree, where it is known; where
// it isn't, the report's calibration is null and says so.
func (b correctionInputs) correct(r *export.Report) {
	r.Tree.Threads = slices.DeleteFunc(r.Tree.Threads, func(t *cct.Thread) bool {
		return t.RootEntries == 0 && len(t.Roots) == 0
	})
	b.count(r)
	allocation.NameReflected(r, b.types, b.sizes)
	main := b.costs[b.clock]
	if main == nil {
		r.Tree.GiveToCallers(func(id int32) bool { return calibration.Counts(b.mode(id)) })
		return
	}
	r.Calibration = &export.Calibration{Inner: main.Inner, Outer: main.Outer, Spread: b.cost(b.clock).Spread, Batches: main.Batches}
	if leaf := b.costs[wire.ModeLeaf]; leaf != nil {
		r.Calibration.Leaf = leaf.Total()
	}
	if ticks(b.clock) {
		r.Calibration.Tick = b.tick
	}
	r.Correction = b.fix(r.Tree)
}

// cost is what a mode's probes were found to cost, zero if they weren't measured.
// Those that neither read a clock nor write events are as cheap as in the sample at best.
func (b correctionInputs) cost(mode byte) (c calibrate.Cost) {
	if found := b.costs[mode]; found != nil {
		c = found.Cost
	}
	if mode == wire.ModeTick || calibration.Counts(mode) {
		c = c.AtBest()
	}
	return c
}

// mode is how a method was recorded.
func (b correctionInputs) mode(id int32) byte {
	if id > 0 && int(id) < len(b.modes) && b.modes[id] >= wire.ModeEventTick {
		return b.modes[id]
	}
	return b.clock
}

// fix gives the time of methods that are counted only to their callers, and
// takes the probes' cost off a tree, where it is known.
func (b correctionInputs) fix(tree *cct.Snapshot) cct.Correction {
	tree.GiveToCallers(func(id int32) bool { return calibration.Counts(b.mode(id)) })
	if b.costs[b.clock] == nil {
		return cct.Correction{}
	}
	gap := float64(clock.Period)
	if b.tick != nil {
		gap = b.tick.Weighted
	}
	return tree.Correct(func(id int32) cct.Clock {
		m := b.mode(id)
		k := cct.Clock{Counted: calibration.Counts(m)}
		k.Cost = b.cost(m)
		if ticks(m) {
			k.Tick = gap
		}
		return k
	})
}

func (l *loop) clockName() string {
	if l.clock() == wire.ModeTick {
		return "tick"
	}
	return "precise"
}
