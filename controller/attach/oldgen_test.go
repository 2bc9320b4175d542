package attach

import (
	"testing"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestOldGeneration: what a collection of young objects leaves may be garbage, what one of the whole heap leaves is not.
func TestOldGeneration(t *testing.T) {
	const used, room = "sun.gc.generation.1.space.0.used", "sun.gc.generation.1.maxCapacity"
	const young, whole = "sun.gc.collector.0.lastExitTime", "sun.gc.collector.1.lastExitTime"
	for name, c := range map[string]struct {
		counters    map[string]any
		known, full bool
		whole       bool
	}{
		"no counters": {nil, false, true, false},
		"half":        {map[string]any{used: int64(500), room: int64(1000), young: int64(5), whole: int64(0)}, true, false, false},
		"garbage":     {map[string]any{used: int64(990), room: int64(1000), young: int64(5), whole: int64(4)}, true, true, false},
		"live":        {map[string]any{used: int64(990), room: int64(1000), young: int64(5), whole: int64(6)}, true, true, true},
		"shenandoah":  {map[string]any{used: int64(990), room: int64(1000), young: int64(0), whole: int64(6), "sun.gc.collector.1.name": "Shenandoah full"}, true, true, false},
		"zgc":         {map[string]any{used: int64(990), room: int64(1000), young: int64(5)}, true, true, false},
	} {
		g, known := OldGenerationOf(c.counters)
		if known != c.known || known && g.Full() != c.full || g.Whole != c.whole {
			t.Errorf("%s: %+v, known %v, full %v", name, g, known, g.Full())
		}
	}
}

func TestInterprets(t *testing.T) {
	for info, want := range map[string]bool{"interpreted mode, sharing": true, "interpreted mode": true, "mixed mode, sharing": false, "compiled mode": false, "": false} {
		if Interprets(map[string]any{"java.property.java.vm.info": info}) != want {
			t.Errorf("%q: want %v", info, want)
		}
	}
	if Interprets(nil) {
		t.Error("a JVM without counters interprets")
	}
}

func TestLoadedClasses(t *testing.T) {
	counters := map[string]any{"java.cls.loadedClasses": int64(4366), "java.cls.sharedLoadedClasses": int64(1147), "java.cls.unloadedClasses": int64(10), "java.cls.sharedUnloadedClasses": int64(3)}
	if n := LoadedClasses(counters); n != 5500 {
		t.Error(n, "classes")
	}
	if n := LoadedClasses(nil); n != 0 {
		t.Error(n, "classes without counters")
	}
	counters, err := Counters(start(t, jvmtest.Any(t)).pid)
	if n := LoadedClasses(counters); err != nil || n < 100 || n > 100_000 {
		t.Errorf("%d classes of a JVM, %v", n, err)
	}
}
