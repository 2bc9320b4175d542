package session

import (
	"context"
	"fmt"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

const (
	// trackMost is log2 of how many objects one that is followed stands for, at the most, until
	// the agent's table becomes full.
	trackMost = 10
	// patienceToTrack bounds the wait for the agent's table, which it makes within 100 ms.
	patienceToTrack = 2 * time.Second
)

// survives tells whether survivors are counted.
func (s *Session) survives() bool { return s.metrics.Index(metric.SurvivedBytes.Name) >= 0 }

// trackSurvivors has the agent follow objects from the recording's begin on.
func (s *Session) trackSurvivors(ctx context.Context) {
	if !s.survives() {
		return
	}
	s.data.Track(trackMost)
	s.untilFollowing(ctx)
}

// untilFollowing waits until the agent follows the objects of a recording that is about to begin.
func (s *Session) untilFollowing(ctx context.Context) {
	for end := time.Now().Add(patienceToTrack); s.data.Following() == 0 && time.Now().Before(end); {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return
		}
	}
}

// noteSurvivors says in a report what it doesn't know of survivors.
func (l *loop) noteSurvivors(r *export.Report) {
	s := l.s
	if !s.survives() {
		return
	}
	if s.data.Collections() == 0 {
		r.Notes = append(r.Notes, "No garbage collection was noticed while objects were followed: nothing can be said of what survives one.")
	}
	if n := s.data.Untracked(); n > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%s could not be followed, for want of room in the target: the estimates of what survives go by the others.", export.Plural(n, "object", "objects")))
	}
}
