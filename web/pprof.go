package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// pprofPath is where scrapers of pprof ask.
const pprofPath = "/debug/pprof/rivulet"

// How long a scraper may have a JVM sampled, in seconds.
const (
	usualSeconds = 10
	mostSeconds  = 300
)

// A SampleFunc samples a JVM's time on a core from outside for a while, or until ctx is done.
type SampleFunc func(ctx context.Context, pid int, length time.Duration) (*export.Report, error)

// A FindFunc finds the one JVM that rules such as "main=*Order*" are true of. The error says
// what rule is wrong, or that there is none or more than one.
type FindFunc func(ctx context.Context, rules []string) (pid int, err error)

// getPprof samples a JVM for a scraper and answers with pprof. One at a time is sampled, so
// that scrapers together take no more of the machine than one.
func (s *Server) getPprof(w http.ResponseWriter, r *http.Request) {
	fail := func(err error) { refuse(w, code(err), export.Clean(err.Error())) }
	pid, err := number(r, "pid", 0)
	seconds, wrong := number(r, "seconds", usualSeconds)
	if err := errors.Join(err, wrong); err != nil {
		fail(err)
		return
	}
	match := r.URL.Query()["match"]
	if len(match) > 0 && s.find != nil {
		if pid != 0 {
			fail(badRequestf("give pid, or match"))
			return
		}
		found, err := s.find(r.Context(), match)
		if err != nil {
			fail(badRequest(err))
			return
		}
		pid = int64(found)
	}
	if t := s.live.State().Target; pid == 0 && t != nil {
		pid = int64(t.PID)
	}
	switch {
	case s.sample == nil:
		refuse(w, http.StatusNotFound, "nothing is sampled here; rivulet serve does")
		return
	case pid == 0 || pid > 1<<31-1:
		fail(badRequestf("say of which JVM: pid=N, or match=KEY=PATTERN such as match=main=*Order*; rivulet ps lists them"))
		return
	case seconds < 1 || seconds > mostSeconds:
		fail(badRequestf("seconds=%d: give a number from 1 to %d", seconds, mostSeconds))
		return
	}
	if !s.sampling.TryLock() {
		w.Header().Set("Retry-After", fmt.Sprint(seconds))
		refuse(w, http.StatusTooManyRequests, "a JVM is sampled for somebody else; ask again later")
		return
	}
	defer s.sampling.Unlock()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		select {
		case <-s.over:
			cancel()
		case <-ctx.Done():
		}
	}()
	report, err := s.sample(ctx, int(pid), time.Duration(seconds)*time.Second)
	if err == nil && ctx.Err() != nil {
		err = errors.New("the page was closed")
	}
	if err != nil {
		fail(err)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="rivulet-%d.pb.gz"`, pid))
	if err := report.Pprof(w); err != nil {
		s.log.Debug("pprof", "error", err)
	}
}
