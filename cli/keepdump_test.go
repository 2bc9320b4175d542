package cli

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/attach"
)

// TestKeepReplaced: the target's user has put a link in the place of the dump. What is kept is the dump
// that was opened, and the link's file is untouched.
func TestKeepReplaced(t *testing.T) {
	dir := t.TempDir()
	dump, victim, kept := filepath.Join(dir, "dump"), filepath.Join(dir, "victim"), filepath.Join(dir, "kept")
	for _, linked := range []bool{false, true} {
		os.WriteFile(dump, []byte("a dump"), 0o644)
		os.WriteFile(victim, []byte("of somebody else"), 0o644)
		if os.Geteuid() == 0 {
			os.Chown(victim, 65534, 65534)
		}
		var before unix.Stat_t
		if err := unix.Stat(victim, &before); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(dump)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if linked {
			os.Remove(dump)
			os.Symlink(victim, dump)
		}
		if err := keepDump(&attach.HeapDump{File: f, Path: dump, Size: 6}, kept); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(kept)
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("linked %v: %v, %v", linked, info, err)
		}
		if b, err := os.ReadFile(kept); string(b) != "a dump" {
			t.Errorf("linked %v: kept %q, %v", linked, b, err)
		}
		var after unix.Stat_t
		if err := unix.Stat(victim, &after); err != nil || after != before {
			t.Errorf("linked %v: the other file was touched: %v", linked, err)
		}
		os.Remove(kept)
	}
}
