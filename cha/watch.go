package cha

import "slices"

// A Watch remembers calls and class initializations, so that classes that come
// later can be asked what they add to them. Each is followed once, however
// often it is added.
type Watch struct {
	h       *Hierarchy
	calls   []watched
	seen    map[CallKey]struct{}
	byOwner map[string][]int32  // virtual calls by owner
	exact   map[string][]int32  // other calls by owner
	bySym   map[sym][]int32     // virtual calls
	byFrom  map[ClassID][]int32 // calls of a superclass's method, by the class that contains them
	foreign []int32             // virtual calls that the JDK may have a method for
	inits   map[string][]ClassID
}

type watched struct {
	from ClassID
	call Call
	sym  sym
}

// A CallKey is what the answer for a call depends on: calls with equal keys reach the
// same in one epoch. It is of use with the hierarchy that made it only.
type CallKey struct {
	how   CallKind
	from  ClassID // only the loader, except for Special
	owner string
	sym   sym
}

// NewWatch returns an empty watch.
func (h *Hierarchy) NewWatch() *Watch {
	return &Watch{
		h:       h,
		seen:    map[CallKey]struct{}{},
		byOwner: map[string][]int32{},
		exact:   map[string][]int32{},
		bySym:   map[sym][]int32{},
		byFrom:  map[ClassID][]int32{},
		inits:   map[string][]ClassID{},
	}
}

// Len returns the number of different calls watched.
func (w *Watch) Len() int { return len(w.calls) }

// Key returns what identifies a call in class from, and false for one that reaches
// nothing.
func (h *Hierarchy) Key(from ClassID, c *Call) (CallKey, bool) {
	how := c.How()
	if how == Dynamic || c.polymorphic() {
		return CallKey{}, false
	}
	if how == Interface {
		how = Virtual
	}
	k := CallKey{how, ClassID{Loader: from.Loader}, ownerName(c), h.sym(c.Name, c.Desc)}
	if how == Special && c.Name != initName {
		k.from = from
	}
	return k, true
}

// Has reports whether a call in class from is watched already, so that adding
// it would say nothing.
func (w *Watch) Has(from ClassID, c *Call) bool {
	k, ok := w.h.Key(from, c)
	_, seen := w.seen[k]
	return seen || !ok
}

// Call watches a call in class from. If it is new, Call calls f for all that it
// reaches now, as [Hierarchy.Reach] does.
func (w *Watch) Call(from ClassID, c Call, f func(Hit)) {
	k, ok := w.h.Key(from, &c)
	if _, seen := w.seen[k]; seen || !ok {
		return
	}
	w.seen[k] = struct{}{}
	i := int32(len(w.calls))
	w.calls = append(w.calls, watched{from, c, k.sym})
	switch {
	case k.how == Virtual:
		w.byOwner[k.owner] = append(w.byOwner[k.owner], i)
		w.bySym[k.sym] = append(w.bySym[k.sym], i)
		if w.h.Foreign(c.Desc) {
			w.foreign = append(w.foreign, i)
		}
	case k.how == Special && c.Name != initName:
		w.byFrom[from] = append(w.byFrom[from], i)
		fallthrough
	default:
		w.exact[k.owner] = append(w.exact[k.owner], i)
	}
	w.h.reach(from, &w.calls[i].call, k.sym, hits(f))
}

// HasInit reports whether the initialization of a class is watched already.
func (w *Watch) HasInit(from ClassID, name string) bool {
	for _, f := range w.inits[name] {
		if f.Loader == from.Loader {
			return true
		}
	}
	return false
}

// Init watches the initialization of the class that name means in class from,
// and calls f for the class initializers that it can run now: those of the
// class, its superclasses and, though not all of them are due (JVMS §5.5), its
// superinterfaces.
func (w *Watch) Init(from ClassID, name string, f func(Hit)) {
	if w.HasInit(from, name) {
		return
	}
	w.inits[name] = append(w.inits[name], from)
	to, _ := w.h.named(from.Loader, name)
	for _, n := range to {
		w.init(n, hits(f))
	}
}

func (w *Watch) init(n *node, v visit) {
	s := w.h.sym(clinitName, clinitDesc)
	for _, a := range w.h.ancestors(n) {
		if m := a.find(s); m != nil || a.opaque() {
			v(a, m)
		}
	}
}

// Reached calls f for all that the watched calls and initializations reach by
// way of the given classes, which were added, or became known better, since the
// calls were watched: methods that these classes declare, and methods of other
// classes that can now be inherited where a call finds them. The call is nil
// for a class initializer. What was reached before may be among them.
func (w *Watch) Reached(f func(*Call, Hit), ids ...ClassID) {
	if len(w.calls) == 0 && len(w.inits) == 0 {
		return
	}
	for _, x := range w.h.descendants(w.h.nodes(ids)...) {
		w.reached(x, f)
	}
}

// reached does the part of Reached of one class, given or below one that is.
func (w *Watch) reached(x *node, f func(*Call, Hit)) {
	up := w.h.ancestors(x)
	for _, a := range up {
		for _, i := range w.byOwner[a.m.ID.Name] {
			w.receive(a, x, i, f)
		}
	}
	for _, is := range [][]int32{w.exact[x.m.ID.Name], w.byFrom[x.m.ID]} {
		for _, i := range is {
			c := &w.calls[i]
			w.h.reach(c.from, &c.call, c.sym, c.hits(f))
		}
	}
	if x.loose || x.early {
		w.loose(x, up, f)
	}
	for _, from := range w.inits[x.m.ID.Name] {
		if to, _ := w.h.named(from.Loader, x.m.ID.Name); slices.Contains(to, x) {
			w.init(x, func(n *node, m *Method) { f(nil, Hit{n.m, m}) })
		}
	}
}

// receive visits what watched virtual call i selects on x, if a is its owner.
func (w *Watch) receive(a, x *node, i int32, f func(*Call, Hit)) {
	c := &w.calls[i]
	owners, _ := w.h.owners(c.from, &c.call)
	if !slices.Contains(owners, a) {
		return
	}
	r := w.h.resolve(a, c.sym)
	v := c.hits(f)
	if !w.h.fixed(&c.call, a, &r, v) {
		w.h.receive(a, x, c.sym, &r, v)
	}
}

// loose visits the virtual methods of loose class x, own and inherited, that
// have the name and descriptor of a watched call, and x as one that may inherit
// from the JDK what a watched call finds.
func (w *Watch) loose(x *node, up []*node, f func(*Call, Hit)) {
	for _, a := range up {
		for _, slot := range a.table {
			is := w.bySym[slot.sym]
			if len(is) == 0 || !a.m.Methods[slot.i].virtual() {
				continue
			}
			for _, i := range is {
				c := &w.calls[i]
				if all, chain := w.h.looseFor(c.from, &c.call, c.sym); all || chain && x.looseChain {
					f(&c.call, Hit{a.m, &a.m.Methods[slot.i]})
					break
				}
			}
		}
	}
	if x.early {
		return
	}
	for _, i := range w.foreign {
		c := &w.calls[i]
		if all, chain := w.h.looseFor(c.from, &c.call, c.sym); all || chain && x.looseChain {
			f(&c.call, Hit{x.m, nil})
			return
		}
	}
}

func hits(f func(Hit)) visit { return func(n *node, m *Method) { f(Hit{n.m, m}) } }

func (c *watched) hits(f func(*Call, Hit)) visit {
	return func(n *node, m *Method) { f(&c.call, Hit{n.m, m}) }
}
