package session

import (
	"os"

	"github.com/rivulet-profiler/rivulet/controller/attach"
)

// The first redefinition in a JVM that was started without an agent throws away all compiled
// code, later ones don't. An empty file of the user's cache tells that it has happened, while
// the JVM lives.
const flushedFiles = "flushed"

// Flushed reports whether a session of this user's has redefined a class of this JVM before.
// It may be called concurrently.
func Flushed(p attach.Process) bool {
	name, err := cacheFile(flushedFiles, p)
	if err != nil {
		return false
	}
	_, err = os.Stat(name)
	return err == nil
}

// noteFlushed notes that a class of this JVM was redefined.
func noteFlushed(p attach.Process) error {
	name, err := beginCacheFile(flushedFiles, p)
	if err != nil {
		return err
	}
	return os.WriteFile(name, nil, 0o600)
}
