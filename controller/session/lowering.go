package session

import (
	"slices"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/governor"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// leastDormant is the least that a dormant probe is believed to cost, in ns. The sample, a call in a loop, hides
// what the probe keeps the compiler from doing with methods that are far shorter.
const leastDormant = 0.5

// assumed are costs of a call in ns until they have been measured.
var assumed = governor.Costs{
	Inside:  [...]float64{governor.Precise: 50, governor.Tick: 4, governor.Counted: 4, governor.Leaf: 3, governor.Off: 1, governor.Out: 0},
	Dormant: 1,
}

// governorMode is a mode as package governor has it.
func governorMode(mode byte) governor.Mode {
	switch mode {
	case wire.ModePrecise, wire.ModeEventPrecise:
		return governor.Precise
	case wire.ModeCounted:
		return governor.Counted
	case wire.ModeLeaf:
		return governor.Leaf
	case wire.ModeOff:
		return governor.Off
	}
	return governor.Tick
}

// callCosts are what calls cost in this target, as far as that was measured by now. It is the
// loop's.
func (l *loop) callCosts() governor.Costs {
	c := assumed
	for mode, at := range map[byte]governor.Mode{wire.ModePrecise: governor.Precise, wire.ModeTick: governor.Tick, wire.ModeLeaf: governor.Leaf, wire.ModeEventPrecise: governor.Precise, wire.ModeEventTick: governor.Tick} {
		if found := l.calibrator.Cost(mode); found != nil && found.Total() > 0 {
			c.Inside[at] = found.Total()
		}
	}
	c.Inside[governor.Counted] = c.Inside[governor.Tick]
	if found := l.calibrator.Cost(wire.ModeOff); found != nil {
		c.Dormant = max(found.Total(), leastDormant)
		c.Inside[governor.Off] = c.Dormant
	}
	return c
}

// applySetting makes a setting hold. Nothing waits for that.
func (l *loop) applySetting(set governor.Setting) {
	l.s.data.Every(uint32(set.Every))
	out := map[cha.ClassID]bool{}
	for id := int32(1); id < l.ledger.Len(); id++ {
		m := l.ledger.Method(id)
		now, was := set.Lowered[id], l.lowered[id]
		if m == nil || (now == governor.Out) == (was == governor.Out) {
			continue
		}
		switch {
		case now == governor.Out && m.Reason == "" && !m.Sites:
			m.Reason = takenOut
		case was == governor.Out && m.Reason == takenOut:
			m.Reason = ""
		default:
			continue
		}
		class := cha.ClassID(m.Class)
		l.changes.want(class)
		out[class] = true
	}
	l.lowered = set.Lowered
	l.rec.switched = l.applyModes() > 0 || l.rec.switched
	if len(out) > 0 {
		l.enqueue(&job{classes: sortedClasses(out), all: true, done: func([]cha.ClassID) {}})
	}
}

// takenOut is why methods have no probes that cost too much.
const takenOut = "its probe was taken out to hold the budget of --overhead"

func sortedClasses(set map[cha.ClassID]bool) []cha.ClassID {
	var out []cha.ClassID
	for id := range set {
		out = append(out, id)
	}
	slices.SortFunc(out, cha.ClassID.Compare)
	return out
}

// lower is the mode of a method that the governor has lowered.
func (l *loop) lower(id cha.MethodID, mode byte) byte {
	if len(l.lowered) == 0 {
		return mode
	}
	m := l.ledger.Lookup(keyOf(id))
	if m == nil {
		return mode
	}
	low, ok := l.lowered[m.ID]
	switch {
	case !ok || mode == wire.ModeOff:
	case low >= governor.Off:
		return wire.ModeOff
	case mode == wire.ModeLeaf:
	case low == governor.Counted:
		return wire.ModeCounted
	case low == governor.Tick && mode == wire.ModePrecise:
		return wire.ModeTick
	}
	return mode
}
