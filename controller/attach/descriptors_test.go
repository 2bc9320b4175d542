package attach

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestNoDescriptors: a JVM that has no descriptors left is not asked, since JDK 8's attach listener would end for good.
func TestNoDescriptors(t *testing.T) {
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		tg := start(t, j)
		vm, err := Open(deadline(t, time.Minute), tg.pid)
		if err != nil {
			t.Fatal(err)
		}
		var old unix.Rlimit
		if err := unix.Prlimit(tg.pid, unix.RLIMIT_NOFILE, nil, &old); err != nil {
			t.Fatal(err)
		}
		if err := unix.Prlimit(tg.pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 4, Max: old.Max}, nil); err != nil {
			t.Fatal(err)
		}
		_, err = vm.Execute(deadline(t, time.Minute), "properties")
		wantErr(t, err, ErrNoDescriptors, tg.pid)
		if err := unix.Prlimit(tg.pid, unix.RLIMIT_NOFILE, &old, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := vm.Execute(deadline(t, time.Minute), "properties"); err != nil {
			t.Error(err)
		}
		tg.unharmed()
	})
}
