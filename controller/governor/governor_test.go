package governor

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A program is simulated: each root invocation calls methods and computes, and a look sees what
// a recording with the governor's setting would have seen of it.
type program struct {
	bare    float64 // ns of a root call without probes
	methods map[int32]*simulated
	costs   Costs   // what probes are thought to cost
	real    float64 // what they cost in truth, divided by that
	random  *rand.Rand
	due     float64 // root calls that are to be recorded
}

type simulated struct {
	asked Mode
	root  bool
	calls float64 // per root call
	self  time.Duration
}

func shop() *program {
	p := &program{
		bare: 500_000, methods: map[int32]*simulated{}, real: 1,
		costs:  Costs{Inside: [modes]float64{Precise: 50, Tick: 4, Counted: 4, Leaf: 3, Off: 0.5}, Dormant: 0.7},
		random: rand.New(rand.NewPCG(1, 2)),
	}
	p.methods[1] = &simulated{Tick, true, 1, 1000}
	for i := int32(2); i < 60; i++ {
		p.methods[i] = &simulated{Tick, false, float64(60-i) * 20, time.Duration(i) * 10}
	}
	for i := int32(60); i < 80; i++ {
		p.methods[i] = &simulated{Leaf, false, 400, 0}
	}
	return p
}

// slow is the program's true slow-down with a setting.
func (p *program) slow(set Setting) float64 {
	share, sum := 1/float64(set.Every), 0.0
	for id, m := range p.methods {
		mode := lowered(set, id, &method{asked: m.asked})
		sum += m.calls * (share*p.costs.Inside[mode] + (1-share)*p.costs.outside(mode))
	}
	return p.real * sum / p.bare
}

// run is a look at so much processor time of it.
func (p *program) run(set Setting, cpu time.Duration) Look {
	roots := float64(cpu) / (p.bare * (1 + p.slow(set)))
	p.due += roots / float64(set.Every)
	recorded := int64(p.due)
	p.due -= float64(recorded)
	l := Look{Time: cpu, CPU: cpu, Roots: int64(roots), Recorded: recorded, Calls: map[int32]Call{}}
	for _, id := range slices.Sorted(maps.Keys(p.methods)) {
		m := p.methods[id]
		if mode := lowered(set, id, &method{asked: m.asked}); mode >= Off {
			continue
		}
		n := int64(float64(recorded) * m.calls * (0.9 + 0.2*p.random.Float64()))
		if n > 0 {
			l.Calls[id] = Call{Asked: m.asked, Root: m.root, Calls: n, Self: time.Duration(n) * m.self}
		}
	}
	return l
}

const look = 300 * time.Millisecond

// after lets it run for so long and returns the highest true slow-down of a second of that time,
// and that of the last look.
func (p *program) after(g *Governor, d time.Duration) (most, last float64) {
	var all []float64
	for t := time.Duration(0); t < d; t += look {
		g.Look(p.run(g.Setting(), look), p.costs)
		last = p.slow(g.Setting())
		all = append(all, last)
		if n := len(all); n > 3 {
			most = max(most, (all[n-1]+all[n-2]+all[n-3])/3)
		}
	}
	return most, last
}

func TestHoldsBudget(t *testing.T) {
	for _, budget := range []float64{0.3, 0.1, 0.05, 0.02, 0.005} {
		p := shop()
		g := New(Config{Budget: budget})
		before := p.slow(g.Setting())
		p.after(g, 10*time.Second)
		if most, _ := p.after(g, 30*time.Second); most > 1.05*budget {
			t.Errorf("budget %v: slow-down %v from ten seconds on, of %v before", budget, most, before)
		}
	}
}

// TestLowersInOrder: nothing is lowered further while something milder is left.
func TestLowersInOrder(t *testing.T) {
	p := shop()
	for _, m := range p.methods {
		if m.asked == Tick {
			m.asked = Precise
		}
		m.calls /= 100
	}
	p.costs.Inside[Counted] = 2
	p.costs.Dormant = 2 // so that the share alone does not do it
	seen := map[Mode]bool{}
	for range 14 { // of a load that grows
		g := New(Config{Budget: 0.05})
		p.after(g, 15*time.Second)
		set := g.Setting()
		found := map[Mode]int{}
		for id, m := range p.methods {
			if mode := lowered(set, id, &method{asked: m.asked}); !m.root && m.self < shortest {
				found[mode]++
				seen[mode] = true
			}
		}
		if len(set.Lowered) > 0 && found[Precise] > 0 {
			t.Errorf("%d methods are timed precisely while others are lowered", found[Precise])
		}
		if found[Off] > 0 && found[Tick] > 0 {
			t.Errorf("%d short methods are timed while others are off", found[Tick])
		}
		if set.Every == 1 && len(set.Lowered) > 0 {
			t.Error("every root call is recorded, and methods are lowered")
		}
		for _, m := range p.methods {
			m.calls *= 2
		}
	}
	for _, mode := range []Mode{Precise, Tick, Counted, Off, Out} {
		if !seen[mode] {
			t.Errorf("no load led to mode %d", mode)
		}
	}
}

