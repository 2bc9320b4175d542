package probe_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// around lets a program go around calls: a long is kept during two of three
// that are made on an object, the third tells the object and keeps what that
// returned; one in seven is left alone.
func around(p *probe.Program, class string) {
	first := len(p.Calls)
	p.Calls = append(p.Calls,
		probe.Call{Class: class, Name: "before", Desc: "(I)J"},
		probe.Call{Class: class, Name: "after", Desc: "(J)V"},
		probe.Call{Class: class, Name: "receiver", Desc: "(Ljava/lang/Object;)J"},
		probe.Call{Class: class, Name: "back", Desc: "(J)V"})
	p.Arounds = []probe.Around{
		{
			Before: probe.Sequence{{Kind: probe.StepArg}, {Kind: probe.StepCall, Call: first}, {Kind: probe.StepKeep}},
			After:  probe.Sequence{{Kind: probe.StepKept}, {Kind: probe.StepCall, Call: first + 1}},
		},
		{
			Before: probe.Sequence{{Kind: probe.StepReceiver}, {Kind: probe.StepCall, Call: first + 2}, {Kind: probe.StepKeep}},
			After:  probe.Sequence{{Kind: probe.StepKept}, {Kind: probe.StepCall, Call: first + 3}},
		},
	}
	n := int32(0)
	p.At = func(p *probe.Point) (int, int32) {
		n++
		callee, err := p.Callee()
		switch op := p.Instr.Op; {
		case err != nil || n%7 == 0 || callee.Name == "<init>":
			return -1, 0
		case n%3 == 0 && op != classfile.OpInvokestatic && op != classfile.OpInvokedynamic && op != classfile.OpInvokespecial:
			return 1, 0
		}
		return 0, n % 70000
	}
}

const arounds = `
public class Around {
    static final java.util.concurrent.atomic.AtomicInteger begun = new java.util.concurrent.atomic.AtomicInteger(),
        ended = new java.util.concurrent.atomic.AtomicInteger(), receivers = new java.util.concurrent.atomic.AtomicInteger();
    public static long before(int n) { begun.incrementAndGet(); return 0x7000000000L + n; }
    public static void after(long t) { ended.incrementAndGet(); if (t >>> 36 != 7) throw new AssertionError(t); }
    public static long receiver(Object o) { if (o instanceof Around) throw new AssertionError(); receivers.incrementAndGet(); return 0x5000000000L; }
    public static void back(long t) { if (t != 0x5000000000L) throw new AssertionError(t); }
    public static void main(String[] args) throws Throwable {
        Behave.main(args);
        System.err.println("AROUND " + begun + " " + ended + " " + receivers);
    }
}`

// TestArounds runs a program bare and with something around most of its calls:
// it must print the same.
func TestArounds(t *testing.T) {
	dir := compileBehave(t, classtest.Home(t), "-source", "8", "-target", "8")
	to := classtest.Compile(t, classtest.Home(t), map[string]string{"Around.java": arounds, "Behave.java": "class Behave { static void main(String[] a) {} }"}, "-source", "8", "-target", "8")
	p := probe.Program{}
	around(&p, "Around")
	in := injector(t, p)
	for _, c := range classtest.ReadDir(t, dir) {
		res, err := in.Rewrite(c.Bytes, func(probe.MethodKey) (int32, bool) { return 1, true })
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range res.Skipped {
			if s.Reason != "abstract" && s.Reason != "native" {
				t.Errorf("skipped %s.%s: %s", c.Name, s.MethodKey, s.Reason)
			}
		}
		if res.Bytes != nil {
			checked(t, c.Name, res.Bytes)
			c.Bytes = res.Bytes
		}
		if err := os.WriteFile(filepath.Join(to, c.Name+".class"), c.Bytes, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		bare, _ := runProgram(t, j.Home, "-cp", dir, "Behave")
		out, books := runProgram(t, j.Home, "-Xverify:all", "-cp", to, "Around")
		if out != bare {
			t.Errorf("the output changed:\n%s\nwas:\n%s", out, bare)
		}
		var begun, ended, receivers int
		for line := range strings.Lines(books) {
			fmt.Sscanf(line, "AROUND %d %d %d", &begun, &ended, &receivers)
		}
		t.Log(begun, ended, receivers)
		if begun < 1000 || ended >= begun || ended < begun/2 || receivers < 100 {
			t.Errorf("%d calls begun, %d ended, %d objects", begun, ended, receivers)
		}
	}, 8, 25)
}
