package doctor

import (
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/controller/spec"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
)

// What arming took of a Spring Boot server under load (docs/figures/servers.md), by which
// a forecast goes: a class costs its redefinition, and code that is compiled anew.
const (
	perClass = 3200 * time.Microsecond
	settling = 3 * time.Second // of scheme D, at the most
)

// forecast says how long arming may take, for how many classes, and by which scheme.
// The observer has been there since a moment.
func (e *examination) forecast(o *vmstructs.Observer, since time.Time, p *export.Preview) {
	if len(p.Unread) > 0 {
		e.add("forecast", OK, "", "none: what the roots call is not known before a recording has read the code of %s", someOf(p.Unread))
		return
	}
	classes, methods := len(p.Classes), 0
	for _, c := range p.Classes {
		methods += len(c.Methods)
	}
	whole := seconds(time.Duration(classes) * perClass)
	if o == nil || !e.look(o, since) {
		name, why := "C", "which instruments what is called, as it is called"
		if methods >= session.LargeReach {
			name, why = "A", "since C would plan for longer than A takes"
		}
		e.add("forecast", OK, "", "expect %s to arm with scheme A, which redefines %d classes; the better scheme here is %s, %s", whole, classes, name, why)
		return
	}
	active, calls := 0, int64(0)
	for _, c := range p.Classes {
		for _, m := range c.Methods {
			if o.Active(keyOf(c.Name, m)) {
				active++
				break
			}
		}
	}
	for _, r := range p.Roots {
		name, desc, _ := strings.Cut(r, "(")
		if i := strings.LastIndexByte(name, '.'); i > 0 {
			k := keyOf(name[:i], name[i+1:]+"("+desc)
			if n := o.Calls(k); n >= 0 {
				calls += n
			} else if o.Active(k) { // compiled code does not count
				calls += session.FewCalls
			}
		}
	}
	switch {
	case calls == 0:
		e.add("forecast", OK, "", "no root was called within %s: its first calls are recorded by scheme C, or A where %d methods and more are within reach (here %d); A would redefine %d classes in some %s",
			seconds(time.Since(since)), session.LargeReach, methods, classes, whole)
	case calls < session.FewCalls && methods < session.LargeReach:
		e.add("forecast", OK, "", "the roots were called %d times within %s, too few for scheme D: C is the better choice, which redefines some of %d classes as they are called",
			calls, seconds(time.Since(since)), classes)
	default:
		e.add("forecast", OK, "", "expect %s to arm with scheme D, the better choice here: %d of %d classes have active methods; scheme A would take %s",
			seconds(spec.DefaultObserve+settling+time.Duration(active)*perClass), active, classes, whole)
	}
}

// look takes the second reading, a second after the first at least.
func (e *examination) look(o *vmstructs.Observer, since time.Time) bool {
	select {
	case <-time.After(time.Until(since.Add(time.Second))):
	case <-e.ctx.Done():
		return false
	}
	return o.Look() == nil && o.Moved()
}

// keyOf is a method by its class's name with dots.
func keyOf(class, method string) vmstructs.Key {
	name, desc, _ := strings.Cut(method, "(")
	return vmstructs.KeyOf(strings.ReplaceAll(class, ".", "/"), name, "("+desc)
}

// seconds is a time as a forecast has it.
func seconds(d time.Duration) string { return max(d.Round(time.Second), time.Second).String() }
