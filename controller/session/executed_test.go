package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/metric"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/interp"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// countedRounds is the argument of the root of Counted.java.
const countedRounds = 50

// executedBy compiles Counted.java, and has an interpreter count what its methods
// execute, as reports name them: instructions, and whole blocks. It returns what the
// root returned, too.
func executedBy(t *testing.T) (dir string, executed, blocks map[string]int64, result int32) {
	t.Helper()
	dir, vm, named, result := interpreted(t)
	return dir, named(vm.Executed), named(vm.Blockwise()), result
}

// interpreted is executedBy with the interpreter, and with what names its methods as
// reports do.
func interpreted(t *testing.T) (dir string, vm *interp.VM, named func(map[string]int64) map[string]int64, result int32) {
	t.Helper()
	source, err := os.ReadFile("../../hotswap/probe/testdata/Counted.java")
	if err != nil {
		t.Fatal(err)
	}
	dir = jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"t/Counted.java": string(source)})
	names, err := filepath.Glob(filepath.Join(dir, "t", "*.class"))
	if err != nil {
		t.Fatal(err)
	}
	var files [][]byte
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, b)
	}
	vm, err = interp.New(files...)
	if err != nil {
		t.Fatal(err)
	}
	v, err := vm.Call("t/Counted", "run", "(I)I", int32(countedRounds))
	if err != nil {
		t.Fatal(err)
	}
	named = func(counts map[string]int64) map[string]int64 {
		out := map[string]int64{}
		for name, n := range counts {
			if n == 0 {
				continue
			}
			class, _, _ := strings.Cut(name, ".")
			out[strings.ReplaceAll(class, "/", ".")+strings.TrimPrefix(name, class)] = n
		}
		return out
	}
	return dir, vm, named, v.(int32)
}

// TestKinds counts what each method executes of a kind of instructions, exactly.
func TestKinds(t *testing.T) {
	t.Parallel()
	dir, vm, named, result := interpreted(t)
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		for name, kind := range map[string]probe.Kind{"invokes": probe.KindInvoke, "accesses": probe.KindAccess, "arithmetic": probe.KindArithmetic, "branches": probe.KindBranch} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p := program(t, j, dir, "Counted", nil)
				s := attached(t, p)
				start(t, s, session.Recording{Roots: []string{"t.Counted.run"}, Count: []string{name, metric.CountAllocations}})
				if n := ask(t, p, fmt.Sprint("run ", countedRounds), "RAN "); n != int64(result) {
					t.Errorf("the program says %d, the interpreter %d", n, result)
				}
				r := closed(t, s)
				got := executedIn(r)
				if diff := cmp.Diff(named(vm.Of(kind.Has)), got); diff != "" {
					t.Errorf("executed, -want +got:\n%s", diff)
				}
				if r.Tree.Metrics.Index(name) != 0 || len(r.UncountedMethods) > 0 {
					t.Errorf("%v; %v", r.Tree.Metrics, r.UncountedMethods)
				}
			})
		}
	}, 8, 17, 25)
}

// TestBytecodes counts what each method of a program executes, exactly: with each
// form of the probes, each clock, folded recursion, events; and by whole blocks.
func TestBytecodes(t *testing.T) {
	t.Parallel()
	dir, exact, blocks, result := executedBy(t)
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		for i, rec := range []session.Recording{
			{Scheme: "A"},
			{Scheme: "B", Probes: session.ProbesCalled},
			{Scheme: "C", Clock: "precise", Leaves: session.LeavesTimed},
			{Scheme: "C", Fold: true},
			{Scheme: "B", Slowest: 1},
			{Scheme: "C", Count: []string{metric.CountBlocks}},
		} {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				p := program(t, j, dir, "Counted", nil)
				s := attached(t, p)
				rec.Roots = []string{"t.Counted.run"}
				want, name := blocks, metric.Blocks.Name
				if rec.Count == nil {
					want, name, rec.Count = exact, metric.Bytecodes.Name, []string{metric.CountBytecodes}
				}
				start(t, s, rec)
				if n := ask(t, p, fmt.Sprint("run ", countedRounds), "RAN "); n != int64(result) {
					t.Errorf("the program says %d, the interpreter %d", n, result)
				}
				r := closed(t, s)
				got, sum := executedIn(r), int64(0)
				for _, n := range got {
					sum += n
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("executed, -want +got:\n%s", diff)
				}
				if root := r.Tree.Roots()[0]; root.Counts.Total[0] != sum || r.Tree.Metrics.Index(name) != 0 || len(r.UncountedMethods) > 0 {
					t.Errorf("%d in all, the root has %d; %v", sum, root.Counts.Total[0], r.UncountedMethods)
				}
			})
		}
	}, 8, 17, 25)
}

// TestBytecodesOpen pauses within a root invocation, and ends the recording within
// another: what is open then has executed nothing, as far as the report says, and
// all else is whole.
func TestBytecodesOpen(t *testing.T) {
	t.Parallel()
	dir, want, _, _ := executedBy(t)
	want["t.Counted.twice(I)I"] += 2 * 4
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, "Counted", nil)
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.Counted.run", "t.Counted.hold"}, Count: []string{"bytecodes"}})
		p.Send("hold")
		p.WaitLine("HELD")
		if err := s.Pause(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.Send("go on")
		p.WaitLine("RAN ")
		if err := s.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		ask(t, p, fmt.Sprint("run ", countedRounds), "RAN ")
		p.Send("hold")
		p.WaitLine("HELD")
		r := closed(t, s)
		p.Send("go on")
		got := executedIn(r)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("executed, -want +got:\n%s", diff)
		}
		wantCalls(t, r, map[string]int64{"Counted.hold": 2})
	}, 8, 17, 25)
}

// executedIn is what a report's methods have executed.
func executedIn(r *export.Report) map[string]int64 {
	got := map[string]int64{}
	for _, f := range cct.FlatOf(r.Tree.Roots()) {
		if n := f.Counts.Own[0]; n != 0 {
			got[r.Method(f.Method).Name] = n
		}
	}
	return got
}
