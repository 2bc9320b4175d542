package threads

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// The letters of a [Track].
const (
	Running  = 'R' // runnable, and on a core for half of the time since the moment before, or more
	Runnable = 'r' // runnable, with less: in native code, as a read from a socket, or without a core
	Blocked  = 'B' // waits for a monitor
	Waiting  = 'w' // waits without a time limit
	Timed    = 't' // waits with one, or sleeps
	Absent   = ' ' // was not there
)

// letters are those of the states of java.lang.Thread.State.
var letters = map[string]byte{"RUNNABLE": Runnable, "BLOCKED": Blocked, "WAITING": Waiting, "TIMED_WAITING": Timed}

// A Timeline is what threads did at moments that follow each other: their states in thread dumps. The zero value is
// empty. It is not safe for concurrent use.
type Timeline struct {
	Moments []int64 `json:"moments_ns"` // since the first one
	Tracks  []Track `json:"threads"`    // those that were on a core most come first, see [Timeline.Sort]

	begun time.Time
	at    map[trackKey]int
	used  map[int]time.Duration // of the processors, by native id, at the last moment
}

// A Track is one platform thread's part of a [Timeline].
type Track struct {
	Thread string  `json:"thread"`
	ID     int64   `json:"id"`     // Java's
	States string  `json:"states"` // a letter for each moment
	Places []Place `json:"places"` // where it was, what was met most often first; 8 at the most
}

// A Place is a method that a thread was seen in.
type Place struct {
	State  string `json:"state"`  // the letter
	Method string `json:"method"` // the innermost frame, "pkg.Class.method(File.java:12)"
	Count  int64  `json:"count"`  // moments
}

type trackKey struct {
	name string
	id   int64
}

const (
	mostTracks = 5000
	mostPlaces = 8
)

// Add adds a thread dump that was taken at a moment. used has the time that each thread has been on a processor, by
// native id, as attach.ThreadTimes has it. The JVM's own threads are left out, and so are further ones where there are
// more than 5,000.
func (t *Timeline) Add(at time.Time, dump []Thread, used map[int]time.Duration) {
	if t.at == nil {
		t.at, t.begun = map[trackKey]int{}, at
	}
	since := int64(0)
	if n := len(t.Moments); n > 0 {
		since = at.Sub(t.begun).Nanoseconds() - t.Moments[n-1]
	}
	for _, th := range dump {
		letter, ok := letters[th.State]
		if !ok || th.Virtual {
			continue
		}
		if was, known := t.used[th.NID]; known && letter == Runnable && since > 0 && 2*(used[th.NID]-was).Nanoseconds() >= since {
			letter = Running
		}
		t.met(trackKey{th.Name, th.ID}, letter, th.Stack)
	}
	t.Moments = append(t.Moments, at.Sub(t.begun).Nanoseconds())
	for i := range t.Tracks {
		if s := &t.Tracks[i]; len(s.States) < len(t.Moments) {
			s.States += string(Absent)
		}
	}
	t.used = used
}

// met notes what a thread is doing at the moment that is being added.
func (t *Timeline) met(key trackKey, letter byte, stack []string) {
	i, ok := t.at[key]
	if !ok {
		if len(t.Tracks) >= mostTracks {
			return
		}
		i = len(t.Tracks)
		t.at[key] = i
		t.Tracks = append(t.Tracks, Track{Thread: key.name, ID: key.id, States: strings.Repeat(string(Absent), len(t.Moments)), Places: []Place{}})
	}
	s := &t.Tracks[i]
	if len(s.States) > len(t.Moments) {
		return // another one of that name and number
	}
	s.States += string(letter)
	if len(stack) == 0 {
		return
	}
	for k := range s.Places {
		if p := &s.Places[k]; p.Method == stack[0] && p.State[0] == letter {
			p.Count++
			return
		}
	}
	s.Places = append(s.Places, Place{string(letter), stack[0], 1})
}

// Share is the part of the moments at which a thread was there that it was in one of some states, 0 to 1.
func (s *Track) Share(letters string) float64 {
	there, in := 0, 0
	for _, l := range s.States {
		if l != Absent {
			there++
		}
		if strings.ContainsRune(letters, l) {
			in++
		}
	}
	if there == 0 {
		return 0
	}
	return float64(in) / float64(there)
}

// Sort puts the threads first that ran most, then those that were blocked most, and shortens their places.
func (t *Timeline) Sort() {
	count := func(s *Track, l rune) int { return strings.Count(s.States, string(l)) }
	slices.SortStableFunc(t.Tracks, func(a, b Track) int {
		return cmp.Or(cmp.Compare(count(&b, Running), count(&a, Running)), cmp.Compare(count(&b, Blocked), count(&a, Blocked)),
			cmp.Compare(count(&b, Runnable), count(&a, Runnable)), cmp.Compare(a.Thread, b.Thread))
	})
	for i := range t.Tracks {
		s := &t.Tracks[i]
		slices.SortStableFunc(s.Places, func(a, b Place) int { return cmp.Compare(b.Count, a.Count) })
		s.Places = s.Places[:min(len(s.Places), mostPlaces)]
	}
}
