package live

import (
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest"
)

// TestBrief has sentences of a small tree at once, and of a large one as soon as they are there.
func TestBrief(t *testing.T) {
	changed := make(chan struct{}, 100)
	l := New(Config{Changed: func() { changed <- struct{}{} }})
	for _, size := range []int{1000, mostBriefAtOnce + 1} {
		root := &cct.Node{Method: 1, Calls: 1, Self: 5e6}
		for i := range size {
			root.Children = append(root.Children, &cct.Node{Method: int32(2 + i), Calls: 1, Self: 10})
		}
		root.Total = root.Self + 10*int64(size)
		info, err := l.Open(export.Saved{Report: livetest.Report(livetest.Snapshot(root))}, "")
		if err != nil {
			t.Fatal(err)
		}
		q := &Query{Source: info.ID, Brief: true}
		v := l.View(q)
		if size > mostBriefAtOnce {
			for over := time.After(5 * time.Minute); v.Brief == nil; v = l.View(q) {
				select {
				case <-changed:
				case <-over:
					t.Fatal("viewers are not told")
				}
			}
		}
		if v.Brief == nil || len(v.Brief.Lines) == 0 || !strings.Contains(v.Brief.Lines[0], "takes most of the time itself") || len(v.Brief.Self) != 5 || v.Method(v.Brief.Self[0]).Name != v.frame.method(1).Name {
			t.Errorf("%d call paths: %+v", size, v.Brief)
		}
	}
}
