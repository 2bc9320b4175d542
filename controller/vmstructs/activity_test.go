package vmstructs_test

import (
	"errors"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

var (
	often   = vmstructs.KeyOf("Active", "often", "(LActive;I)I")
	get     = vmstructs.KeyOf("Active", "get", "()I")
	rare    = vmstructs.KeyOf("Active", "rare", "(I)I")
	several = vmstructs.KeyOf("Active", "several", "(I)I")
	never   = vmstructs.KeyOf("Active", "never", "(I)I")
	fresh   = vmstructs.KeyOf("Active$Other", "fresh", "()I")
	unused  = vmstructs.KeyOf("Active$Other", "never", "()I")
)

// TestObserver asks real JVMs which methods are active, and which of those that it
// watches wake, class loading included.
func TestObserver(t *testing.T) {
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		for _, options := range [][]string{nil, {"-XX:TieredStopAtLevel=1"}, {"-XX:TieredStopAtLevel=3"}, {"-XX:-TieredCompilation"}} {
			a := jvmtest.Open(t, "testdata/active.txtar")
			p := jvmtest.Start(t, j, options, "Active", nil, a.Compile(t, j, 8))
			p.WaitLine("READY")
			o, err := vmstructs.Observe(p.PID())
			if err != nil {
				t.Fatal(options, err)
			}
			is := func(k vmstructs.Key, want bool) {
				t.Helper()
				if o.Active(k) != want {
					t.Errorf("%v: %v active: %v, want %v", options, k, !want, want)
				}
			}
			wakes := func(want map[vmstructs.Key]int64) {
				t.Helper()
				got, err := o.Woken()
				if err != nil {
					t.Fatal(err)
				}
				if len(got) != len(want) {
					t.Errorf("%v: woke: %v, want %v", options, got, want)
				}
				for _, w := range got {
					if n, ok := want[w.Key]; !ok || n != w.Calls {
						t.Errorf("%v: woke: %v, want %v", options, got, want)
					}
				}
			}
			is(rare, false)
			o.Watch([]vmstructs.Key{rare, several, never, fresh, unused})
			if err := o.Look(); err != nil {
				t.Fatal(err)
			}
			wakes(nil)
			p.Send("r")
			p.WaitLine("RARE")
			wakes(map[vmstructs.Key]int64{rare: 1})
			p.Send("s")
			p.WaitLine("SEVERAL")
			wakes(map[vmstructs.Key]int64{several: 3})
			p.Send("o")
			p.WaitLine("ONCE")
			wakes(nil) // its class was not there at the last look
			p.Send("w")
			p.WaitLine("WARM")
			if err := o.Look(); err != nil {
				t.Fatal(err)
			}
			if got := o.Rest(); len(got) != 1 || got[0] != (vmstructs.Woken{Key: fresh, Calls: 1}) {
				t.Errorf("%v: at the next look: %v", options, got)
			}
			for k, want := range map[vmstructs.Key]bool{often: true, get: true, rare: true, several: true, never: false, fresh: true, unused: false} {
				is(k, want)
			}
			if o.Watched() != 2 || !o.Moved() {
				t.Errorf("%v: %d watched, moved %v", options, o.Watched(), o.Moved())
			}
			p.CloseStdin()
			p.Wait()
			if _, err := o.Woken(); err == nil {
				t.Error("no error from a process that has ended")
			}
		}
	}, 11, 17, 21, 25)
}

// TestObserverUnknown says so where a JVM has no such tables, or does not count.
func TestObserverUnknown(t *testing.T) {
	j := jvmtest.Need(t, 8)
	a := jvmtest.Open(t, "testdata/active.txtar")
	p := jvmtest.Start(t, j, nil, "Active", nil, a.Compile(t, j, 8))
	p.WaitLine("READY")
	if o, err := vmstructs.Observe(p.PID()); o != nil || !errors.Is(err, vmstructs.ErrUnknown) {
		t.Errorf("%v, %v", o, err)
	}
	p.CloseStdin()
	p.Wait()
	j = jvmtest.Need(t, 17)
	p = jvmtest.Start(t, j, []string{"-Xint"}, "Active", nil, a.Compile(t, j, 8))
	p.WaitLine("READY")
	o, err := vmstructs.Observe(p.PID())
	if err != nil {
		t.Fatal(err)
	}
	p.Send("w")
	p.WaitLine("WARM")
	if err := o.Look(); err != nil || o.Moved() {
		t.Errorf("an interpreter that does not count: moved %v, %v", o.Moved(), err)
	}
	p.CloseStdin()
	p.Wait()
}
