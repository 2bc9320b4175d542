package probe

import "slices"

// A Start is what some methods call at their entry in place of Hooks.Enter, a
// method that returns a long. Their id is the last argument of Call; This puts the
// receiver before it.
type Start struct {
	Call Call
	This bool
	Is   func(MethodKey) bool // asked about each method that gets probes; the first that says yes counts
}

// WithStarts returns the injector that has these starts, and no others.
func (in *Injector) WithStarts(starts ...Start) (*Injector, error) {
	p := in.Program
	p.Entries = nil
	for _, s := range starts {
		entry := Sequence{{Kind: StepID}, {Kind: StepCall, Call: p.call(s.Call)}, {Kind: StepStore}}
		if s.This {
			entry = append(Sequence{{Kind: StepThis}}, entry...)
		}
		p.Entries = append(p.Entries, entry)
	}
	p.EntryOf = func(m MethodKey) int {
		return slices.IndexFunc(starts, func(s Start) bool { return s.Is(m) })
	}
	return NewInjector(p)
}

// call is the index of a call, which is added if it isn't there.
func (p *Program) call(c Call) int {
	if i := slices.Index(p.Calls, c); i >= 0 {
		return i
	}
	p.Calls = append(slices.Clip(p.Calls), c)
	return len(p.Calls) - 1
}
