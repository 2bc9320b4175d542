package vmstructs_test

import (
	"errors"
	"os"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestRead asks real JVMs, in the interpreter and with everything compiled.
func TestRead(t *testing.T) {
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		for _, options := range [][]string{nil, {"-XX:TieredStopAtLevel=1"}, {"-XX:-UseCompressedClassPointers", "-Xshare:off"}} {
			a := jvmtest.Open(t, "testdata/ran.txtar")
			p := jvmtest.Start(t, j, options, "Ran", nil, a.Compile(t, j, 8))
			p.WaitLine("READY")
			v, err := vmstructs.Read(p.PID())
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range map[string]bool{"main([Ljava/lang/String;)V": true, "once(I)I": true, "often(I)I": true, "never(I)I": false} {
				for i := range name {
					if name[i] == '(' && v.Has("Ran", name[:i], name[i:]) != want {
						t.Errorf("%v: %s: %v, want %v", options, name, !want, want)
					}
				}
			}
			if !v.Has("java/lang/String", "hashCode", "()I") || v.Has("java/lang/String", "hashCode", "()J") || v.Has("Rann", "once", "(I)I") || v.Len() < 500 {
				t.Errorf("%v: %d methods, and others than those", options, v.Len())
			}
			p.Send("never")
			p.WaitLine("DONE")
			if v, err = vmstructs.Read(p.PID()); err != nil || !v.Has("Ran", "never", "(I)I") {
				t.Error("not there once it was called:", err)
			}
			p.CloseStdin()
			if code := p.Wait(); code != 0 {
				t.Errorf("exit code %d", code)
			}
		}
	}, 11, 17, 21, 25)
}

// TestReadOld gets no answer from JDK 8, and an error that says so.
func TestReadOld(t *testing.T) {
	j := jvmtest.Need(t, 8)
	p := jvmtest.Start(t, j, nil, "Ran", nil, jvmtest.Open(t, "testdata/ran.txtar").Compile(t, j, 8))
	p.WaitLine("READY")
	if v, err := vmstructs.Read(p.PID()); v != nil || !errors.Is(err, vmstructs.ErrUnknown) {
		t.Errorf("%v, %v", v, err)
	}
	p.CloseStdin()
	p.Wait()
	if v, err := vmstructs.Read(p.PID()); v != nil || err == nil {
		t.Errorf("of a process that has ended: %v, %v", v, err)
	}
}

// TestReadOther asks a process that is no JVM.
func TestReadOther(t *testing.T) {
	if v, err := vmstructs.Read(os.Getpid()); v != nil || !errors.Is(err, vmstructs.ErrUnknown) {
		t.Errorf("%v, %v", v, err)
	}
}
