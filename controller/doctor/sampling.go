package doctor

import (
	"errors"
	"os"

	"github.com/rivulet-profiler/rivulet/controller/sampler"
)

// sampling tells whether stacks can be sampled from outside, which needs no agent.
func (e *examination) sampling() {
	const name = "sampling"
	s, err := sampler.Open(e.pid, sampler.Options{Hz: 1})
	switch {
	case errors.Is(err, os.ErrProcessDone):
		e.add(name, Skipped, "", "the process has ended")
		return
	case err != nil: // it names the way out
		e.add(name, Warning, "", "stacks can't be sampled from outside: %s; %s", err, e.instead())
		return
	}
	defer s.Close()
	switch st := s.Stats(); {
	case st.NoPerf != "":
		e.add(name, Warning, "", "stacks can be sampled from outside only by stopping threads for a moment: %s", st.NoPerf)
	case st.NoKernel:
		e.add(name, Warning, "run Rivulet as root, or set sysctl kernel.perf_event_paranoid=1",
			"stacks can be sampled from outside, except while a thread is in the kernel")
	case !st.NonSafepoints:
		e.add(name, OK, "", "stacks can be sampled from outside; without -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints self times are those of compiled methods, with what is inlined")
	default:
		e.add(name, OK, "", "stacks can be sampled from outside")
	}
}

// instead says how stacks are sampled that can't be sampled from outside.
func (e *examination) instead() string {
	const dumps = "thread dumps are taken instead, five a second"
	if e.vm == nil {
		return "the JVM can't be asked for them either"
	}
	if err := e.vm.CanRecord(e.ctx); err != nil {
		return dumps
	}
	return "the JVM's Flight Recorder samples instead (--source jfr), or, with --wall, " + dumps
}
