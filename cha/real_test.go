package cha_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/cha/chatest"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestReal has JVMs make the calls of random worlds on all objects that there
// can be. What runs is what the brute-force reading of the JVMS selects for that
// receiver, and among the targets that cha gives.
func TestReal(t *testing.T) {
	const count, size = 60, 24
	var ws []*chatest.World
	var input bytes.Buffer
	word := func(n int) { input.Write(binary.BigEndian.AppendUint32(nil, uint32(n))) }
	word(count)
	for seed := range uint64(count) {
		w := chatest.Runnable(rand.New(rand.NewPCG(seed, 2)), size)
		ws = append(ws, w)
		sites := w.Sites()
		word(len(w.Classes) - 1)
		for _, c := range w.Classes[1:] {
			word(int(c.ID.Loader))
			input.Write(binary.BigEndian.AppendUint16(nil, uint16(len(c.ID.Name))))
			input.WriteString(c.ID.Name)
			b := w.Emit(c, sites)
			word(len(b))
			input.Write(b)
		}
	}
	dir := jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"run/Worlds.java": chatest.WorldRunner})
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		cmd := exec.Command(j.Java(), "-cp", dir, "run.Worlds")
		cmd.Stdin = bytes.NewReader(input.Bytes())
		out, err := cmd.CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("END")) {
			t.Fatalf("%v\n%.3000s", err, out)
		}
		checkReal(t, ws, string(out))
	}, 8, 25)
}

// A possible is what a call of a world can run, by the JVMS and by cha.
type possible struct {
	site   site
	truth  map[*chatest.Method][]*chatest.Class
	got    []cha.MethodID
	callee cha.Callee
}

// allPossible lists those of all calls of a world.
func allPossible(w *chatest.World) (as []possible) {
	h := newHierarchy(w)
	for _, c := range w.Classes {
		h.Add(c.Mirror())
	}
	for _, s := range w.Sites() {
		as = append(as, possible{site(s), truth(w, site(s)), h.Targets(s.In.ID, s.Call), h.Callee(s.In.ID, s.Call)})
	}
	return as
}

// checkReal compares what ran with what could.
func checkReal(t *testing.T, ws []*chatest.World, out string) {
	ran, virtual, refused, single := 0, 0, 0, 0
	known := map[int][]possible{}
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "REFUSED") {
			refused++
		}
		var n, i, x, m int
		if k, _ := fmt.Sscanf(line, "RAN %d %d %d %d", &n, &i, &x, &m); k != 4 {
			continue
		}
		w := ws[n]
		if known[n] == nil {
			known[n] = allPossible(w)
		}
		a := &known[n][i]
		receiver, hit := w.Classes[1+x], w.Numbered()[m]
		ran++
		xs, ok := a.truth[hit]
		if !ok || xs != nil && !slices.Contains(xs, receiver) {
			t.Errorf("world %d: %v on %v of loader %d ran %v of loader %d, which the JVMS does not select", n, a.site, receiver.ID, receiver.ID.Loader, hit.ID(), hit.Class.ID.Loader)
		}
		if len(xs) > 0 {
			virtual++
		}
		if !slices.Contains(a.got, hit.ID()) {
			t.Errorf("world %d: %v ran %v, not among %v", n, a.site, hit.ID(), a.got)
		}
		if a.callee.Method == nil {
			continue
		}
		single++
		if a.callee.ID() != hit.ID() {
			t.Errorf("world %d: %v ran %v, not the only one, %v", n, a.site, hit.ID(), a.callee.ID())
		}
	}
	t.Logf("%d calls ran, %d of them virtual, %d with one target; %d classes refused", ran, virtual, single, refused)
	if ran < 6000 || virtual < 1500 || single < 1000 || refused > len(ws)/2 {
		t.Error("too few calls to say anything")
	}
}
