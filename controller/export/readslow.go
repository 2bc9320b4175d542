package export

import (
	"errors"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/event"
)

// slow reads the field "slowest".
func (in *reader) slow() error {
	s := &Slowest{}
	in.slowest = s
	return in.object(func(key string) error {
		switch key {
		case "asked":
			return in.value(&s.Asked)
		case "times_only":
			return in.value(&s.TimesOnly)
		case "over_ns":
			return in.value(&s.Over)
		case "of":
			return in.value(&s.Of)
		case "invocations":
			return in.list(func() error {
				i, err := in.invocation()
				s.Invocations = append(s.Invocations, i)
				return err
			})
		}
		_, err := in.raw()
		return err
	})
}

func (in *reader) invocation() (i Invocation, err error) {
	var trace, span string
	within := false
	if err := in.object(func(key string) error {
		switch key {
		case "start_ns":
			return in.value(&i.Start)
		case "took_ns":
			return in.value(&i.Took)
		case "suspended_ns":
			return in.value(&i.Suspended)
		case "on_core_ns":
			return in.value(&i.Ran)
		case "thrown":
			return in.value(&i.Thrown)
		case "trace_id":
			return in.value(&trace)
		case "span_id":
			return in.value(&span)
		case "span_within":
			return in.value(&within)
		case "cut_contexts":
			return in.value(&i.CutContexts)
		case "cut_calls":
			return in.value(&i.CutCalls)
		case "gc_pause":
			return in.value(&i.Paused)
		case "critical_path":
			p, err := in.path()
			i.Path = p
			return err
		case "tree":
			root, t, err := in.tree()
			i.Thread = &cct.Thread{ID: t.ID, Name: t.Name, Virtual: t.Virtual, Shared: t.Shared, Roots: []*cct.Node{root}}
			return err
		}
		_, err := in.raw()
		return err
	}); err != nil {
		return i, err
	}
	if i.Thread == nil {
		return i, errors.New("an invocation without a tree")
	}
	if s, ok := event.ParseSpan(trace, span); ok {
		s.Within = within
		i.Span = s
	}
	cct.Totals(i.Thread.Roots)
	return i, nil
}
