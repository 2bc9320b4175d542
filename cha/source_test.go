package cha_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/cha/chatest"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// lines says of each method behind "// at" on which line its code begins.
const lines = `package p;

class Lines { // at <init>
    int field = 7;

    static int plain(int i) {
        return i; // at plain
    }

    abstract static class Inner {
        abstract void none();
        native void code();

        int later() {
            int unused;
            int x = // at later
                3;
            return x;
        }
    }

    static Runnable lambda() {
        return () -> // at lambda
            plain(1); // at lambda$lambda$0
    }
}
`

// TestSource has mirrors say where methods come from, as far as the compiler wrote it down.
func TestSource(t *testing.T) {
	j := jvmtest.Any(t)
	for _, debug := range []bool{true, false} {
		option := "-g:source,lines"
		if !debug {
			option = "-g:none"
		}
		got, want := map[string]int{}, map[string]int{}
		for i, l := range strings.Split(lines, "\n") {
			if _, name, ok := strings.Cut(l, "// at "); ok && debug {
				want[name] = i + 1
			}
		}
		for _, m := range chatest.Mirrors(t, jvmtest.Compile(t, j, 8, map[string]string{"p/Lines.java": lines}, option), 1) {
			if source := map[bool]string{true: "Lines.java"}[debug]; m.Source != source {
				t.Errorf("%s is from %q, want %q", m.ID, m.Source, source)
			}
			for _, f := range m.Methods {
				if strings.Contains(m.ID.Name, "$") && f.Name == "<init>" {
					continue // the inner class's, which is implicit
				}
				if f.Line != 0 {
					got[f.Name] = int(f.Line)
				}
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: lines %v, want %v", option, got, want)
		}
	}
}
