package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
)

// What a target had invoked is kept in a file of the user's cache while it lives: classes
// that were restored have new methods, whose counters begin anew, and the next session
// would take most of what the program calls for what it has never called.

// cacheDir is the user's cache; a test has another.
var cacheDir = os.UserCacheDir

// knownFile is the file of a process, in a folder of its own.
func knownFile(p attach.Process) (string, error) {
	dir, err := cacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "rivulet", "invoked", fmt.Sprintf("%d-%d.gz", p.PID, p.Start())), nil
}

// loadKnown adds what earlier sessions knew of this process.
func loadKnown(p attach.Process, v *vmstructs.Invoked) error {
	name, err := knownFile(p)
	if err != nil {
		return err
	}
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return v.Load(f)
}

// saveKnown keeps what is known of this process, and removes the files of those that
// have ended.
func saveKnown(p attach.Process, v *vmstructs.Invoked) error {
	name, err := knownFile(p)
	if err != nil {
		return err
	}
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	old, _ := filepath.Glob(filepath.Join(dir, "*-*.gz"))
	for _, file := range old {
		pid, _, _ := strings.Cut(filepath.Base(file), "-")
		if _, err := os.Stat("/proc/" + pid); errors.Is(err, os.ErrNotExist) {
			os.Remove(file)
		}
	}
	f, err := os.CreateTemp(dir, "new-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(v.Save(f), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// keepKnown does so before classes are restored, where the scheme looks ahead.
func (s *Session) keepKnown() {
	before := s.loop.guide.invoked // it is not changed while a recording is on
	if before == nil || s.running != nil {
		return
	}
	now, err := vmstructs.Read(s.proc.PID)
	if err == nil {
		now.Join(before)
		err = saveKnown(s.proc, now)
	}
	if err != nil {
		s.log.Debug("what was invoked is not kept", "reason", err)
	}
}
