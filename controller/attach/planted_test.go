package attach

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// another is a user who is neither root nor the target's.
const another = 65533

// TestPlanted: another user of the machine puts things in /tmp where HotSpot and we look for files. Nothing of it may be
// followed, waited for or trusted, the target gets no signal in vain, and what is in the way is named.
func TestPlanted(t *testing.T) {
	t.Parallel()
	tg := inside(t, jvmtest.Any(t), "--mount", "true", setNobody)
	tg.WaitLine("up")
	trigger, socket := filepath.Join("/tmp", triggerName(tg.pid)), tg.socket()
	os.WriteFile(socket, nil, 0o600) // as a killed JVM of that number may have left it
	victim := filepath.Join(t.TempDir(), "victim")
	os.WriteFile(victim, nil, 0o666)

	kinds := []struct {
		name string
		make func(name string) error
	}{
		{"file", func(name string) error { return os.WriteFile(name, nil, 0o644) }},
		{"unreadable", func(name string) error { return os.WriteFile(name, nil, 0) }},
		{"link", func(name string) error { return os.Symlink(victim, name) }},
		{"folder", func(name string) error { return os.Mkdir(name, 0o755) }},
		{"FIFO", func(name string) error { return unix.Mkfifo(name, 0o644) }},
	}
	plant := func(name string, make func(string) error) (remove func()) {
		t.Helper()
		os.Remove(name) // a JVM that was killed leaves its socket, and its number comes again
		if err := asUser(another, another, func() error { return make(name) }); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Remove(name) })
		return func() { os.Remove(name) }
	}
	refused := func(what, named string) {
		t.Helper()
		_, err := Open(t.Context(), tg.pid) // without a deadline: nothing is waited for
		wantErr(t, err, ErrNoSocket, tg.pid)
		if !strings.Contains(err.Error(), named) || !strings.Contains(err.Error(), "remove") {
			t.Errorf("%s: says neither what nor what to do: %v", what, err)
		}
	}
	for _, k := range kinds {
		remove := plant(socket, k.make)
		refused(k.name+" for socket", filepath.Base(socket))
		remove()
		remove = plant(trigger, k.make) // the target can't write to its current directory
		refused(k.name+" for trigger", filepath.Base(trigger))
		remove()
	}

	// A file that its owner keeps locked must not keep us waiting. The current directory does then.
	if err := os.Chmod(tg.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	remove := plant(trigger, kinds[0].make)
	f, err := os.Open(trigger)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, tg.pid).Execute(deadline(t, jvmtest.Patience), "properties"); err != nil {
		t.Error(err)
	}
	if st, err := os.Stat(trigger); err != nil || fmt.Sprint(st.Mode()) != "-rw-r--r--" {
		t.Errorf("another user's file was touched: %v, %v", st, err)
	}
	remove()
	tg.unharmed()
}
