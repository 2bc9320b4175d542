package live

import (
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest"
)

// TestThread looks at one thread's tree, and at a thread that isn't there.
func TestThread(t *testing.T) {
	s := livetest.Snapshot(livetest.Node(1, 1, 10))
	s.Threads = append(s.Threads, &cct.Thread{ID: 2, Name: "other", Roots: []*cct.Node{livetest.Node(1, 5, 7)}, RootEntries: 5})
	f := frameOf(newNumbering(), s)
	for thread, want := range map[int]int64{0: 6, 1: 1, 2: 5, 3: 0} {
		var got int64
		for _, r := range f.selection(&Query{Thread: thread}).tree(&TreeQuery{Rows: 9}).Rows {
			got += r[4]
		}
		if got != want {
			t.Errorf("thread %d: %d calls, want %d", thread, got, want)
		}
	}
}

// TestThreadStays looks at one thread, and wants the same one after a reset, and after a
// recording that other threads come first in; another JVM's is none of them.
func TestThreadStays(t *testing.T) {
	thread := func(id int64, name string, calls int64) *cct.Thread {
		return &cct.Thread{ID: id, Name: name, Roots: []*cct.Node{livetest.Node(1, calls, 7)}, RootEntries: calls}
	}
	turns := func(id, calls int64) *cct.Thread {
		r := thread(id, "last", calls)
		r.Virtual = true
		return r
	}
	b := newNumbering()
	frame := func(pid int, threads ...*cct.Thread) *Frame {
		r := livetest.Report(&cct.Snapshot{Threads: threads})
		r.Target.PID = pid
		return newFrame(1, r, b)
	}
	first := frame(1, thread(7, "main", 3), thread(8, "worker", 5), turns(30, 9), turns(31, 11))
	at := map[int64]int{}
	for _, l := range first.threadsView().Threads {
		at[l.ID] = l.Place
	}
	for _, test := range []struct {
		what  string
		frame *Frame
		want  map[int64]int64 // calls by the thread's id in the first frame
	}{
		{"as it was", first, map[int64]int64{7: 3, 8: 5, 30: 9, 31: 11}},
		{"reset", frame(1, thread(8, "worker", 1)), map[int64]int64{7: 0, 8: 1}},
		{"others first, and renamed", frame(1, thread(9, "new", 20), turns(40, 2), thread(8, "worker, busy", 4), thread(7, "main", 6)), map[int64]int64{7: 6, 8: 4, 30: 2, 31: 0}},
		{"another JVM", frame(2, thread(7, "main", 3)), map[int64]int64{7: 0}},
	} {
		for id, want := range test.want {
			got := int64(0)
			for _, r := range test.frame.selection(&Query{Thread: at[id]}).tree(&TreeQuery{Rows: 9}).Rows {
				got += r[4]
			}
			if got != want {
				t.Errorf("%s: thread %d: %d calls, want %d", test.what, id, got, want)
			}
		}
	}
}
