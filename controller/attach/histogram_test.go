package attach

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

func TestParseHistogram(t *testing.T) {
	h := parseHistogram(` num     #instances         #bytes  class name (module)
-------------------------------------------------------
   1:          9527        1218496  [B (java.base@17.0.15)
   2:            10            160  [[Ljava.lang.String; (java.base@17.0.15)
   3:             1             16  p.A
   4:             2             32  p.A
Total          9540        1218704
`)
	want := []ClassCount{{"byte[]", 9527, 1218496}, {"java.lang.String[][]", 10, 160}, {"p.A", 3, 48}}
	if !slices.Equal(h.Classes, want) || h.Objects != 9540 || h.Bytes != 1218704 {
		t.Errorf("%+v", h)
	}
}

// TestDumpHeap: a dump lies in a folder of its own until it is removed, one that is
// interrupted leaves nothing, and where there is no folder nothing is done.
func TestDumpHeap(t *testing.T) {
	eachJDK(t, 8, func(t *testing.T, j jvmtest.JDK) {
		tg := start(t, j, "-Xmx64m")
		vm, dir := open(t, tg.pid), t.TempDir()
		empty := func() {
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
		}
		plan, err := vm.PlanDump(dir)
		if err != nil || plan.Heap <= 0 || plan.Need < plan.Heap || plan.Free < plan.Need {
			t.Fatalf("%+v, %v", plan, err)
		}
		d, err := vm.DumpHeap(t.Context(), plan, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(d.Path); err != nil || info.Size() != d.Size || d.Size < 100_000 || d.Took <= 0 {
			t.Errorf("%v, %+v", err, d)
		}
		if err := d.Remove(); err != nil {
			t.Error(err)
		}
		empty()
		ctx := deadline(t, 0)
		if _, err := vm.DumpHeap(ctx, plan, true, nil); err == nil {
			t.Error("a dump after its deadline")
		}
		empty()
		_, err = vm.PlanDump("/no/such/folder")
		wantErr(t, err, ErrReadOnly, tg.pid)
		plan.Dir = "/no/such/folder"
		_, err = vm.DumpHeap(t.Context(), plan, true, nil)
		wantErr(t, err, ErrReadOnly, tg.pid)
		if h, err := vm.Histogram(t.Context(), true); err != nil || h.Objects == 0 || !slices.ContainsFunc(h.Classes, func(c ClassCount) bool { return c.Class == "java.lang.String" }) {
			t.Errorf("%v, %+v", err, h)
		}
		if _, err := vm.JSONThreadDump(t.Context()); (err == nil) != (j.Version >= 21) || err != nil && !errors.Is(err, ErrRejected) {
			t.Errorf("JSON dump on %d: %v", j.Version, err)
		}
		tg.unharmed()
	})
}
