package governor

import "time"

// leastScale and mostScale bound by how much the estimates are scaled, leastWeighed is how many
// root invocations either kind of stretch must have had.
const (
	leastScale   = 0.5
	mostScale    = 5
	leastWeighed = 30
)

// weighed is what was seen in stretches of one kind.
type weighed struct {
	time, cpu time.Duration
	roots     int64
	calls     map[int32]Call // where everything was recorded
}

// perRoot is the processor time of a root invocation, in ns.
func (w *weighed) perRoot() float64 { return float64(w.cpu) / float64(w.roots) }

// Weigh takes in a stretch in which every root invocation was recorded (on), or none. What a probe
// costs in a loop of nothing else is not what it costs in a program, whose code it makes larger:
// the processor time of a root invocation with and without says how far it is. The stretches
// count from [Governor.Weighed] on.
func (g *Governor) Weigh(on bool, l Look) {
	w := &g.nextOff
	if on {
		w = &g.nextOn
		if w.calls == nil {
			w.calls = map[int32]Call{}
		}
		for id, c := range l.Calls {
			c.Calls += w.calls[id].Calls
			c.Self += w.calls[id].Self
			w.calls[id] = c
		}
		if g.governed > 0 { // else counting has not begun
			g.overBudget += l.Time
		}
	}
	if g.governed > 0 {
		g.governed += l.Time
		g.now += l.Time
	}
	w.time += l.Time
	w.cpu += l.CPU
	w.roots += l.Roots
}

// Weighed ends a weighing, and says what is to hold from now on. Too few root invocations say
// nothing.
func (g *Governor) Weighed(c Costs) Setting {
	g.costs = c
	on, off := g.nextOn, g.nextOff
	g.nextOn, g.nextOff = weighed{}, weighed{}
	if on.roots < leastWeighed || off.roots < leastWeighed || on.cpu <= 0 || off.cpu <= 0 {
		return g.given
	}
	g.on, g.off = on, off
	if g.governed > 0 {
		return g.given
	}
	g.observe(Look{Time: on.time, CPU: on.cpu, Roots: on.roots, Recorded: on.roots, Calls: on.calls}, 1)
	if g.last = g.current(); g.last > g.cfg.Budget {
		g.lower(0)
	}
	g.given = g.set
	return g.given
}

// scale is what estimates are to be multiplied by; 1 where nothing was weighed.
func (g *Governor) scale() float64 {
	if g.on.roots == 0 {
		return 1
	}
	// The time of a root invocation is its own and the scaled cost of its probes, either way.
	var recorded, dormant float64
	for _, c := range g.on.calls {
		recorded += float64(c.Calls) * g.costs.Inside[c.Asked]
		dormant += float64(c.Calls) * g.costs.outside(c.Asked)
	}
	model := (recorded - dormant) / float64(g.on.roots)
	found := g.on.perRoot() - g.off.perRoot()
	if model <= 0 {
		return 1
	}
	return min(max(found/model, leastScale), mostScale)
}
