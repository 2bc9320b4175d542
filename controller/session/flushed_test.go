package session

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/attach"
)

func TestFlushed(t *testing.T) {
	dir := t.TempDir()
	was := cacheDir
	cacheDir = func() (string, error) { return dir, nil }
	defer func() { cacheDir = was }()
	gone := filepath.Join(dir, "rivulet", "flushed", "999999999-1")
	if err := os.MkdirAll(filepath.Dir(gone), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(gone, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := attach.Process{PID: os.Getpid()}
	if Flushed(p) {
		t.Error("known before it was noted")
	}
	if err := noteFlushed(p); err != nil {
		t.Fatal(err)
	}
	if !Flushed(p) {
		t.Error("not known")
	}
	if _, err := os.Stat(gone); err == nil {
		t.Error("the file of a process that has ended stays")
	}
}
