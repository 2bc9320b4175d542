package cha_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
)

// TestSize mirrors as many classes as a big server has loaded, as a listing tells of
// them: in well under a second, with some hundreds of bytes each, names included.
func TestSize(t *testing.T) {
	const classes, most = 40_000, 900 // bytes
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	best := time.Hour
	for range 2 { // the machine may be busy
		start := time.Now()
		runtime.KeepAlive(listed(classes))
		best = min(best, time.Since(start))
	}
	start := time.Now()
	h := listed(classes)
	best = min(best, time.Since(start))
	each := float64(heap()-before) / classes
	t.Logf("%d classes in %v, %.0f bytes each", classes, best, each)
	if each > most || best > time.Minute { // what is quadratic takes longer, however fast the machine is
		t.Errorf("%d classes in %v, %.0f bytes each; want at most %d", classes, best, each, most)
	}
	runtime.KeepAlive(h)
}

// listed is a hierarchy of so many classes: packages of 50, each with an interface,
// a base class that implements it, and what extends that.
func listed(n int) *cha.Hierarchy {
	h := cha.New()
	h.AddLoader(cha.Loader{ID: 1, Kind: cha.LoaderApp})
	object := cha.ClassID{Name: "java/lang/Object"}
	h.Add(&cha.ClassMirror{ID: object, Exact: []cha.ClassID{}, Initialized: true})
	for i := range n - 1 {
		id := func(k int) cha.ClassID {
			return cha.ClassID{Loader: 1, Name: fmt.Sprintf("com/acme/shop/part%d/Service%dImpl", i/50, k)}
		}
		m := &cha.ClassMirror{ID: id(i), Super: object.Name, Exact: []cha.ClassID{object}, Initialized: true}
		switch first := i / 50 * 50; i - first {
		case 0:
			m.Access = 0x0601
		case 1:
			m.Interfaces, m.Exact = []string{id(first).Name}, append(m.Exact, id(first))
		default:
			m.Super, m.Exact = id(first+1).Name, []cha.ClassID{id(first + 1)}
		}
		h.Add(m)
	}
	return h
}
