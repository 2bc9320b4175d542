package governor

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"
)

// lower finds the mildest setting that is within the budget, as far as there is one.
func (g *Governor) lower(passed time.Duration) bool {
	set, what := g.solve(aim * g.cfg.Budget)
	if g.atMost(set) {
		g.over += passed
	} else {
		g.over = 0
	}
	if g.atMost(set) && g.over >= patience && g.now-g.taken >= patience {
		if out := g.dearest(set); len(out) > 0 {
			for _, id := range out {
				set.Lowered[id] = Out
			}
			g.taken, g.over = g.now, 0
			what = TakeOut
		} else if !g.helpless {
			g.helpless = true
			g.note(Step{Action: Helpless, Every: set.Every})
		}
	}
	return g.adopt(set, what)
}

// raise finds a dearer setting that is within the budget, one step at a time: what follows of
// it is to be seen before the next one.
func (g *Governor) raise() bool {
	set, _ := g.solve(raiseTo * g.cfg.Budget)
	what := Raise
	if set.Every < g.set.Every {
		set.Every = max(set.Every, g.set.Every/2)
	}
	if g.now-g.taken < reinstrument {
		for id, m := range g.set.Lowered {
			if m == Out {
				set.Lowered[id] = Out
			}
		}
	}
	if g.estimate(set.Every, func(id int32, m *method) Mode { return lowered(set, id, m) }) > raiseTo*g.cfg.Budget+1e-9 {
		return false
	}
	for id, m := range g.set.Lowered {
		if m == Out && set.Lowered[id] != Out {
			what, g.taken = PutBack, g.now
		}
	}
	g.helpless = false
	return g.adopt(set, what)
}

// adopt makes a setting the one that holds, if it is another.
func (g *Governor) adopt(set Setting, what Action) bool {
	if maps.Equal(set.Lowered, g.set.Lowered) {
		if near := math.Abs(float64(set.Every-g.set.Every)) / float64(g.set.Every); near < worthwhile && (g.set.Every > 9 || near == 0) {
			return false
		}
	}
	before := g.set
	g.set = set
	g.changed = g.now
	s := Step{Action: what, Every: set.Every, After: g.current()}
	for id, m := range set.Lowered {
		if was, ok := before.Lowered[id]; !ok || was != m {
			s.Methods = append(s.Methods, id)
		}
	}
	for id := range before.Lowered {
		if _, ok := set.Lowered[id]; !ok {
			s.Methods = append(s.Methods, id)
		}
	}
	slices.SortFunc(s.Methods, func(a, b int32) int { return cmp.Compare(g.methods[b].rate, g.methods[a].rate) })
	g.note(s)
	return true
}

func lowered(set Setting, id int32, m *method) Mode {
	if mode, ok := set.Lowered[id]; ok {
		return mode
	}
	return m.asked
}

// most is the least share of root invocations that is worth a recording: one of so many. With
// less nobody knows what methods do.
func (g *Governor) most() int64 {
	return max(g.cfg.Every, min(mostEvery, int64(g.roots/enoughRate)), min(milder, int64(g.roots/leastRate)))
}

// solve goes down the ladder until the estimate is at most want, or nothing is left but to
// take probes out. Those that are out stay so where the probes would have to be off again.
func (g *Governor) solve(want float64) (Setting, Action) {
	set := Setting{Every: g.cfg.Every, Lowered: map[int32]Mode{}}
	what := Raise
	mode := func(id int32, m *method) Mode { return lowered(set, id, m) }
	fits := func() bool { return g.estimate(set.Every, mode) <= want }
	if fits() {
		return set, what
	}
	what = Share
	set.Every = g.every(want, set, min(g.most(), milder))
	if g.cfg.Fixed || fits() {
		set.Every = g.every(want, set, g.most())
		return set, what
	}
	order := g.order()
	for _, rung := range []struct {
		action Action
		to     Mode
		from   func(m *method, now Mode) bool
	}{
		{Clock, Tick, func(_ *method, now Mode) bool { return now == Precise }},
		{Count, Counted, func(m *method, now Mode) bool { return now <= Tick && !m.root && m.self > 0 && m.self < shortest }},
		{SwitchOff, Off, func(m *method, now Mode) bool { return now < Off && !m.root && (now == Leaf || m.self < shortest) }},
	} {
		var ids []int32
		all := 0.0
		for _, id := range order {
			m := g.methods[id]
			now := lowered(set, id, m)
			if !rung.from(m, now) {
				continue
			}
			share := 1 / float64(set.Every)
			saves := m.rate * g.scale() * (g.each(now, share) - g.each(rung.to, share))
			if rung.to != Off || saves > worth*want/10 {
				ids = append(ids, id)
				all += saves
			}
		}
		if all < worth*want {
			continue
		}
		what = rung.action
		for _, id := range ids {
			if rung.to == Off && fits() {
				break
			}
			set.Lowered[id] = rung.to
			if rung.to == Off && g.set.Lowered[id] == Out {
				set.Lowered[id] = Out
			}
		}
		if fits() {
			return set, what
		}
	}
	if set.Every = g.every(want, set, g.most()); fits() {
		return set, Share
	}
	for id, m := range g.set.Lowered {
		if m == Out {
			set.Lowered[id] = Out
		}
	}
	return set, what
}

// every is the least N for which the estimate is at most want, with the methods of a setting;
// most if there is none.
func (g *Governor) every(want float64, set Setting, most int64) int64 {
	at := func(every int64) float64 {
		return g.estimate(every, func(id int32, m *method) Mode { return lowered(set, id, m) })
	}
	low, high := g.cfg.Every, max(most, g.cfg.Every)
	for low < high {
		if mid := (low + high) / 2; at(mid) <= want {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

// order are the methods, those with the most calls first.
func (g *Governor) order() []int32 {
	ids := slices.Collect(maps.Keys(g.methods))
	slices.SortFunc(ids, func(a, b int32) int {
		return cmp.Or(cmp.Compare(g.methods[b].rate, g.methods[a].rate), cmp.Compare(a, b))
	})
	return ids
}

// atMost tells whether a setting leaves nothing to be lowered except by taking probes out.
func (g *Governor) atMost(set Setting) bool {
	return !g.cfg.Fixed && set.Every >= g.most() && g.estimate(set.Every, func(id int32, m *method) Mode { return lowered(set, id, m) }) > g.cfg.Budget
}

// dearest are methods whose probes are to be taken out: those that cost most, until what is left
// is within the budget.
func (g *Governor) dearest(set Setting) (out []int32) {
	left := g.estimate(set.Every, func(id int32, m *method) Mode { return lowered(set, id, m) })
	share := 1 / float64(set.Every)
	for _, id := range g.order() {
		m := g.methods[id]
		now := lowered(set, id, m)
		if left <= aim*g.cfg.Budget || len(out) == mostOut {
			break
		}
		if m.root || now == Out {
			continue
		}
		left -= m.rate * g.each(now, share) * g.scale()
		out = append(out, id)
	}
	return out
}