// TestRootsStay: roots are never switched off, nor lose their probes.
func TestRootsStay(t *testing.T) {
	p := shop()
	p.bare = 2000
	g := New(Config{Budget: 0.01})
	p.after(g, 40*time.Second)
	set := g.Setting()
	if len(set.Lowered) < 50 {
		t.Errorf("%d methods are lowered; with so small a budget all but the root must be", len(set.Lowered))
	}
	if m, ok := set.Lowered[1]; ok && m >= Off {
		t.Errorf("the root is recorded as %d", m)
	}
}

func TestRaisesAgain(t *testing.T) {
	p := shop()
	g := New(Config{Budget: 0.05})
	p.after(g, 10*time.Second)
	low := g.Setting()
	for _, m := range p.methods { // other requests, that call a hundredth
		m.calls = math.Max(1, m.calls/100)
	}
	most, _ := p.after(g, 2*time.Minute)
	if set := g.Setting(); set.Every != 1 || len(set.Lowered) != 0 {
		t.Errorf("one of %d and %d methods lowered, with a load that needs none of it; before it was one of %d", set.Every, len(set.Lowered), low.Every)
	}
	if most > 0.05 {
		t.Errorf("over the budget while raising: %v", most)
	}
}

// TestChangingLoad: whatever a program goes over to, ten seconds later it is within the budget.
func TestChangingLoad(t *testing.T) {
	p := shop()
	g := New(Config{Budget: 0.05})
	usual := map[int32]float64{}
	for id, m := range p.methods {
		usual[id] = m.calls
	}
	for round := range 30 {
		grown := math.Exp2(4*p.random.Float64() - 2)
		for _, id := range slices.Sorted(maps.Keys(p.methods)) {
			p.methods[id].calls = usual[id] * grown * (0.7 + 0.6*p.random.Float64())
		}
		p.bare = 1e5 * (1 + 20*p.random.Float64())
		p.after(g, 10*time.Second)
		sum, looks := 0.0, 0
		for range 33 {
			_, last := p.after(g, look)
			sum, looks = sum+last, looks+1
		}
		if mean := sum / float64(looks); mean > 1.25*0.05 {
			t.Errorf("round %d: slow-down %v", round, mean)
		}
	}
	changes := len(g.State().Steps)
	p.after(g, time.Minute)
	if more := len(g.State().Steps) - changes; more > 8 {
		t.Errorf("%d changes in a minute with a load that stays", more)
	}
}

// TestWeigh: what probes cost in the program is found by weighing, and held.
func TestWeigh(t *testing.T) {
	for _, real := range []float64{0.7, 1, 2, 3} {
		p := shop()
		p.real = real
		g := New(Config{Budget: 0.05})
		none := Setting{Every: math.MaxInt64, Lowered: map[int32]Mode{}}
		for range 10 {
			g.Weigh(true, p.run(g.Setting(), 100*time.Millisecond))
			g.Weigh(false, p.run(none, 100*time.Millisecond))
		}
		set := g.Weighed(p.costs)
		if k := g.State().Scale; k < 0.9*real || k > 1.1*real {
			t.Errorf("scale %v, not %v", k, real)
		}
		if slow := p.slow(set); slow > 0.06 && set.Every < 40 {
			t.Errorf("real %v: slow-down %v from the beginning", real, slow)
		}
		p.after(g, 10*time.Second)
		if most, _ := p.after(g, 20*time.Second); most > 0.06 {
			t.Errorf("real %v: slow-down %v", real, most)
		}
	}
}

// TestWithinBudget: who needs nothing changes nothing, and all is recorded.
func TestWithinBudget(t *testing.T) {
	p := shop()
	g := New(Config{Budget: 2})
	p.after(g, 10*time.Second)
	if st := g.State(); len(st.Steps) != 0 || st.OverShare != 0 || st.Setting.Every != 1 {
		t.Errorf("%+v", st)
	}
}

// TestFixed: with modes fixed, only the share of root invocations is lowered.
func TestFixed(t *testing.T) {
	p := shop()
	g := New(Config{Budget: 0.001, Fixed: true})
	p.after(g, 20*time.Second)
	if set := g.Setting(); len(set.Lowered) != 0 || set.Every == 1 {
		t.Errorf("%+v", set)
	}
}

// TestIdle: a program that does nothing, or never ends its root invocation, is no trouble.
func TestIdle(t *testing.T) {
	g := New(Config{Budget: 0.05})
	c := shop().costs
	for range 100 {
		g.Look(Look{Time: look}, c)
		g.Look(Look{Time: look, CPU: look, Calls: map[int32]Call{1: {Asked: Tick, Root: true, Calls: 0}, 2: {Asked: Tick, Calls: 50_000_000, Self: time.Second}}}, c)
	}
	if st := g.State(); math.IsNaN(st.Now) || math.IsInf(st.Now, 0) || st.Setting.Lowered[2] < Off {
		t.Errorf("one long invocation with too many calls: %+v", st.Setting)
	}
}
