package session

import (
	"context"
	"errors"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// spanStorage is the class of the OpenTelemetry API (1.x) that makes a context, and
// with it a span, current. OpenTelemetry's own agent has a copy of it in the boot
// loader, under the longer name.
const (
	spanStorage      = "io/opentelemetry/context/ThreadLocalContextStorage"
	agentSpanStorage = "io/opentelemetry/javaagent/shaded/" + spanStorage
)

// followSpans has the class Spans in the target told of each span that becomes current, so that
// root invocations which begin outside of any are joined to their first one
// (decision 57). Nothing is changed where OpenTelemetry is not in use; a copy that is loaded
// later is changed then.
func (s *Session) followSpans(ctx context.Context) error {
	in, err := probe.NewInjector(probe.Program{
		Calls: []probe.Call{{Class: s.bundle.Part("Spans"), Name: "attached", Desc: "(Ljava/lang/Object;Ljava/lang/Object;)V"}},
		Entry: probe.Sequence{{Kind: probe.StepThis}, {Kind: probe.StepParam, Slot: 1}, {Kind: probe.StepCall}},
	})
	if err != nil {
		return err
	}
	rewrite := func(l *loop, id cha.ClassID, b []byte) ([]byte, error) {
		out, err := inject(l, id, b, in, func(k probe.MethodKey) (int32, bool) { return 0, k.Name == "attach" })
		if err == nil && out == nil {
			err = errors.New("it has no method attach, as the versions that are known have")
		}
		return out, err
	}
	d := doors{anywhere: true, optional: true, rewrites: map[string]rewriter{spanStorage: rewrite, agentSpanStorage: rewrite}}
	return s.openDoors(ctx, &d, func() { s.loop.spans = d })
}
