package probe_test

import (
	"errors"
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/verify"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// TestLeavesVerify puts the leaves' probes into the leaf methods of half of
// java.base, and the others' into the rest; our verifier checks what comes out,
// and a reading of the original code of its own, what was taken for a leaf.
func TestLeavesVerify(t *testing.T) {
	in, err := injector(t, probe.Tokens(stubHooks)).WithLeaves(stubHooks.Class, "count", "countThrown", func(probe.MethodKey) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	h := verify.Classes{}
	var cs []*classfile.Class
	leaves, long := 0, 0
	all := classtest.Read(t, classtest.JavaBase(classtest.Home(t)))
	for _, cf := range classtest.Sample(t, all, len(all)/2, classtest.Seed(t)) {
		res, err := in.Rewrite(cf.Bytes, func(probe.MethodKey) (int32, bool) { return 70000, true })
		if err != nil {
			t.Fatal(err)
		}
		if res.Bytes == nil {
			continue
		}
		leaves += len(res.Leaves)
		before, err := classfile.Parse(cf.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range res.Leaves {
			if code, err := before.Code(before.Method(k.Name, k.Desc)); err != nil || isLong(code) {
				t.Errorf("%s.%s is taken for a leaf: %v", before.Name(), k, err)
			}
		}
		c, err := classfile.Parse(res.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range res.Rewritten {
			if code, err := before.Code(before.Method(k.Name, k.Desc)); err == nil && isLong(code) {
				long++
			}
		}
		h.Add(c)
		cs = append(cs, c)
	}
	for _, c := range cs {
		if err := verify.Class(c, h); err != nil && !errors.Is(err, verify.ErrSubroutines) {
			t.Error(err)
		}
	}
	if leaves < 500 || long < 500 {
		t.Errorf("%d leaves, and %d methods that call, loop or allocate", leaves, long)
	}
}

// isLong tells whether code calls, jumps backwards, allocates, locks or throws.
func isLong(code *classfile.Code) bool {
	for s := classfile.Scan(code.Bytecode); s.Next(); {
		switch op := s.Op; {
		case op >= classfile.OpInvokevirtual && op <= classfile.OpInvokedynamic,
			op >= classfile.OpNew && op <= classfile.OpAnewarray, op == classfile.OpMultianewarray,
			op >= classfile.OpAthrow && op <= classfile.OpMonitorexit:
			return true
		case (op.Info().Flow == classfile.FlowBranch || op.Info().Flow == classfile.FlowJump) && s.A <= 0:
			return true
		}
	}
	return false
}
