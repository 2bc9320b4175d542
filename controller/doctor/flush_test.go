package doctor

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestFlush(t *testing.T) {
	heavy := Flush{Methods: 3800, Compiled: time.Minute, Busy: 1.5, Cores: 2}
	for _, c := range []struct {
		change     func(f *Flush)
		all, heavy bool
		says       string
	}{
		{func(*Flush) {}, true, true, "of 3800 methods here; its compilers have worked for 1m0s since it began; it uses 1.5 of 2 cores now: it is going to be slow"},
		{func(f *Flush) { f.Busy = 0.1 }, true, false, "it uses 0.1 of 2 cores now"},
		{func(f *Flush) { f.Compiled, f.Busy, f.Methods = 3*time.Second, -1, 0 }, true, false, "throws away all compiled code; its compilers have worked for 3s since it began"},
		{func(f *Flush) { f.Prepared = true }, false, false, "started with an agent"},
		{func(f *Flush) { f.Earlier = true }, false, false, "redefined in this JVM before"},
	} {
		f := heavy
		c.change(&f)
		if f.All() != c.all || f.Heavy() != c.heavy || !strings.Contains(f.String(), c.says) {
			t.Errorf("%+v: all %v, heavy %v, says %q", f, f.All(), f.Heavy(), f.String())
		}
	}
}

func TestCompileTime(t *testing.T) {
	if d := compileTime(map[string]any{"java.ci.totalTime": int64(3e9), "sun.os.hrt.frequency": int64(1e9)}); d != 3*time.Second {
		t.Error(d)
	}
	for _, c := range []map[string]any{nil, {"java.ci.totalTime": int64(1)}, {"java.ci.totalTime": "x", "sun.os.hrt.frequency": int64(0)}} {
		if d := compileTime(c); d != 0 {
			t.Error(c, d)
		}
	}
}

func TestProcessorTime(t *testing.T) {
	for end := time.Now().Add(5 * time.Minute); ; {
		d, err := processorTime(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		if d > 0 {
			break // this loop uses some
		}
		if time.Now().After(end) {
			t.Fatal("no time was used")
		}
	}
	if _, err := processorTime(1 << 30); err == nil {
		t.Error("a process that is not there")
	}
}
