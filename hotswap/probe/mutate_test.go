package probe_test

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// TestMutated rewrites real classes with a few bytes changed at random, most
// of them behind the constant pool: nothing may panic, and what comes out must
// parse. RIVULET_MUTATIONS sets how many.
func TestMutated(t *testing.T) {
	n := 20_000
	if s := os.Getenv("RIVULET_MUTATIONS"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	cs := small(classtest.Read(t, classtest.JavaBase(classtest.Home(t))))
	rewritten, refused := 0, 0
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
		res, err := probe.Rewrite(b, stubHooks, func(probe.MethodKey) (int32, bool) { return 500, true })
		if err != nil || res.Bytes == nil {
			refused++
			continue
		}
		rewritten++
		if _, err := classfile.Parse(res.Bytes); err != nil {
			t.Fatalf("result does not parse: %v", err)
		}
	}
	t.Logf("rewritten %d refused %d", rewritten, refused)
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
