package probe_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/verify"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// argCall pushes the point's int and calls a method with it.
func argCall(call int) probe.Sequence {
	return probe.Sequence{{Kind: probe.StepArg}, {Kind: probe.StepCall, Call: call}}
}

func injector(t testing.TB, p probe.Program) *probe.Injector {
	t.Helper()
	in, err := probe.NewInjector(p)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// everyPoint is the token probes and something at every point and around most
// calls, with ints of all sizes.
func everyPoint(t testing.TB, h probe.Hooks) *probe.Injector {
	t.Helper()
	p := probe.Tokens(h)
	p.Calls = append(p.Calls, probe.Call{Class: h.Class, Name: "point", Desc: "(I)V"})
	for kind := range p.Points {
		p.Points[kind] = argCall(len(p.Calls) - 1)
	}
	n := int32(0)
	p.Want = func(*probe.Point) (int32, bool) { n++; return n * 7 % 70000, n%5 > 0 }
	around(&p, h.Class)
	return injector(t, p)
}

// TestPointsVerify injects something at most points of java.base; our verifier
// checks what comes out.
func TestPointsVerify(t *testing.T) {
	in := everyPoint(t, stubHooks)
	h := verify.Classes{}
	var cs []*classfile.Class
	skipped := map[string]int{}
	all := classtest.Read(t, classtest.JavaBase(classtest.Home(t)))
	for _, cf := range classtest.Sample(t, all, len(all)/2, classtest.Seed(t)) {
		res, err := in.Rewrite(cf.Bytes, func(probe.MethodKey) (int32, bool) { return 1, true })
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range res.Skipped {
			skipped[s.Reason]++
		}
		if res.Bytes == nil {
			continue
		}
		c, err := classfile.Parse(res.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		h.Add(c)
		cs = append(cs, c)
	}
	for _, c := range cs {
		if err := verify.Class(c, h); err != nil && !errors.Is(err, verify.ErrSubroutines) {
			t.Error(err)
		}
	}
	t.Logf("skipped %v", skipped)
}

// counts is the class that counts, and the driver of the programs.
var counts = map[string]string{
	"Count.java": `
public class Count {
    static long blocks, bytecodes, allocs, calls, depth;
    public static void block(int n) { blocks++; bytecodes += n; }
    public static void alloc(int n) { allocs += n; }
    public static void call(int n) { calls++; }
    public static int enter(int id) { depth++; return id; }
    public static void leave(int id) { depth--; if (id != 77) throw new AssertionError(id); }
}`,
	"Loop.java": `public class Loop { static int run(int n) { return 0; } static int pick(int n) { return 0; } }`,
	"Main.java": `
public class Main {
    public static void main(String[] args) {
        int sum = Loop.run(1000);
        System.out.println("run " + sum + " blocks " + Count.blocks + " bytecodes " + Count.bytecodes);
        Count.blocks = Count.bytecodes = 0;
        for (int i = 0; i < 5; i++) sum = Loop.pick(i);
        System.out.println("pick " + sum + " blocks " + Count.blocks + " bytecodes " + Count.bytecodes);
        Count.allocs = Count.calls = 0;
        String text = "";
        for (int i = 0; i < 20; i++) text += Objects.work(2000);
        System.out.println("work " + text.length() + " truth " + Objects.allocs + " allocs " + Count.allocs
            + " truth " + Objects.calls + " calls " + Count.calls + " depth " + Count.depth);
    }
}`,
	"Objects.java": `
import java.util.*;
public class Objects {
    static long allocs, calls;
    Objects next;
    Objects(int n) { this(n > 0 ? make(n - 1) : null); }
    Objects(Objects next) { this.next = next; }
    static Objects make(int n) { allocs++; return new Objects(n); }
    static int work(int n) {
        int max = 0; long ns = 0;
        for (int i = 0; i < n; i++) {
            calls++; max = Math.max(max, i ^ 5);
            calls++; ns ^= System.nanoTime();
            if (i % 100 == 0) {
                make(i / 100);
                allocs++; int[] ints = new int[i + 1];
                allocs++; Objects[] objects = new Objects[3];
                allocs++; long[][] longs = new long[3][4];
                try { allocs++; throw new IllegalStateException(); }
                catch (IllegalStateException e) { calls++; max = Math.max(ints.length, max); }
                finally { calls++; max = Math.max(max, longs.length + objects.length); }
            }
        }
        return max + (int) (ns & 1 & n);
    }
}`,
}

// loops is hand-assembled, to know how many instructions run.
const loops = `
class Loop extends java/lang/Object version 52
method static run (I)I
stack 1 locals 2
  iconst_0
  istore_1
top:
  iload_0
  ifle end
  iinc 1 3
  iinc 0 -1
  goto top
end:
  iload_1
  ireturn
frame top I I |
frame end I I |
end
method static pick (I)I
stack 2 locals 1
  nop
a:
  iload_0
  tableswitch other 0 zero one
zero:
  iconst_5
  ireturn
one:
  aconst_null
  athrow
h:
  pop
  iconst_1
  ireturn
other:
  iinc 0 1
  iload_0
  ireturn
frame zero I |
frame one I |
frame h I | Ljava/lang/Throwable;
frame other I |
catch one h h
end`

// TestPoints counts basic blocks, bytecodes, allocations, and calls of a native
// and of an intrinsic, in programs that know their own.
func TestPoints(t *testing.T) {
	dir := classtest.Compile(t, classtest.Home(t), counts, "-source", "8", "-target", "8")
	blocks := injector(t, probe.Program{
		Calls:  []probe.Call{{Class: "Count", Name: "block", Desc: "(I)V"}},
		Points: [probe.PointKinds]probe.Sequence{probe.PointBlock: argCall(0)},
		Want:   func(p *probe.Point) (int32, bool) { return int32(p.Block), true },
	})
	// A local of type int, an entry and exits, no catch-all.
	objects := injector(t, probe.Program{
		Calls: []probe.Call{
			{Class: "Count", Name: "alloc", Desc: "(I)V"},
			{Class: "Count", Name: "call", Desc: "(I)V"},
			{Class: "Count", Name: "enter", Desc: "(I)I"},
			{Class: "Count", Name: "leave", Desc: "(I)V"},
		},
		Local:  classfile.VInteger,
		Entry:  probe.Sequence{{Kind: probe.StepID}, {Kind: probe.StepCall, Call: 2}, {Kind: probe.StepStore}},
		Exit:   probe.Sequence{{Kind: probe.StepLoad}, {Kind: probe.StepCall, Call: 3}},
		Points: [probe.PointKinds]probe.Sequence{probe.PointAlloc: argCall(0), probe.PointCall: argCall(1)},
		Want: func(p *probe.Point) (int32, bool) {
			if p.Kind == probe.PointAlloc {
				return 1, true
			}
			callee, err := p.Callee()
			return 0, err == nil && (callee.Class == "java/lang/Math" && callee.Name == "max" || callee.Name == "nanoTime")
		},
	})
	rewrite := func(in *probe.Injector, class string, b []byte) {
		t.Helper()
		res, err := in.Rewrite(b, func(probe.MethodKey) (int32, bool) { return 77, true })
		if err != nil || len(res.Skipped) > 0 {
			t.Fatalf("%v %v", err, res.Skipped)
		}
		checked(t, class, res.Bytes)
		if err := os.WriteFile(filepath.Join(dir, class+".class"), res.Bytes, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	rewrite(blocks, "Loop", classtest.Assemble(t, loops))
	b, err := os.ReadFile(filepath.Join(dir, "Objects.class"))
	if err != nil {
		t.Fatal(err)
	}
	rewrite(objects, "Objects", b)
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		out, _ := runProgram(t, j.Home, "-Xverify:all", "-cp", dir, "Main")
		lines := strings.Split(out, "\n")
		// run: 2 + 2*1001 + 3*1000 + 2 instructions in 2*1000 + 3 blocks. pick:
		// nop, iload and tableswitch each time, and what is behind it.
		// run has 2 + 2*1001 + 3*1000 + 2 instructions in 2*1000 + 3 blocks; pick
		// has 3 each time and 2, 2 + 3, and three times 3 behind the switch.
		for i, want := range []string{"run 3000 blocks 2003 bytecodes 5006", "pick 5 blocks 11 bytecodes 31"} {
			if lines[i] != want {
				t.Errorf("%q, want %q", lines[i], want)
			}
		}
		var text, allocTruth, allocs, callTruth, calls, depth int
		fmt.Sscanf(lines[2], "work %d truth %d allocs %d truth %d calls %d depth %d", &text, &allocTruth, &allocs, &callTruth, &calls, &depth)
		if allocs != allocTruth || calls != callTruth || allocs < 1000 || calls < 50_000 || depth != 0 {
			t.Error(lines[2])
		}
	})
}

// TestPrograms gives programs that make no sense.
func TestPrograms(t *testing.T) {
	call := []probe.Call{{Class: "C", Name: "m", Desc: "(I)I"}}
	pop := probe.Step{Kind: probe.StepOp, Op: classfile.OpPop}
	for want, p := range map[string]probe.Program{
		"leaves 1 words":           {Entry: probe.Sequence{{Kind: probe.StepID}}},
		"takes what it did not":    {Exit: probe.Sequence{pop}},
		"no point":                 {Calls: call, Entry: argCall(0)},
		"calls method 1 of 1":      {Calls: call, Points: [probe.PointKinds]probe.Sequence{argCall(1)}},
		"bad descriptor":           {Calls: []probe.Call{{Desc: "I"}}},
		"local that is not there":  {Exit: probe.Sequence{{Kind: probe.StepLoad}, pop}},
		"not stored at the entry":  {Local: classfile.VInteger, Exit: probe.Sequence{{Kind: probe.StepLoad}, pop}},
		"must be long, int":        {Local: classfile.VObject},
		"can't be injected":        {Exit: probe.Sequence{{Kind: probe.StepOp, Op: classfile.OpReturn}}},
		"must end in athrow":       {Caught: probe.Sequence{{Kind: probe.StepID}, pop}},
		"must end in athrow with":  {Caught: probe.Sequence{{Kind: probe.StepID}, {Kind: probe.StepOp, Op: classfile.OpAthrow}}},
		"step 0: no such kind":     {Entry: probe.Sequence{{Kind: 99}}},
		"not in the first step":    {Local: classfile.VLong, Arounds: []probe.Around{{Before: probe.Sequence{{Kind: probe.StepOp, Op: classfile.OpNop}, {Kind: probe.StepReceiver}, pop}}}},
		"kept, before the call":    {Arounds: []probe.Around{{Before: probe.Sequence{{Kind: probe.StepKept}}}}},
		"behind the call":          {Arounds: []probe.Around{{After: probe.Sequence{{Kind: probe.StepKept}}}}},
		"around 0: leaves 1":       {Arounds: []probe.Around{{Before: probe.Sequence{{Kind: probe.StepReceiver}}}}},
		"step 0: iload_0 can't be": {Entry: probe.Sequence{{Kind: probe.StepOp, Op: classfile.OpIload0}}},
	} {
		if _, err := probe.NewInjector(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
