package heap

import (
	"errors"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/hprof"
	"github.com/rivulet-profiler/rivulet/controller/hprof/hproftest"
)

// openFile analyses bytes in one file after another, as fuzzing wants it.
func openFile(t *testing.T, dump []byte) (*Report, error) {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write(dump); err != nil {
		t.Fatal(err)
	}
	f, err := hprof.NewFile(file)
	if err != nil {
		file.Close()
		return nil, err
	}
	defer f.Close()
	h, err := Open(t.Context(), f, Options{MaxMemory: leastMemory, Workers: 2})
	if err != nil {
		return nil, err
	}
	defer h.Close()
	return h.Report(ReportOptions{Top: 5}), nil
}

// wantError accepts what a damaged dump may lead to.
func wantError(t *testing.T, err error) {
	t.Helper()
	var wrong *hprof.FormatError
	if err != nil && !errors.As(err, &wrong) && !errors.Is(err, ErrMemory) {
		t.Errorf("%v", err)
	}
}

// TestHostile changes and cuts dumps at random: it must come to an end and say what is
// wrong.
func TestHostile(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 31))
		_, dump := randomModel(r, 1+r.IntN(30), []int{4, 8}[r.IntN(2)], r.IntN(200))
		if r.IntN(3) == 0 {
			dump = dump[:r.IntN(len(dump))]
		}
		for range r.IntN(6) {
			if len(dump) > 40 {
				dump[31+r.IntN(len(dump)-31)] = byte(r.IntN(256))
			}
		}
		_, err := openFile(t, dump)
		wantError(t, err)
	}
}

// TestTwice: of objects with the same address the first holds, on any number of cores.
func TestTwice(t *testing.T) {
	w := hproftest.New(8)
	w.Class(0x100, "java/lang/Object", 0, 0, nil, nil, 0)
	w.Class(0x108, "p/A", 0x100, 0, nil, []hproftest.Field{hproftest.Of("a", hprof.Object, 0)}, 8)
	w.Class(0x108, "p/B", 0x100, 0, nil, nil, 0)
	w.Root(hprof.RootJNIGlobal, 0x200)
	w.Instance(0x200, 0x108, hproftest.Refs(0x208))
	w.Instance(0x200, 0x100, nil)
	w.Instance(0x208, 0x100, nil)
	h, err := openBytes(t, w.Bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if h.Twice != 2 || h.Objects != 4 {
		t.Errorf("%d twice, %d objects", h.Twice, h.Objects)
	}
	r := h.Report(ReportOptions{Top: 5})
	if len(r.Notes) != 1 {
		t.Errorf("%q", r.Notes)
	}
}

// TestOdd: addresses that are no multiples of 8, superclasses in a circle, an instance
// shorter than its class says.
func TestOdd(t *testing.T) {
	w := hproftest.New(4)
	w.Class(1, "p/A", 2, 0, nil, []hproftest.Field{hproftest.Of("a", hprof.Object, 0)}, 4)
	w.Class(2, "p/B", 1, 0, nil, []hproftest.Field{hproftest.Of("b", hprof.Object, 0)}, 4)
	w.Root(hprof.RootUnknown, 5)
	w.Root(hprof.RootUnknown, 99)
	w.Instance(5, 1, hproftest.Refs(6))
	w.Instance(6, 77, nil)
	h, err := openBytes(t, w.Bytes(), Options{})
	if err != nil || h.Objects != 4 {
		t.Fatalf("%v, %+v", err, h)
	}
	r := h.Report(ReportOptions{Top: 5})
	if len(r.Dominators) != 3 {
		t.Errorf("%+v", r.Dominators)
	}
}

func FuzzOpen(f *testing.F) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 37))
		_, dump := randomModel(r, 10, []int{4, 8}[seed%2], int(seed)*40)
		f.Add(dump)
	}
	f.Fuzz(func(t *testing.T, dump []byte) {
		if len(dump) > 1<<20 {
			return
		}
		_, err := openFile(t, dump)
		wantError(t, err)
	})
}
