package threads_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/threads"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestDeadlocks finds the circles of a program that has some, and nothing else, on real JVMs.
func TestDeadlocks(t *testing.T) {
	text, err := os.ReadFile("testdata/Locked.java")
	if err != nil {
		t.Fatal(err)
	}
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		dir := jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"Locked.java": string(text)})
		p := jvmtest.Start(t, j, []string{"-Xmx64m"}, "Locked", nil, dir)
		p.WaitLine("ready")
		vm, err := attach.Open(t.Context(), p.PID())
		if err != nil {
			t.Fatal(err)
		}
		dump, err := vm.ThreadDump(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all := threads.Parse(dump)
		var got []string
		for _, d := range threads.Deadlocks(all) {
			var names []string
			for i, l := range d.Threads {
				names = append(names, l.Thread)
				if before := d.Threads[(i+len(d.Threads)-1)%len(d.Threads)]; l.Holds != before.WaitsFor {
					t.Errorf("%s holds %s, and %s waits for %s", l.Thread, l.Holds, before.Thread, before.WaitsFor)
				}
				if !strings.Contains(strings.Join(l.Stack, "\n"), ".with(Locked.java:") {
					t.Errorf("stack of %s: %q", l.Thread, l.Stack)
				}
			}
			got = append(got, circle(names))
		}
		slices.Sort(got)
		want := []string{"five-0 five-1 five-2 five-3 five-4", "mixed-0 mixed-1", "mutex-0 mutex-1", "three-0 three-1 three-2", "two-0 two-1"}
		if !slices.Equal(got, want) {
			t.Errorf("deadlocks %q, want %q", got, want)
		}
		for _, g := range threads.Groups(all) {
			slices.Sort(g.Threads)
			if g.Threads[0] == "waiting-0" && (len(g.Threads) != 3 || g.State != "WAITING") {
				t.Errorf("%+v", g)
			}
		}
		for _, th := range all {
			if strings.HasPrefix(th.Name, "waiting-") && (th.Wait != threads.Notify || th.WaitFor == nil || len(th.Holds) != 0 || th.ID == 0 || th.NID == 0 || !th.Daemon) {
				t.Errorf("%+v", th)
			}
		}
		p.CloseStdin()
		p.Wait()
	})
}

// circle begins with the least name.
func circle(names []string) string {
	at := slices.Index(names, slices.MinFunc(names, cmp.Compare))
	return strings.Join(append(slices.Clone(names[at:]), names[:at]...), " ")
}

// TestTimed: who waits with a limit ends a circle, and a name may look like anything.
func TestTimed(t *testing.T) {
	thread := func(name, state, wants, has string) string {
		return fmt.Sprintf(`"%s" #7 [12] daemon prio=5 os_prio=0 cpu=12.50ms elapsed=1.00s tid=0x1 nid=12 waiting on condition  [0x2]
   java.lang.Thread.State: %s (parking)
	at jdk.internal.misc.Unsafe.park(java.base@21.0.1/Native Method)
	- parking to wait for  <0x%s> (a p.L)
	at p.A.m(A.java:1)

   Locked ownable synchronizers:
	- <0x%s> (a p.L)

`, name, state, wants, has)
	}
	for state, want := range map[string]int{"WAITING": 1, "TIMED_WAITING": 0} {
		all := threads.Parse("noise\n" + thread(`a" #3 nid=5 "b`, state, "1", "2") + thread("c", "WAITING", "2", "1") + thread("alone", "WAITING", "3", "3"))
		if len(all) != 3 || all[0].Name != `a" #3 nid=5 "b` || all[0].NID != 12 || all[0].CPU != 12_500_000 {
			t.Fatalf("%+v", all)
		}
		if all[0].Stack[0] != "jdk.internal.misc.Unsafe.park(Native Method)" {
			t.Errorf("%q", all[0].Stack)
		}
		if got := threads.Deadlocks(all); len(got) != want {
			t.Errorf("%s: %+v", state, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("\"x\" #1 nid=0x1 \n\tat a.b(c)\n\t- locked <0x1> (a b)\n\t- waiting to lock <0x2> (a b)\n")
	f.Fuzz(func(_ *testing.T, dump string) {
		all := threads.Parse(dump)
		threads.Deadlocks(all)
		threads.Groups(all)
	})
}
