package sampler

import (
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/sampler/images"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestWaitsAt reads where a thread waits, and the kernel's frames there.
func TestWaitsAt(t *testing.T) {
	for text, want := range map[string][2]uint64{
		"202 0x7f01 0x80 0x0 0x0 0x0 0xffffffff 0x7ffe10 0x7f0a12\n": {0x7ffe10, 0x7f0a12},

		"-1 0x7ffe10 0x7f0a12\n": {0x7ffe10, 0x7f0a12},
		"running\n":              {},
		"":                       {},
		"202 0x1 x 0x2":          {},
		"-1 0x7ffe11 0x7f0a12":   {},
	} {
		sp, pc, ok := waitsAt([]byte(text))
		if ok != (want[0] != 0) || ok && (sp != want[0] || pc != want[1]) {
			t.Errorf("%q: %x %x %v", text, sp, pc, ok)
		}
	}
	k := kernel{}
	var names []string
	for _, f := range k.listed([]byte("[<0>] futex_wait+0x7f/0xc0\n[<0>] do_futex+0x100/0x1b0\nnothing\n[<0>] 0xffffffff8100\n")) {
		if names = append(names, f.Method.Name); f.Kind != stack.Kernel || f.BCI != -1 {
			t.Errorf("%+v", f)
		}
	}
	if got := strings.Join(names, " "); got != "futex_wait do_futex" {
		t.Error(got)
	}
}

// TestNative finds what a thread does in the kernel and in libraries, whether it runs there or waits:
// first the kernel's functions, then native ones, then Java's. What waits is called by
// name; the kernel names its own functions where it is allowed to.
func TestNative(t *testing.T) {
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		a := jvmtest.Open(t, "testdata/reads.txtar")
		p := jvmtest.Start(t, j, nil, "Reads", nil, a.Compile(t, j, 8))
		p.WaitLine("READY")
		ran, waited, within := 0, 0, 0
		st := sample(t, p.PID(), Options{Hz: 200, Wall: true, Native: true}, func(s *stack.Stack) bool {
			if s.Thread != "reads" && s.Thread != "parks" || !s.Complete || len(s.Frames) == 0 {
				return false
			}
			order := func(k stack.Kind) int {
				switch k {
				case stack.Kernel:
					return 0
				case stack.Native, stack.Stub:
					return 1
				}
				return 2
			}
			kernels, natives, libraries := 0, 0, ""
			for i, f := range s.Frames {
				if i > 0 && order(f.Kind) < order(s.Frames[i-1].Kind) && f.Kind != stack.Stub {
					t.Errorf("%s: %+v is below %+v", s.Thread, f, s.Frames[i-1])
				}
				switch f.Kind {
				case stack.Kernel:
					kernels++
				case stack.Native:
					natives++
					libraries += f.Method.Name + " "
				}
			}
			switch {
			case s.Thread == "parks" && natives > 0:
				if s.State != stack.Parked || !strings.Contains(libraries, "pthread_cond") {
					t.Errorf("state %d at %s", s.State, libraries)
				}
				waited++
			case s.Thread == "reads" && s.State == stack.Running && natives > 0 && kernels > 0:
				switch n := s.Frames[0].Method.Name; { // an interrupt may come anywhere
				case n == "":
					t.Errorf("a function of the kernel without a name, by %s", libraries)
				case n == images.UnknownKernel || strings.Contains(" "+libraries, " __read ") || strings.Contains(" "+libraries, " read "):
					within++
				}
			case s.Thread == "reads" && s.State == stack.Running && natives > 0:
				ran++
			}
			return waited >= 5 && within >= 5 || waited >= 5 && ran >= 200
		})
		if !st.NoKernel && within < 5 {
			t.Errorf("%d samples within the kernel, %d without", within, ran)
		}
	})
}
