package session

import (
	"context"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/shm"
)

// A TimedLook is what the invocations of one method took, from the begin of a timing to a moment.
type TimedLook struct {
	Method string // with its descriptor
	times  shm.Timed
}

// TimedLooks looks at all methods of a timing, while it goes on.
func (s *Session) TimedLooks(ctx context.Context) ([]TimedLook, error) {
	var out []TimedLook
	err := s.do(ctx, func() {
		l := &s.loop
		timers, ok := l.timed()
		if !ok {
			return
		}
		for _, m := range l.ledger.Instrumented() {
			k := TimedLook{Method: methodID(m).String()}
			timers.Read(m.ID, &k.times)
			out = append(out, k)
		}
	})
	return out, err
}

// Since is a quantile of the times of the invocations that ended since an earlier look at the
// method, as measured, at most 0.8 % off, and their number. before may be nil.
func (t *TimedLook) Since(before *TimedLook, share float64) (time.Duration, int64) {
	v := t.times
	v.Least = 0 // that of the difference is not known
	if before != nil {
		v.Count = 0
		for b := range v.Buckets {
			v.Buckets[b] = max(v.Buckets[b]-before.times.Buckets[b], 0)
			v.Count += v.Buckets[b]
		}
	}
	if v.Count == 0 {
		return 0, 0
	}
	return time.Duration(v.Quantile(share)), v.Count
}
