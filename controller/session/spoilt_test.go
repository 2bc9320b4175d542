package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// unsound is a class with a method that the verifier refuses. Its others call something, so that
// they are no leaves.
const unsound = `
class %s extends java/lang/Object version 52
method static good (I)I
stack 1 locals 1
  iload_0
  invokestatic java/lang/Math.abs(I)I
  ireturn
end
method static bad (I)I
stack 1 locals 1
  fload_0
  invokestatic java/lang/Math.abs(I)I
  ireturn
end`

// TestSpoilt has classes of the boot loader in one batch, of which two have a method that does not
// verify, though they work interpreted. Up to JDK 21 the JVM does not look at
// these: it would take them, and they would be recorded. The last class of a batch answers for those before it. The methods are left
// alone, with the reason, and all others counted.
func TestSpoilt(t *testing.T) {
	t.Parallel()
	dir, boot := sources(t, "Spoilt"), t.TempDir()
	if err := os.Mkdir(filepath.Join(boot, "t"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"t/Bad1", "t/Bad2"} {
		b := classtest.Assemble(t, fmt.Sprintf(unsound, name))
		if err := os.WriteFile(filepath.Join(boot, name+".class"), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		for _, scheme := range []string{"A", "B", "C"} {
			t.Run(scheme, func(t *testing.T) {
				p := program(t, j, dir, "Spoilt", []string{"-XX:CompileCommand=quiet", "-XX:CompileCommand=exclude,t.Bad*::*", "-Xbootclasspath/a:" + boot})
				s := attached(t, p)
				rec := session.Recording{Roots: []string{"t.Spoilt.root"}, Scheme: scheme}
				rec.Filter.JDK = true
				if err := rec.Filter.Add("java.**", false); err != nil {
					t.Fatal(err)
				}
				start(t, s, rec)
				ask(t, p, "run 1000", "RAN ")
				r := closed(t, s)
				exact(t, r)
				wantCalls(t, r, map[string]int64{"Spoilt.root": 1000, "Bad1.good": 1000, "Bad2.good": 1000, "Spoilt$Sound.good": 1000, "Spoilt$Sound.more": 1000})
				if n := calls(r); n["Bad1.bad"]+n["Bad2.bad"] != 0 {
					t.Errorf("the JVM was given what does not verify: %v", n)
				}
				bad := 0
				for _, k := range r.Skipped {
					if strings.HasSuffix(k.Method, ".bad(I)I") && strings.Contains(k.Reason, "does not verify") {
						bad++
					}
				}
				if bad != 2 {
					t.Errorf("%d methods were left alone since they don't verify, want 2: %v", bad, r.Skipped)
				}
				ask(t, p, "run 10", "RAN ")
			})
		}
	}, 8, 11, 17, 21)
}
