package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/attach"
)

// The first redefinition in a JVM that was started without an agent throws away all compiled
// code, later ones don't. An empty file of the user's cache tells that it has happened, while
// the JVM lives.

func flushedFile(p attach.Process) (string, error) {
	dir, err := cacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "rivulet", "flushed", fmt.Sprintf("%d-%d", p.PID, p.Start())), nil
}

// Flushed reports whether a session of this user's has redefined a class of this JVM before.
// It may be called concurrently.
func Flushed(p attach.Process) bool {
	name, err := flushedFile(p)
	if err != nil {
		return false
	}
	_, err = os.Stat(name)
	return err == nil
}

// noteFlushed notes that a class of this JVM was redefined, and forgets what was noted of
// those that have ended.
func noteFlushed(p attach.Process) error {
	name, err := flushedFile(p)
	if err != nil {
		return err
	}
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	old, _ := filepath.Glob(filepath.Join(dir, "*-*"))
	for _, file := range old {
		pid, _, _ := strings.Cut(filepath.Base(file), "-")
		if _, err := os.Stat("/proc/" + pid); errors.Is(err, os.ErrNotExist) {
			os.Remove(file)
		}
	}
	return os.WriteFile(name, nil, 0o600)
}
