package governor

import (
	"maps"
	"math"
	"time"
)

// A Mode is how a method is recorded.
type Mode uint8

// Modes, the dearest first.
const (
	Precise Mode = iota // timed by System.nanoTime
	Tick                // timed by the tick clock
	Counted             // counted; its time is its caller's
	Leaf                // the same, by a probe without an exit
	Off                 // has a probe that does nothing
	Out                 // has no probe
	modes
)

// Costs are what a call costs in ns: by mode, inside an invocation that is recorded, and
// Dormant where it is not.
type Costs struct {
	Inside  [modes]float64
	Dormant float64
}

// outside is what a call costs in an invocation that is not recorded.
func (c *Costs) outside(m Mode) float64 {
	switch m {
	case Out:
		return 0
	case Off:
		return min(c.Dormant, c.Inside[Off])
	}
	return c.Dormant
}

// A Call is what a method did.
type Call struct {
	Asked Mode          // how it is recorded where nothing is lowered
	Root  bool          // never off
	Calls int64         // that were recorded
	Self  time.Duration // its own time; 0 where it is only counted
}

// A Look is what happened since the look before it.
type Look struct {
	Time     time.Duration // how long that was
	CPU      time.Duration // processor time of the program, probes included, the JVM's compilers left out
	Roots    int64         // root calls that began
	Recorded int64         // those of them that are recorded
	Calls    map[int32]Call
}

// A Setting is how a recording is made.
type Setting struct {
	Every   int64          // one of so many root calls is recorded; at least 1
	Lowered map[int32]Mode // methods that are recorded otherwise than asked
}

// Config says what to hold.
type Config struct {
	Budget float64 // the slow-down allowed, 0.05 for 5 %
	Every  int64   // at least so many root calls for one that is recorded
	Fixed  bool    // modes are not to be changed, only Setting.Every
}

const (
	aim      = 0.8 // of the budget: what lowering aims at
	spare    = 0.5 // of the budget: below it the cost may rise
	raiseTo  = 0.7 // of the budget: what raising aims at
	halfLife = 1.5 // s, of what is known of methods' calls

	calm         = 3 * time.Second         // without a change before the cost may rise
	patience     = 1500 * time.Millisecond // over budget with everything off before probes are taken out
	reinstrument = 30 * time.Second        // before those taken out may come back

	shortest   = 250.0 // ns: a method whose own time is less is short
	mostEvery  = 1000
	leastRate  = 0.5             // root calls a second that go on being recorded, of those that are seldom
	enoughRate = 10              // the same, of those that are frequent
	milder     = 32              // N up to which the share is lowered before anything else is
	worthwhile = 0.1             // by which N has to change to be changed
	worth      = 0.02            // of the budget: what a rung of the ladder must save
	forgetOff  = 30.0            // s, half-life of what is known of a method that is off
	peekEvery  = 6 * time.Second // between two looks at methods that are off
	forgetOut  = 150.0           // s, of one without probes
	mostOut    = 400             // methods whose probes are taken out at a time
)

// A method is what is known of one.
type method struct {
	asked Mode
	root  bool
	rate  float64 // calls per ns of processor time that the program needs without probes
	self  float64 // ns a call, 0 if not known
}

// A Governor is made by [New].
type Governor struct {
	cfg             Config
	methods         map[int32]*method
	set             Setting
	costs           Costs
	roots           float64 // root calls a second
	on, off         weighed // taken over
	nextOn, nextOff weighed // under way

	now      time.Duration // since the first look
	changed  time.Duration // when the setting was changed last
	taken    time.Duration // when probes were last taken out or put back
	over     time.Duration // over budget with everything off, so far
	helpless bool          // that was said

	overBudget time.Duration
	governed   time.Duration
	last       float64
	steps      []Step

	peeking bool          // methods that are off are recorded
	peeked  time.Duration // when they were last
	given   Setting       // what the caller was told last
}

// New makes a governor. The recording has to begin with the setting of [Governor.Setting].
func New(cfg Config) *Governor {
	cfg.Every = max(cfg.Every, 1)
	set := Setting{Every: cfg.Every, Lowered: map[int32]Mode{}}
	return &Governor{cfg: cfg, methods: map[int32]*method{}, set: set, given: set}
}

// Setting is what holds. It must not be changed.
func (g *Governor) Setting() Setting { return g.given }

// applied is the setting, with what a peek changes in it.
func (g *Governor) applied() Setting {
	if !g.peeking {
		return g.set
	}
	set := Setting{Lowered: maps.Clone(g.set.Lowered)}
	maps.DeleteFunc(set.Lowered, func(_ int32, m Mode) bool { return m == Off })
	set.Every = g.every(g.cfg.Budget, set, g.set.Every)
	return set
}

