package threads

import (
	"fmt"
	"testing"
	"time"
)

// TestTimeline: a letter for each moment, by the state and by the time on a core since the moment before; threads that begin and
// end in between.
func TestTimeline(t *testing.T) {
	var l Timeline
	begun := time.Unix(1000, 0)
	thread := func(name string, nid int, state string, frames ...string) Thread {
		return Thread{Name: name, ID: int64(nid), NID: nid, State: state, Stack: frames}
	}
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	l.Add(begun, []Thread{thread("busy", 1, "RUNNABLE", "a"), thread("reads", 2, "RUNNABLE", "read"), thread("VM Thread", 9, "")}, map[int]time.Duration{1: ms(0), 2: ms(0)})
	l.Add(begun.Add(ms(100)), []Thread{thread("busy", 1, "RUNNABLE", "a"), thread("reads", 2, "RUNNABLE", "read"), thread("late", 3, "BLOCKED", "enter")}, map[int]time.Duration{1: ms(50), 2: ms(49), 3: ms(0)})
	l.Add(begun.Add(ms(150)), []Thread{thread("busy", 1, "WAITING", "b"), thread("late", 3, "TIMED_WAITING", "sleep")}, map[int]time.Duration{1: ms(100), 3: ms(0)})
	l.Sort()
	got := ""
	for _, s := range l.Tracks {
		got += fmt.Sprintf("%s[%s] %v; ", s.Thread, s.States, s.Places)
	}
	if want := "busy[rRw] [{r a 1} {R a 1} {w b 1}]; late[ Bt] [{B enter 1} {t sleep 1}]; reads[rr ] [{r read 2}]; "; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if fmt.Sprint(l.Moments) != "[0 100000000 150000000]" {
		t.Error(l.Moments)
	}
	if s := l.Tracks[1].Share("Bt"); s != 1 {
		t.Error(s)
	}
	if s := (&Track{States: "  "}).Share("R"); s != 0 {
		t.Error(s)
	}
}

// TestTimelineBounded: of very many threads some are left out, and each has a letter for each moment.
func TestTimelineBounded(t *testing.T) {
	var l Timeline
	for k := range 3 {
		var dump []Thread
		for i := range 4000 {
			dump = append(dump, Thread{Name: "t", ID: int64(k*4000 + i + 1), State: "WAITING", Stack: []string{fmt.Sprint("m", i)}})
		}
		l.Add(time.Unix(int64(k), 0), append(dump, dump[0]), nil)
	}
	l.Sort()
	if len(l.Tracks) != mostTracks {
		t.Error(len(l.Tracks))
	}
	for _, s := range l.Tracks {
		if len(s.States) != 3 {
			t.Fatalf("%q", s.States)
		}
	}
}
