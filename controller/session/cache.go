package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/attach"
)

// cacheDir is the user's cache; a test has another.
var cacheDir = os.UserCacheDir

// cacheFile names the file of the user's cache with what is known of a process while it
// lives; kind is the folder.
func cacheFile(kind string, p attach.Process) (string, error) {
	dir, err := cacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "rivulet", kind, fmt.Sprintf("%d-%d", p.PID, p.Start())), nil
}

// beginCacheFile is cacheFile for who is about to write it: the folder is there, without the
// files of processes that have ended.
func beginCacheFile(kind string, p attach.Process) (string, error) {
	name, err := cacheFile(kind, p)
	if err != nil {
		return "", err
	}
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	old, _ := filepath.Glob(filepath.Join(dir, "*-*"))
	for _, file := range old {
		pid, _, _ := strings.Cut(filepath.Base(file), "-")
		if _, err := os.Stat("/proc/" + pid); errors.Is(err, os.ErrNotExist) {
			os.Remove(file)
		}
	}
	return name, nil
}
