package live

import (
	"fmt"
	"slices"
)

// keepInMemory has a snapshot last without its file, which failed. Without room for it,
// it is forgotten.
func (l *Live) keepInMemory(s *Snapshot, failed error) error {
	l.mu.Lock()
	failed = fmt.Errorf("snapshot %q could not be written to %s: %w", s.Name, l.store.dir, failed)
	at := slices.Index(l.snapshots, s)
	if at >= 0 {
		l.snapshots = slices.Delete(l.snapshots, at, at+1)
	}
	full := l.checkMemory(s.nodes())
	if at >= 0 && full == nil {
		l.snapshots = slices.Insert(l.snapshots, at, s)
	}
	l.mu.Unlock()
	if full != nil {
		return fmt.Errorf("%w; %w", failed, full)
	}
	l.Logf("warn", "%v; it lasts until Rivulet ends, unless it is exported", failed)
	return nil
}

// checkMemory says that there is no room in memory for one more snapshot with so many
// nodes that is in no file. l.mu is held.
func (l *Live) checkMemory(nodes int64) error {
	alone, others := 0, int64(0)
	for _, o := range l.snapshots {
		if o.file == "" {
			alone++
			others += o.nodes()
		}
	}
	if alone >= maxSnapshots || nodes+others > maxNodes && alone > 0 {
		return fmt.Errorf("there are %d snapshots with %d nodes in memory: export and delete one first", alone, others)
	}
	return nil
}

// dropOldest leaves the oldest snapshot that is in a file out of the list, while that is
// too long. The file stays, and can be opened. l.mu is held.
func (l *Live) dropOldest() {
	for len(l.snapshots) >= maxKept {
		at := slices.IndexFunc(l.snapshots, func(s *Snapshot) bool { return s.file != "" })
		if at < 0 {
			return
		}
		l.snapshots = slices.Delete(l.snapshots, at, at+1)
	}
}
