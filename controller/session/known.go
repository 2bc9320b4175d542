package session

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
)

// What a target had invoked is kept in a file of the user's cache while it lives: classes
// that were restored have new methods, whose counters begin anew, and the next session
// would take most of what the program calls for what it has never called.
const knownFiles = "invoked"

// loadKnown adds what earlier sessions knew of this process.
func loadKnown(p attach.Process, v *vmstructs.Invoked) error {
	name, err := cacheFile(knownFiles, p)
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

// saveKnown keeps what is known of this process.
func saveKnown(p attach.Process, v *vmstructs.Invoked) error {
	name, err := beginCacheFile(knownFiles, p)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".new")
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
