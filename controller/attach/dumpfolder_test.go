package attach

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestDumpsSwept: a folder whose Rivulet was killed goes when the next one is made; one in use, one that was written to a
// moment ago, and what isn't ours stay.
func TestDumpsSwept(t *testing.T) {
	dir := t.TempDir()
	p := Process{PID: os.Getpid(), UID: uint32(os.Geteuid()), GID: uint32(os.Getegid())}
	make := func(prefix string, old bool) (*dumpFolder, string) {
		t.Helper()
		d := &dumpFolder{}
		if err := d.make(p, dir, prefix); err != nil {
			t.Fatal(err)
		}
		if err := d.write(p, "file", []byte("x")); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.Base(d.target()))
		if old {
			then := time.Now().Add(-time.Hour)
			for _, name := range []string{filepath.Join(path, "file"), path} {
				if err := os.Chtimes(name, then, then); err != nil {
					t.Fatal(err)
				}
			}
		}
		return d, path
	}
	killed := func(prefix string, old bool) string {
		t.Helper()
		d, path := make(prefix, old)
		d.made.Close()
		d.parent.Close()
		return path
	}
	gone := []string{killed(recordingPrefix, true), killed(heapPrefix, true), killed(threadsPrefix, true)}
	using, used := make(heapPrefix, true)
	defer using.remove()
	stays := []string{used, killed(heapPrefix, false), killed("somebody-else-", true), filepath.Join(dir, "rivulet-heap-notes")}
	if err := os.Mkdir(stays[3], 0o700); err != nil {
		t.Fatal(err)
	}
	wide := killed(recordingPrefix, true)
	if err := os.Chmod(wide, 0o755); err != nil {
		t.Fatal(err)
	}
	stays = append(stays, wide)
	next, _ := make(heapPrefix, false)
	for _, path := range gone {
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
	for _, path := range stays {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
	if err := next.remove(); err != nil {
		t.Error(err)
	}
}
