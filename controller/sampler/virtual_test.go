package sampler

import (
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/controller/sampler/unwinder"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestVirtual walks stacks of virtual threads whose outer frames are in the heap, with compiled code and
// without. No stack is put together of two: whoever is in one of the two ways of
// methods was called by that way alone, from the thread's first method on.
func TestVirtual(t *testing.T) {
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		a := jvmtest.Open(t, "testdata/virtual.txtar")
		dir := a.Compile(t, j, 21)
		for _, mode := range []string{"-Xmixed", "-Xint"} {
			t.Run(mode, func(t *testing.T) {
				p := jvmtest.Start(t, j, []string{mode, "-XX:+UseSerialGC"}, "Virtual", nil, dir)
				p.WaitLine("READY")
				const enough = 40
				whole, heap := 0, 0
				o := Options{Hz: 250}
				o.Trace = func(t Trace) {
					if t.Walk.Heap {
						heap++
					}
				}
				sample(t, p.PID(), o, func(s *stack.Stack) bool {
					count := map[string]int{}
					for _, f := range s.Frames {
						count[f.Method.Name]++
					}
					left, right := count["left"], count["right"]
					if left > 0 && right > 0 || count["forever"] > 1 || count["leftEnd"] > left && s.Complete || count["rightEnd"] > right && s.Complete {
						t.Errorf("%v", count)
					}
					if !s.Complete {
						if s.Broken == unwinder.BrokenContinuation && count["enterSpecial"] > 0 {
							t.Errorf("broken beyond the heap: %v", count)
						}
						return false
					}
					if left+right > 0 {
						if count["forever"] != 1 || count["enterSpecial"] != 1 || count["enter"] != 1 || count["runContinuation"] != 1 {
							t.Errorf("%v", count)
						}
						whole++
					}
					return whole >= enough && heap >= enough/2
				})
			})
		}
	}, 21, 25)
}
