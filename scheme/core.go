package scheme

import "github.com/rivulet-profiler/rivulet/cha"

// A reach says how far one plan follows calls.
type reach uint8

const (
	shallow reach = iota // a planned method waits for its first call
	deep                 // a planned method is revealed in the same plan
)

// A core is what the schemes share: the methods planned so far and the calls
// watched. It is one plan at a time, between begin and end.
//
// Invariant between plans: all that the watched calls reach is planned, and the
// calls of every method that is revealed are watched.
type core struct {
	h         *cha.Hierarchy
	watch     *cha.Watch
	rootWatch *cha.Watch // of abstract roots
	methods   map[cha.MethodID]*method
	pending   map[cha.MethodID]bool // roots that were not found yet
	callbacks bool                  // excluded code may call back
	active    bool                  // something may be running in the subgraph
	trap      bool                  // steps of this plan may be fresh
	scout     bool                  // callbacks are not planned
	back      bool                  // what is hit is a callback
	lambdas   bool                  // as roots are given up, not followed to their bodies
	prune     bool                  // initializers that have run are not planned
	rests     func(t cha.Hit) bool  // notes a method that is not to be followed yet; nil: all are
	unknown   int                   // calls that reached nothing when they were first followed

	may      func(name, desc string) bool // what excluded code can call; nil: anything
	withheld map[cha.MethodID]bool        // callbacks that it can't

	plan    Plan
	reach   reach
	loading cha.ClassID // class of Steps, while in Loaded
	queue   []cha.MethodID
}

// A method is what is known of a method that was planned or followed.
type method struct {
	planned  bool // given as a step
	fresh    bool // has a trap
	root     bool
	revealed bool // its calls are watched
	skipped  bool
}

func newCore(h *cha.Hierarchy) core {
	return core{
		h:         h,
		watch:     h.NewWatch(),
		rootWatch: h.NewWatch(),
		methods:   map[cha.MethodID]*method{},
		pending:   map[cha.MethodID]bool{},
		trap:      true,
	}
}

func (c *core) begin(r reach) {
	c.plan, c.reach, c.loading = Plan{}, r, cha.ClassID{}
}

// end follows what the plan has brought so far, and returns it.
func (c *core) end() Plan {
	c.drain()
	return c.plan
}

func (c *core) drain() {
	for len(c.queue) > 0 {
		c.next()
	}
}

func (c *core) next() {
	id := c.queue[len(c.queue)-1]
	c.queue = c.queue[:len(c.queue)-1]
	c.follow(id)
}

// Loaded implements Scheme.
func (c *core) Loaded(id cha.ClassID) Plan {
	c.begin(shallow)
	c.loading = id
	c.classes(id)
	c.initializer(id)
	return c.end()
}

// initializer plans the class initializer of a class that is being loaded, once
// the JDK may be running application code: Class.forName and the like initialize
// classes that no code names. The bytes are being changed, if at all, right now.
func (c *core) initializer(id cha.ClassID) {
	if !c.callbacks {
		return
	}
	m := c.h.Method(cha.MethodID{Class: id, Name: "<clinit>", Desc: "()V"})
	if class := c.h.Class(id); m != nil && !class.Excluded {
		c.hit(nil, cha.Hit{Class: class, Method: m})
	}
}

// Listed implements Scheme. Nobody waits for this plan, so it is shallow: a
// method that is called while the plan is being carried out has its trap.
func (c *core) Listed(ids []cha.ClassID) Plan {
	c.begin(shallow)
	if len(ids) > 0 {
		c.classes(ids...)
	}
	for _, id := range ids {
		c.again(id)
	}
	return c.end()
}

// again follows the revealed methods of a class that may have other code now.
func (c *core) again(id cha.ClassID) {
	class := c.h.Class(id)
	if class == nil {
		return
	}
	for _, class := range append(c.h.Lambdas(id), class) {
		for i := range class.Methods {
			m := cha.MethodID{Class: class.ID, Name: class.Methods[i].Name, Desc: class.Methods[i].Desc}
			if s := c.methods[m]; s != nil && s.revealed {
				c.queue = append(c.queue, m)
			}
		}
	}
}

// classes plans what known classes add to the subgraph.
func (c *core) classes(ids ...cha.ClassID) {
	if len(c.pending) > 0 {
		known := make(map[cha.ClassID]bool, len(ids))
		for _, id := range ids {
			known[id] = true
		}
		for id := range c.pending {
			if known[id.Class] {
				c.root(id)
			}
		}
	}
	c.rootWatch.Reached(c.rootReached, ids...)
	c.watch.Reached(c.hit, ids...)
	if c.callbacks {
		c.h.Callbacks(c.callback, ids...)
	}
}

// enter reveals a method that was entered.
func (c *core) enter(id cha.MethodID) {
	m := c.method(id)
	m.fresh = false
	c.plan.Revealed = append(c.plan.Revealed, id)
	c.enqueue(id, m)
}

// found plans methods that are about to be called in a way that no code tells.
// One that is virtual stands for all that override it; one that no other can be
// called for is revealed at once, since it is entered next.
func (c *core) found(ids []cha.MethodID) {
	for _, id := range ids {
		m := c.h.Method(id)
		if m == nil {
			continue
		}
		call := cha.Call{Kind: cha.Virtual, Owner: id.Class.Name, Name: id.Name, Desc: id.Desc}
		switch {
		case m.IsInit():
			call.Kind = cha.Special
		case m.IsStatic():
			call.Kind = cha.Static
		}
		c.call(id.Class, &call)
		if s := c.methods[id]; s != nil && s.planned && c.h.Callee(id.Class, call).Method == m {
			c.enqueue(id, s)
		}
		if call.Kind != cha.Virtual {
			c.watch.Init(id.Class, id.Class.Name, func(t cha.Hit) { c.hit(nil, t) })
		}
	}
}

