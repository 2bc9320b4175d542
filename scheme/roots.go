package scheme

import "github.com/rivulet-profiler/rivulet/cha"

// roots makes methods roots.
func (c *core) roots(ids []cha.MethodID) {
	for _, id := range ids {
		c.root(id)
	}
}

func (c *core) root(id cha.MethodID) {
	class := c.h.Class(id.Class)
	if class == nil || class.Methods == nil {
		c.pending[id] = true
		return
	}
	delete(c.pending, id)
	m := c.h.Method(id)
	switch {
	case m == nil:
		c.skip(id, Unknown)
	case m.IsAbstract():
		call := cha.Call{Kind: cha.Virtual, Owner: id.Class.Name, Name: id.Name, Desc: id.Desc}
		c.rootWatch.Call(id.Class, call, func(t cha.Hit) { c.rootReached(&call, t) })
	default:
		c.rootHit(cha.Hit{Class: class, Method: m})
	}
}

// rootReached makes a root of what implements an abstract one: of a lambda, its body.
func (c *core) rootReached(call *cha.Call, t cha.Hit) {
	switch {
	case t.Method == nil || !t.Class.IsLambda() || c.lambdas:
		c.rootHit(t)
	case c.h.Extends(t.Class.ID, call.Owner): // and is not only taken for it, since its interface is not known
		c.h.Reach(t.Class.Host, t.Method.Calls[0], func(body cha.Hit) {
			if body.Method != nil && !body.Class.IsLambda() {
				c.rootHit(body)
			}
		})
	}
}

func (c *core) rootHit(t cha.Hit) {
	switch {
	case t.Method == nil || t.Method.IsAbstract():
	case t.Class.Excluded:
		c.skip(t.ID(), Excluded)
	case t.Class.IsLambda():
		c.skip(t.ID(), Lambda)
	case c.instrumentable(t):
		c.step(t, true)
	}
}
