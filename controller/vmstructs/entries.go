package vmstructs

import "maps"

// An entry is what is known of a method in all loaders. With it a reading need
// not look up tens of thousands of names.
type entry struct {
	key    Key
	active bool
	// watched: it is among the Observer's. Then where has its Method*s, as of the last look.
	watched bool
	where   []uint64
}

// entry returns that of a key, a new one if need be.
func (o *Observer) entry(k Key) *entry {
	e := o.entries[k]
	if e == nil {
		e = &entry{key: k}
		o.entries[k] = e
	}
	return e
}

// activate notes that a method is active.
func (o *Observer) activate(e *entry) {
	if !e.active {
		e.active = true
		o.actives++
	}
}

// forget drops methods that were not in the last reading, and what nobody has to know of them.
func (o *Observer) forget(last int) {
	maps.DeleteFunc(o.methods, func(_ uint64, x *method) bool { return x.look != last })
	there := map[*entry]bool{}
	for _, x := range o.methods {
		there[x.entry] = true
	}
	maps.DeleteFunc(o.entries, func(_ Key, e *entry) bool { return !e.active && !e.watched && !there[e] })
}
