package patch

import (
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

// Spans has a class of the target, by its name there, told of each span that becomes current: the span's
// context, and the one before. It gives an error only if a program of its own is wrong.
func Spans(class string) (Edit, error) {
	in, err := probe.NewInjector(probe.Program{
		Calls: []probe.Call{{Class: class, Name: "attached", Desc: "(Ljava/lang/Object;Ljava/lang/Object;)V"}},
		Entry: probe.Sequence{{Kind: probe.StepThis}, {Kind: probe.StepParam, Slot: 1}, {Kind: probe.StepCall}},
	})
	if err != nil {
		return Edit{}, err
	}
	rewrite := func(t Target, id cha.ClassID, b []byte) ([]byte, error) {
		out, err := inject(t, id, b, in, func(k probe.MethodKey) (int32, bool) { return 0, k.Name == "attach" })
		if err == nil && out == nil {
			err = errors.New("it has no method attach, as the versions that are known have")
		}
		return out, err
	}
	return Edit{Anywhere: true, Optional: true, Classes: map[string]Rewriter{spanStorage: rewrite, agentSpanStorage: rewrite}}, nil
}
