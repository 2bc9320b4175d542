package vmstructs

import (
	"encoding/binary"
	"fmt"
)

// A Woken is a watched method that was invoked, or has become active.
type Woken struct {
	Key   Key
	Calls int64 // invocations that the JVM counted since it was first seen; -1 where it did not count
}

// Watch adds methods to those that [Observer.Woken] looks at. Those of classes that
// were loaded or redefined since the last Look are found by the next one.
func (o *Observer) Watch(keys []Key) {
	for _, k := range keys {
		e := o.entry(k)
		e.watched = true
		o.watched[e] = struct{}{}
	}
}

// Watched is how many methods are watched and have not woken.
func (o *Observer) Watched() int { return len(o.watched) }

// Rest returns the watched methods that are active by the last Look. Each is returned
// once, by Rest or by Woken.
func (o *Observer) Rest() (woke []Woken) {
	for e := range o.watched {
		if e.active {
			woke = append(woke, o.wake(e))
		}
	}
	return woke
}

// wake takes a method from those that are watched.
func (o *Observer) wake(e *entry) Woken {
	w := Woken{e.key, o.calls(e)}
	delete(o.watched, e)
	e.watched, e.where = false, nil
	return w
}

// calls adds up what the JVM has counted of a method's invocations since it was seen
// first, as of now.
func (o *Observer) calls(e *entry) int64 {
	m, n, counted := newMemory(o.from), int64(0), false
	for _, method := range e.where {
		if o.methods[method] == nil {
			continue
		}
		now, since := o.state(m, method), o.methods[method].first
		if now.counters != 0 && now.counters == since.counters || since.counters == 0 {
			n += int64(now.calls>>o.shift) - int64(since.calls>>o.shift)
			counted = true
		}
		if now.profile != 0 {
			before := int64(0)
			if since.profile == now.profile {
				before = int64(since.profiled >> o.shift)
			}
			n += int64(now.profiled>>o.shift) - before
			counted = true
		}
	}
	if !counted || n <= 0 {
		return -1
	}
	return n
}

// Woken looks at the watched methods alone, and returns those that were invoked since they
// were first seen. It takes 10 ms for 30,000 methods. Its errors wrap os.ErrPermission or
// say what can't be read any more.
func (o *Observer) Woken() ([]Woken, error) {
	var of []*entry
	var at []uint64
	for e := range o.watched {
		for _, method := range e.where {
			if o.methods[method] == nil {
				continue
			}
			of, at = append(of, e), append(at, method)
		}
	}
	size := int(o.fields.methodSize)
	bodies, err := o.gather(at, size)
	if err != nil {
		return nil, err
	}
	// Then the counters of those that have some.
	now := make([]state, len(at))
	var calls, profiles []uint64
	var callsOf, profilesOf []int
	for i := range at {
		b := bodies[i*size:][:size]
		if binary.NativeEndian.Uint64(b[o.fields.constMethod:]) != o.methods[at[i]].fixed {
			now[i] = o.methods[at[i]].first // redefined or unloaded: the next look finds it
			continue
		}
		now[i].counters = binary.NativeEndian.Uint64(b[o.fields.counters:])
		now[i].profile = binary.NativeEndian.Uint64(b[o.fields.profile:])
		if p := now[i].counters; p != 0 {
			calls, callsOf = append(calls, p+o.fields.calls), append(callsOf, i)
		}
		if p := now[i].profile; p != 0 {
			profiles, profilesOf = append(profiles, p+o.fields.profiled), append(profilesOf, i)
		}
	}
	b, err := o.gather(calls, 4)
	if err != nil {
		return nil, err
	}
	for i, of := range callsOf {
		now[of].calls = le32(b[4*i:])
	}
	if b, err = o.gather(profiles, 4); err != nil {
		return nil, err
	}
	for i, of := range profilesOf {
		now[of].profiled = le32(b[4*i:])
	}
	var woke []Woken
	for i, e := range of {
		if e.watched && now[i].invoked(o.methods[at[i]].first) {
			o.activate(e)
			woke = append(woke, o.wake(e))
		}
	}
	return woke, nil
}

// gather reads size bytes at each of many addresses, with few system calls. What can't
// be read is zeros.
func (o *Observer) gather(at []uint64, size int) ([]byte, error) {
	out := make([]byte, len(at)*size)
	spans := make([]Span, len(at))
	for i := range spans {
		spans[i] = Span{At: at[i], P: out[i*size:][:size]}
	}
	if p, ok := o.from.(Process); ok {
		if err := p.ReadMany(spans); err != nil {
			return nil, fmt.Errorf("read its memory: %w", err)
		}
	} else {
		for i := range spans {
			spans[i].OK = o.from.Read(spans[i].P, spans[i].At) == nil
		}
	}
	for _, s := range spans {
		if !s.OK {
			clear(s.P)
		}
	}
	return out, nil
}

func le32(b []byte) uint32 { return binary.NativeEndian.Uint32(b) }
