package hotswap

import (
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/verify"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

const half = `
class T extends java/lang/Object version 52
method static good (I)I
stack 1 locals 1
  iload_0
  ireturn
end
method static bad (I)I
stack 1 locals 1
  fload_0
  ireturn
end`

// TestInjectBy has the ledger put timers in instead of token probes, which are
// verified in the same way.
func TestInjectBy(t *testing.T) {
	b := classtest.Assemble(t, half)
	id := ClassID{Name: "T"}
	good, bad := probe.MethodKey{Name: "good", Desc: "(I)I"}, probe.MethodKey{Name: "bad", Desc: "(I)I"}
	l := NewLedger(probe.Hooks{}, 10)
	l.InjectBy(probe.Timers(probe.Clocks{Class: "java/lang/P", Begin: "begin", Stop: "stop", Fail: "fail"}))
	l.VerifyBy(func(ClassID) verify.Hierarchy { return verify.Classes{} })
	l.Want(id, good)
	l.Want(id, bad)
	out, err := l.Rewrite(id, b)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"begin", "stop", "fail", "(IJ)V"} {
		if !strings.Contains(string(out), name) {
			t.Errorf("no %s in the class", name)
		}
	}
	if r := l.Lookup(id, bad).Reason; !strings.Contains(r, "does not verify") || l.Lookup(id, good).Reason != "" {
		t.Errorf("bad: %q, good: %q", r, l.Lookup(id, good).Reason)
	}
}

// TestVerifyBy gives the ledger a class of which one method does not verify:
// it is left alone, with the reason, and the other gets its probes.
func TestVerifyBy(t *testing.T) {
	b := classtest.Assemble(t, half)
	id := ClassID{Name: "T"}
	good, bad := probe.MethodKey{Name: "good", Desc: "(I)I"}, probe.MethodKey{Name: "bad", Desc: "(I)I"}
	for _, known := range []bool{true, false} {
		l := NewLedger(probe.Hooks{Class: "java/lang/P", Enter: "a", Exit: "b", Thrown: "c", Resync: "d"}, 10)
		l.VerifyBy(func(asked ClassID) verify.Hierarchy {
			if asked != id {
				t.Errorf("asked for %v", asked)
			}
			if !known {
				return nil
			}
			return verify.Classes{}
		})
		l.Want(id, good)
		l.Want(id, bad)
		out, err := l.Rewrite(id, b)
		if err != nil {
			t.Fatal(err)
		}
		c, err := classfile.Parse(out)
		if err != nil {
			t.Fatal(err)
		}
		length := func(k probe.MethodKey) int {
			code, _ := c.Code(c.Method(k.Name, k.Desc))
			return len(code.Bytecode)
		}
		reason := l.Lookup(id, bad).Reason
		if known != strings.Contains(reason, "float where int") && known != strings.Contains(reason, "int where float") {
			t.Errorf("known %v: reason %q", known, reason)
		}
		if known != (length(bad) == 2) || length(good) == 2 || l.Lookup(id, good).Reason != "" {
			t.Errorf("known %v: good has %d bytes, bad %d", known, length(good), length(bad))
		}
		if again, err := l.Rewrite(id, b); err != nil || len(again) != len(out) {
			t.Errorf("again: %d bytes, %v", len(again), err)
		}
	}
}

// TestSites has probes put around calls, for the class that is asked about, and
// gives the callee a row without probes of its own.
func TestSites(t *testing.T) {
	b := classtest.Assemble(t, `
class T extends java/lang/Object version 52
method static m (I)I
stack 1 locals 1
  invokestatic N.n()V
  invokestatic N.other()V
  iload_0
  ireturn
end`)
	id, native := ClassID{Name: "T"}, ClassID{Loader: 1, Name: "N"}
	l := NewLedger(probe.Hooks{Class: "java/lang/P", Enter: "a", Exit: "b", Thrown: "c", Resync: "d"}, 3)
	l.VerifyBy(func(ClassID) verify.Hierarchy { return verify.Classes{} })
	asked := 0
	l.SitesBy(l.hooks, func(in ClassID, p *probe.Point) (int, int32) {
		callee, err := p.Callee()
		if err != nil || in != id {
			t.Fatal(in, err)
		}
		asked++
		if callee.Name != "n" {
			return probe.SiteNone, 0
		}
		m, added := l.Site(native, probe.MethodKey{Name: callee.Name, Desc: callee.Desc})
		if m.ID != 2 || added != (asked == 1) {
			t.Errorf("row %+v, added %v", m, added)
		}
		return probe.SiteCallee, m.ID
	})
	l.Want(id, probe.MethodKey{Name: "m", Desc: "(I)I"})
	for range 2 {
		out, err := l.Rewrite(id, b)
		if err != nil {
			t.Fatal(err)
		}
		c, err := classfile.Parse(out)
		if err != nil {
			t.Fatal(err)
		}
		calls := 0
		code, _ := c.Code(c.Method("m", "(I)I"))
		s := classfile.Scan(code.Bytecode)
		for s.Next() {
			if s.Op == classfile.OpInvokestatic {
				calls++
			}
		}
		if want := 2 + 2 + 3; calls != want { // its own, around one of them, and enter, exit, thrown
			t.Errorf("%d calls, want %d", calls, want)
		}
	}
	if !l.HasSite(native, probe.MethodKey{Name: "n", Desc: "()V"}) || len(l.Instrumented()) != 1 || len(l.Skipped()) != 0 {
		t.Errorf("instrumented %v, skipped %v", l.Instrumented(), l.Skipped())
	}
	if m, added := l.Site(native, probe.MethodKey{Name: "late", Desc: "()V"}); m != nil || added {
		t.Errorf("a row %+v beyond the last id", m)
	}
}