func (c *core) method(id cha.MethodID) *method {
	m := c.methods[id]
	if m == nil {
		m = &method{}
		c.methods[id] = m
	}
	return m
}

// enqueue has a method's calls watched before the plan ends.
func (c *core) enqueue(id cha.MethodID, m *method) {
	if !m.revealed {
		m.revealed = true
		c.queue = append(c.queue, id)
	}
}

// follow watches all calls of a method.
func (c *core) follow(id cha.MethodID) {
	m := c.h.Method(id)
	if m == nil {
		return
	}
	from := c.h.Class(id.Class).Scope()
	for i := range m.Calls {
		c.call(from, &m.Calls[i])
	}
	for _, name := range m.Inits {
		c.watch.Init(from, name, func(t cha.Hit) { c.hit(nil, t) })
	}
	if s := c.methods[id]; s.fresh {
		s.fresh = false
		c.plan.Revealed = append(c.plan.Revealed, id)
	}
}

// call watches a call and plans what it reaches now.
func (c *core) call(from cha.ClassID, call *cha.Call) {
	e := effectOf(c.h, from, call)
	if e.any && !c.callbacks {
		c.setCallbacks()
	}
	for _, extra := range e.calls {
		c.watch.Call(from, extra, func(t cha.Hit) { c.hit(&extra, t) })
	}
	if e.inside || c.watch.Has(from, call) {
		return
	}
	known := false
	c.watch.Call(from, *call, func(t cha.Hit) {
		known = known || t.Method == nil || !t.Method.IsAbstract()
		c.hit(call, t)
	})
	if !known {
		c.unknown++
	}
}

// hit plans a method that a watched call reaches. The call is nil for a class
// initializer.
func (c *core) hit(call *cha.Call, t cha.Hit) {
	if opaque(c.h, t) {
		if call != nil && !c.callbacks && leadsOut(c.h, call, t.Class) {
			c.setCallbacks()
		}
		return
	}
	if t.Method == nil {
		// The JDK may turn out to have the method when its class is known. That
		// is too late for the classes that are being loaded now.
		if call != nil && t.Class.Methods == nil && !t.Class.MadeByJDK() {
			c.skip(cha.MethodID{Class: t.Class.ID, Name: call.Name, Desc: call.Desc}, Opaque)
		}
		if inherited := t.Class.Methods != nil; inherited && call != nil && !c.callbacks && c.h.Foreign(call.Desc) {
			c.setCallbacks()
		}
		return
	}
	if t.Method.IsAbstract() || c.prune && t.Class.Initialized && t.Method.Name == "<clinit>" {
		return
	}
	if t.Class.Excluded || t.Method.Filtered && !c.method(t.ID()).root {
		id := t.ID()
		if t.Method.Filtered {
			c.skip(id, Filtered)
		}
		if c.rests == nil || !c.rests(t) {
			c.enqueue(id, c.method(id))
		}
		return
	}
	if c.instrumentable(t) {
		c.step(t, false)
	}
}

// instrumentable reports whether a method can be a step. One that can't is
// reported, and followed if it has code.
func (c *core) instrumentable(t cha.Hit) bool {
	switch {
	case t.Method.IsNative():
		c.skip(t.ID(), Native)
		c.anything()
		return false
	case t.Class.Fixed:
		id := t.ID()
		if !t.Class.IsLambda() {
			c.skip(id, Fixed)
		}
		c.enqueue(id, c.method(id))
		return false
	}
	return t.Method.HasCode
}

func (c *core) skip(id cha.MethodID, why Reason) {
	if m := c.method(id); !m.skipped {
		m.skipped = true
		c.plan.Skipped = append(c.plan.Skipped, Skip{id, why})
	}
}

// step plans a method.
func (c *core) step(t cha.Hit, root bool) {
	id := t.ID()
	m := c.method(id)
	if c.rests != nil && !root && !m.root && c.rests(t) {
		return
	}
	if !m.planned || root && !m.root {
		if !m.planned {
			m.fresh = c.trap && len(t.Method.Calls)+len(t.Method.Inits) > 0 && !m.revealed
		}
		m.planned, m.root = true, m.root || root
		to := &c.plan.Steps
		if c.loading != (cha.ClassID{}) && c.loading != id.Class {
			to = &c.plan.Also
		}
		*to = append(*to, Step{id, m.root, m.fresh})
	}
	if c.reach == deep || !c.reveals(t) {
		c.enqueue(id, m)
	}
}

// reveals reports whether following a method could bring anything that is not
// watched yet.
func (c *core) reveals(t cha.Hit) bool {
	from := t.Class.ID
	for i := range t.Method.Calls {
		if c.mayBring(from, &t.Method.Calls[i]) {
			return true
		}
	}
	for _, name := range t.Method.Inits {
		if !c.watch.HasInit(from, name) && !jdkName(c.h, from, name) {
			return true
		}
	}
	return false
}

func (c *core) mayBring(from cha.ClassID, call *cha.Call) bool {
	e := effectOf(c.h, from, call)
	if e.any && !c.callbacks {
		return true
	}
	for i := range e.calls {
		if !c.watch.Has(from, &e.calls[i]) {
			return true
		}
	}
	return !e.inside && !c.watch.Has(from, call)
}
