package live

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest"
)

// TestSnapshotBound wants memory to stay bounded, and the way out to be named.
func TestSnapshotBound(t *testing.T) {
	l := New(Config{})
	f := frameOf(l.numbering, livetest.Snapshot(livetest.Node(1, 1, 1)))
	for i := range maxSnapshots {
		if _, err := l.keep(f, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.keep(f, "one more"); err == nil || !strings.Contains(err.Error(), "delete one") {
		t.Errorf("%v", err)
	}
	if b, err := json.Marshal(l.State()); err != nil || !strings.Contains(string(b), fmt.Sprintf(`"name":"%d"`, maxSnapshots-1)) {
		t.Errorf("%s, %v", b, err)
	}
}

// TestKeptFull wants each recording that ends to be kept, however many there are: the
// oldest leave the list, not the folder.
func TestKeptFull(t *testing.T) {
	dir := t.TempDir()
	l := New(Config{Snapshots: dir})
	f := frameOf(l.numbering, livetest.Snapshot(livetest.Node(1, 3, 30)))
	for range 250 {
		if _, err := l.keep(f, ""); err != nil {
			t.Fatal(err)
		}
	}
	for len(l.snapshots) < maxKept {
		if err := l.add(&Snapshot{Frame: f, file: "as if"}, "", "", true); err != nil {
			t.Fatal(err)
		}
	}
	info, err := l.keep(f, "one more")
	files, _ := filepath.Glob(filepath.Join(dir, "*"+storeEnding))
	if list := l.State().Snapshots; err != nil || info.File == "" || len(files) != 251 || len(list) != maxKept || list[0].ID != 2 || list[maxKept-1].ID != info.ID {
		t.Errorf("%v: %+v; %d files, %d listed", err, info, len(files), len(list))
	}
}

// TestSnapshotFigures wants a snapshot to come with its own figures, whatever is
// recorded meanwhile, also after it was read again.
func TestSnapshotFigures(t *testing.T) {
	l := New(Config{Snapshots: t.TempDir()})
	r := livetest.Report(livetest.Snapshot(livetest.Node(1, 3, 30, livetest.Node(2, 6, 10))))
	pause := 5 * time.Millisecond
	r.Instrumented, r.Redefinition = 7, export.Redefinition{Batches: 2, Classes: 4, LongestPause: &pause}
	r.Tree.Threads[0].Suspended = 99
	r.Room = &export.Room{Used: 1 << 20, Most: 1 << 30}
	info, err := l.keep(newFrame(1, r, l.numbering), "")
	if err != nil {
		t.Fatal(err)
	}
	l.frame = frameOf(l.numbering, livetest.Snapshot(livetest.Node(1, 1000, 1)))
	for _, from := range []string{"memory", "file"} {
		g := l.View(&Query{Source: info.ID}).Figures
		if g == nil || g.Calls != 9 || g.Instrumented != 7 || g.Called != 2 || g.Batches != 2 || g.Classes != 4 || g.Pause == nil || *g.Pause != int64(pause) || g.Suspended != 99 || g.Used != 1<<20 || g.Most != 1<<30 || g.Seconds != 1 {
			t.Errorf("from %s: %+v", from, g)
		}
		l.mu.Lock()
		l.snapshots[0].unload()
		l.mu.Unlock()
	}
	if s := l.View(&Query{}); s.Frame == 0 || s.Figures != nil {
		t.Errorf("those of the live recording: %+v", s.Figures)
	}
}

// TestForgets wants what lies in files to leave the memory when there is too
// much of it, and to come back when it is looked at.
func TestForgets(t *testing.T) {
	l := New(Config{Snapshots: t.TempDir()})
	f := frameOf(l.numbering, livetest.Snapshot(livetest.Node(1, 3, 30, livetest.Node(2, 6, 10))))
	f.sums.Nodes = maxNodes/2 + 1 // as if
	for _, name := range []string{"first", "second"} {
		if _, err := l.keep(f, name); err != nil {
			t.Fatal(err)
		}
	}
	l.source(2)
	if l.snapshots[0].Frame != nil || l.snapshots[1].Frame == nil {
		t.Error("the first one is still in memory, or the second one is not")
	}
	again := l.source(1)
	if again == nil || again.sums.Calls != 9 || l.source(2) == nil {
		t.Errorf("the first one comes back as %+v", again)
	}
}

// TestTimelinesBound wants only so many timelines in memory, and those that lie in
// files back when they are looked at.
func TestTimelinesBound(t *testing.T) {
	for _, dir := range []string{t.TempDir(), ""} {
		l := New(Config{Snapshots: dir})
		const n = maxTimelines + 2
		for range n {
			r := livetest.Report(livetest.Snapshot(livetest.Node(1, 3, 30)))
			r.Timeline, r.Marks = livetest.Timeline()
			if _, err := l.keep(l.newFrame(r), ""); err != nil {
				t.Fatal(err)
			}
		}
		inMemory := func() (ids []int64) {
			for _, s := range l.snapshots {
				if s.Frame != nil && s.Frame.Report.Timeline != nil {
					ids = append(ids, s.ID)
				}
			}
			return ids
		}
		if got := inMemory(); len(got) != maxTimelines || got[0] != 3 {
			t.Errorf("in memory are those of %v", got)
		}
		f := l.source(1)
		if f == nil || f.sums.Calls != 3 || (f.Report.Timeline != nil) != (dir != "") {
			t.Errorf("the first one, in the folder %q: %+v", dir, f)
		}
		if got := inMemory(); len(got) != maxTimelines || dir != "" && (got[0] != 1 || got[1] != 4) {
			t.Errorf("then in memory are those of %v", got)
		}
	}
}
