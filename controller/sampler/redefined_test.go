package sampler

import (
	"archive/zip"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/controller/sampler/unwinder"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestRedefined names the method that a thread is in since before its class was redefined.
func TestRedefined(t *testing.T) {
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		jar := filepath.Join(t.TempDir(), "agent.jar")
		f, err := os.Create(jar)
		if err != nil {
			t.Fatal(err)
		}
		z := zip.NewWriter(f)
		w, err := z.Create("META-INF/MANIFEST.MF")
		if err == nil {
			_, err = w.Write([]byte("Manifest-Version: 1.0\r\nPremain-Class: Redefined\r\nCan-Redefine-Classes: true\r\n\r\n"))
		}
		if err == nil {
			err = z.Close()
		}
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		a := jvmtest.Open(t, "testdata/redefined.txtar")
		p := jvmtest.Start(t, j, []string{"-javaagent:" + jar}, "Redefined", nil, a.Compile(t, j, 8))
		p.WaitLine("READY")
		tables, err := vmstructs.ReadTables(p.PID())
		if err != nil {
			t.Fatal(err)
		}
		l, err := unwinder.NewLayout(tables)
		if err != nil {
			t.Fatal(err)
		}
		if max(l.KlassConstants, l.KlassMethods, l.MethodsLength, l.MethodsData, l.PoolLength) == math.MaxUint64 {
			t.Errorf("what says which methods a class has is not known: %+v", *l)
		}
		n := 0
		sample(t, p.PID(), Options{Hz: 200}, func(s *stack.Stack) bool {
			if s.Thread == "spins" && s.Complete && s.Frames[0].Method.Class == "Spins" && s.Frames[0].Method.Name == "spinning" {
				n++
			}
			return n >= 20
		})
	})
}
