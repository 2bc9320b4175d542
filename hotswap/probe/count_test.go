package probe_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/verify"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// counting returns the injector that counts what is executed and allocated, with all its
// methods in one class.
func counting(t testing.TB, class string) *probe.Injector {
	t.Helper()
	return countingBy(t, class, false)
}

// countingBy is counting by instructions, or by whole blocks.
func countingBy(t testing.TB, class string, blocks bool) *probe.Injector {
	t.Helper()
	return countingOf(t, class, blocks, probe.KindAll)
}

// countingOf is countingBy of a kind of instructions.
func countingOf(t testing.TB, class string, blocks bool, kind probe.Kind) *probe.Injector {
	t.Helper()
	h := stubHooks
	h.Class = class
	in, err := probe.TokenSites(h).WithLeaves(class, "count", "thrown", func(probe.MethodKey) bool { return true })
	if err == nil {
		in, err = in.WithExecuted(probe.Executed{Class: class, Exit: "exit", Thrown: "thrown", Leaf: "leaf", LeafThrown: "leafThrown", LeafClass: class, LeafLastOne: "thrown", Blocks: blocks, Kind: kind})
	}
	types := newTypes()
	if err == nil {
		in, err = in.WithAllocated(allocated(class, types))
	}
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func (ta *tally) tallyCounts(res *probe.Result) {
	if ta.uncounted == nil {
		ta.uncounted = map[string]int{}
	}
	for _, u := range res.Uncounted {
		ta.uncounted[u.Reason]++
	}
	ta.fixed += len(res.Counts)
	for _, k := range res.Counts {
		if k.Each == 0 {
			ta.fixed--
		}
	}
}

// TestVerifierCounting lets our own verifier check java.base with what all
// methods execute counted, and some of it by whole blocks.
func TestVerifierCounting(t *testing.T) {
	cs := classtest.Read(t, classtest.JavaBase(classtest.Home(t)))
	t.Run("instructions", func(t *testing.T) { verifyCounting(t, cs, counting(t, stubHooks.Class)) })
	t.Run("blocks", func(t *testing.T) {
		verifyCounting(t, classtest.Sample(t, cs, 1200, classtest.Seed(t)), countingBy(t, stubHooks.Class, true))
	})
	for k := probe.KindInvoke; k <= probe.KindBranch; k++ {
		t.Run(fmt.Sprint("kind ", k), func(t *testing.T) {
			verifyCounting(t, classtest.Sample(t, cs, 600, classtest.Seed(t)), countingOf(t, stubHooks.Class, false, k))
		})
	}
}

func verifyCounting(t *testing.T, cs []classtest.Class, in *probe.Injector) {
	ta := tally{in: in}
	h := verify.Classes{}
	var parsed []*classfile.Class
	before, after := 0, 0
	for _, cf := range cs {
		before += len(cf.Bytes)
	}
	for _, cf := range append(ta.rewriteAll(t, cs), buildStub(t, classtest.Home(t))) {
		after += len(cf.Bytes)
		c, err := classfile.Parse(cf.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		h.Add(c)
		parsed = append(parsed, c)
	}
	for _, c := range parsed {
		for i := range c.Methods {
			m := &c.Methods[i]
			if _, err := verify.Method(c, m, h); err != nil && !errors.Is(err, verify.ErrSubroutines) {
				t.Errorf("%v", err)
			}
		}
	}
	t.Logf("%v; %d of them need no counter; not counted %v; %.2f times as long", &ta, ta.fixed, ta.uncounted, float64(after)/float64(before))
}

// TestJavaBaseCounting is TestJavaBase with what is executed counted.
func TestJavaBaseCounting(t *testing.T) {
	home := classtest.Home(t)
	cs := without(classtest.Read(t, classtest.JavaBase(home)), "module-info")
	ta := tally{in: counting(t, stubHooks.Class)}
	javaBase(t, home, classtest.Sample(t, cs, 1200, classtest.Seed(t)), ta)
}