// peek has methods that are off recorded for the length of a look now and then: nobody would know
// otherwise how much they are called meanwhile. Few invocations are recorded by then.
func (g *Governor) peek() (changed bool) {
	if g.peeking {
		g.peeking, g.peeked = false, g.now
		return true
	}
	if g.cfg.Fixed || g.now-g.peeked < peekEvery || g.now-g.changed < calm {
		return false
	}
	for _, m := range g.set.Lowered {
		g.peeking = g.peeking || m == Off
	}
	return g.peeking
}

// observe takes in what was called, given the share of root invocations that was recorded.
func (g *Governor) observe(l Look, share float64) {
	if l.CPU <= 0 || l.Time <= 0 {
		return
	}
	weight := 1 - math.Exp2(-l.Time.Seconds()/halfLife)
	// Of the time that was measured, probes took a part that depends on the rates themselves.
	cost := 0.0
	for id, c := range l.Calls {
		cost += float64(c.Calls) / share * g.each(g.mode(id, c.Asked), share)
	}
	for id, m := range g.methods { // that nobody counts at the moment
		if _, counted := l.Calls[id]; !counted && g.mode(id, m.asked) == Off {
			cost += m.rate * float64(l.CPU) * g.each(Off, share)
		}
	}
	cost *= g.scale()
	bare := max(float64(l.CPU)-cost, float64(l.CPU)/20)
	if l.Roots > 0 {
		weightRoots := weight
		if g.roots == 0 {
			weightRoots = 1
		}
		g.roots += (float64(l.Roots)/l.Time.Seconds() - g.roots) * weightRoots
	}
	var before, after float64 // of methods that are recorded
	for id, m := range g.methods {
		if g.mode(id, m.asked) < Off && l.Recorded > 0 {
			before += m.rate
			if _, counted := l.Calls[id]; !counted {
				m.rate -= m.rate * weight
				after += m.rate
			}
		}
	}
	for id, c := range l.Calls {
		m := g.methods[id]
		if m == nil {
			m = &method{}
			g.methods[id] = m
		}
		m.asked, m.root = c.Asked, c.Root
		rate := float64(c.Calls) / share / bare
		if m.rate == 0 || g.peeking && g.set.Lowered[id] == Off {
			m.rate = rate
		}
		m.rate += (rate - m.rate) * weight
		after += m.rate
		if c.Self > 0 && c.Calls > 0 {
			m.self = float64(c.Self) / float64(c.Calls)
		}
	}
	// Nobody counts the calls of the others: they are believed to have gone with the rest, and the
	// less the longer ago they were counted, so that they are tried again.
	follow := 1.0
	if before > 0 && after > 0 {
		follow = min(max(after/before, 0.1), 10)
	}
	for id, m := range g.methods {
		switch g.mode(id, m.asked) {
		case Off:
			m.rate *= follow * math.Exp2(-l.Time.Seconds()/forgetOff)
		case Out:
			m.rate *= follow * math.Exp2(-l.Time.Seconds()/forgetOut)
		}
	}
}

// share is the part of the root invocations that were recorded.
func (g *Governor) share(l Look) float64 {
	if l.Roots >= 50 && l.Recorded > 0 {
		return min(float64(l.Recorded)/float64(l.Roots), 1)
	}
	if l.Roots == 0 { // what is open goes on
		return 1
	}
	return 1 / float64(g.given.Every)
}

// mode is how a method is recorded.
func (g *Governor) mode(id int32, asked Mode) Mode {
	if m, ok := g.set.Lowered[id]; ok && !(g.peeking && m == Off) {
		return m
	}
	return asked
}

// each is what a call costs, be it recorded or not.
func (g *Governor) each(m Mode, share float64) float64 {
	return share*g.costs.Inside[m] + (1-share)*g.costs.outside(m)
}

// estimate is the slow-down that a setting leads to, 0.05 for 5 %.
func (g *Governor) estimate(every int64, mode func(id int32, m *method) Mode) float64 {
	share, sum := 1/float64(every), 0.0
	for id, m := range g.methods {
		sum += m.rate * g.each(mode(id, m), share)
	}
	return sum * g.scale()
}

// current is the slow-down of the setting that holds.
func (g *Governor) current() float64 {
	return g.estimate(g.set.Every, func(id int32, m *method) Mode { return lowered(g.set, id, m) })
}

// Look takes in what happened and says what is to hold from now on: changed tells whether that
// is another setting.
func (g *Governor) Look(l Look, c Costs) (set Setting, changed bool) {
	g.costs = c
	g.now += l.Time
	g.observe(l, g.share(l))
	g.last = g.current()
	g.governed += l.Time
	if g.last > g.cfg.Budget {
		g.overBudget += l.Time
	}
	switch {
	case g.last > g.cfg.Budget:
		changed = g.lower(l.Time)
	case g.last < spare*g.cfg.Budget && g.now-g.changed >= calm:
		changed = g.raise()
	}
	if g.last <= g.cfg.Budget {
		g.over = 0
	}
	changed = g.peek() || changed
	g.given = g.applied()
	return g.given, changed
}
