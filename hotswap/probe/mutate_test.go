package probe_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/verify"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// TestMutated rewrites, with counting and without, real classes with a few bytes changed at random, most
// of them behind the constant pool: nothing may panic, what comes out must
// parse, and a method that verified before must verify with probes.
// RIVULET_MUTATIONS sets how many; then the seed is random or RIVULET_SEED, as
// for verify's TestHotSpot. Without it the same are made each time.
func TestMutated(t *testing.T) {
	n, seed := 10_000, uint64(1)
	if s := os.Getenv("RIVULET_MUTATIONS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatalf("RIVULET_MUTATIONS: %v", err)
		}
		seed = classtest.Seed(t)
	}
	r := rand.New(rand.NewPCG(seed, 0))
	cs := small(classtest.Read(t, classtest.JavaBase(classtest.Home(t))))
	rewritten, refused, healed := 0, 0, 0
	for range n {
		b := append([]byte(nil), cs[r.IntN(len(cs))].Bytes...)
		for range 1 + r.IntN(4) {
			at := r.IntN(len(b))
			if r.IntN(8) > 0 {
				at = len(b)/2 + r.IntN(len(b)/2)
			}
			b[at] = byte(r.IntN(256))
			if r.IntN(4) == 0 {
				b[at] = 0xff
			}
		}
		all := func(probe.MethodKey) (int32, bool) { return 500, true }
		rewrite := func() (probe.Result, error) { return probe.Rewrite(b, stubHooks, all) }
		if r.IntN(2) == 0 {
			rewrite = func() (probe.Result, error) { return counting(t, stubHooks.Class).Rewrite(b, all) }
		}
		res, err := rewrite()
		if err != nil || res.Bytes == nil {
			refused++
			continue
		}
		rewritten++
		after, err := classfile.Parse(res.Bytes)
		if err != nil {
			t.Fatalf("result does not parse: %v", err)
		}
		before, err := classfile.Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		for i := range before.Methods {
			_, was := verify.Method(before, &before.Methods[i], verify.Classes{})
			_, is := verify.Method(after, &after.Methods[i], verify.Classes{})
			if was == nil && is != nil {
				t.Errorf("verified before, now %v", is)
				os.WriteFile(filepath.Join(os.TempDir(), "mutant.class"), b, 0o644)
			}
			if was != nil && is == nil {
				healed++
			}
		}
	}
	t.Logf("classes rewritten %d refused %d, methods that verify only with probes %d", rewritten, refused, healed)
}

func small(cs []classtest.Class) []classtest.Class {
	var out []classtest.Class
	for _, c := range cs {
		if len(c.Bytes) < 6000 {
			out = append(out, c)
		}
	}
	return out
}
