package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/sampler/pcct"
	"github.com/rivulet-profiler/rivulet/controller/sampler/suggest"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/controller/spec"
	"github.com/rivulet-profiler/rivulet/controller/threads"
	"github.com/rivulet-profiler/rivulet/controller/watch"
)

// capture keeps what belongs to events, one after the other. Of those that are
// waiting at the end, the samples are kept.
func (w *watcher) capture(ctx context.Context) {
	for {
		select {
		case e := <-w.events:
			w.captureOne(ctx, &e)
			continue
		default:
		}
		select {
		case e := <-w.events:
			w.captureOne(ctx, &e)
		case <-ctx.Done():
			return
		}
	}
}

func (w *watcher) captureOne(ctx context.Context, e *watch.Event) {
	select {
	case <-time.After(w.f.after):
	case <-ctx.Done():
	}
	w.mu.Lock()
	w.note()
	now := monotonic()
	w.wrong(w.writer.Flush(now))
	head := w.last
	w.mu.Unlock()
	c, err := w.folder.Keep(*e, &head, e.At-int64(w.f.before), now)
	if c == nil {
		w.say("of %q nothing could be kept: %s", e.Rule, oneLine(err.Error()))
		return
	}
	if err == nil {
		w.say("kept %s as %s", export.Plural(c.Samples, "sample", "samples"), c.ID)
	}
	if w.f.then == thenProfile && ctx.Err() == nil {
		if exact := w.profile(ctx, c); exact != nil {
			err = errors.Join(err, exact)
		}
	}
	if err != nil {
		c.Note = oneLine(err.Error())
		w.say("%s: %s", c.ID, c.Note)
	}
	if err := errors.Join(c.Save(), w.folder.Bound(w.f.captures, w.f.bytes/4)); err != nil {
		w.say("%s: %s", c.ID, oneLine(err.Error()))
	}
}

// rootOf is the root that a rule names, or that a capture's samples suggest.
func rootOf(c *watch.Capture) (string, error) {
	if c.Event.Method != "" {
		return c.Event.Method, nil
	}
	r, err := watch.Report(c.Ring(), c.From, c.Until, pcct.Options{})
	if err != nil {
		return "", err
	}
	found := suggest.Roots(r, 1)
	if len(found) == 0 {
		return "", errors.New("the samples name no root: no method of the program's takes time and is entered again and again")
	}
	return found[0].Method.Name, nil
}

// profile records a capture's root exactly.
func (w *watcher) profile(ctx context.Context, c *watch.Capture) (err error) {
	root, err := rootOf(c)
	if err != nil {
		return fmt.Errorf("nothing was recorded: %w", err)
	}
	c.Root = root
	rec := spec.Default()
	if err := rec.AddRoot(root); err != nil {
		return fmt.Errorf("nothing was recorded: %w", err)
	}
	// Only one can be attached.
	resume, err := w.timing.pause()
	if err != nil {
		return fmt.Errorf("nothing was recorded: %w", err)
	}
	defer func() { err = errors.Join(err, resume(ctx)) }()
	r, err := w.record(ctx, rec)
	if r == nil {
		return fmt.Errorf("%s was not recorded: %w", root, err)
	}
	f, creating := os.OpenFile(c.File(watch.ExactFile), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if creating != nil {
		return errors.Join(err, creating)
	}
	if writing := errors.Join(r.Snapshot(f), f.Close()); writing != nil {
		return errors.Join(err, writing)
	}
	c.Exact = c.File(watch.ExactFile)
	w.say("recorded %s exactly for %v: %s", oneLine(root), w.f.length, c.Exact)
	return err
}

// record attaches, records for a while, and detaches.
func (w *watcher) record(ctx context.Context, rec spec.Recording) (*export.Report, error) {
	s, err := w.backend.attach(ctx, w.pid, w.config(0))
	if err != nil {
		return nil, err
	}
	if err := s.Start(ctx, rec); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	select {
	case <-time.After(w.f.length):
	case <-s.Done():
	case <-ctx.Done():
	}
	// Ctrl-C ends the recording early; the target is restored all the same.
	finish, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return s.Finish(finish)
}

// deadlockText says what deadlocks there are, in one sentence; "" for none.
func deadlockText(found []threads.Deadlock) string {
	if len(found) == 0 {
		return ""
	}
	var parts []string
	for i, t := range found[0].Threads {
		next := found[0].Threads[(i+1)%len(found[0].Threads)]
		parts = append(parts, fmt.Sprintf("%s waits for %s of %s", export.Clean(t.Thread), export.Clean(t.WaitsFor), export.Clean(next.Thread)))
	}
	text := "deadlock: " + strings.Join(parts, ", ")
	if more := len(found) - 1; more > 0 {
		text += fmt.Sprintf(" (and %s)", export.Plural(int64(more), "more", "more"))
	}
	return text
}

// A watchTiming times the methods that rules ask for, in a session that is attached all the
// while. The zero of it, nil, times nothing.
type watchTiming struct {
	w     *watcher
	roots []string
	s     attached
	looks []timedMoment // the oldest first
	busy  chan struct{} // holds one thing while the session is used
}

// A timedMoment is what timers showed at a moment.
type timedMoment struct {
	at int64
	of map[string]*session.TimedLook
}

// A quantile is what a rule asked for.
type quantile struct {
	rule  int
	time  time.Duration
	count int64
}

func (w *watcher) startTiming(ctx context.Context) (*watchTiming, error) {
	t := &watchTiming{w: w, busy: make(chan struct{}, 1)}
	for _, r := range w.f.rules {
		if r.Kind == watch.Quantile {
			t.roots = append(t.roots, r.Name)
		}
	}
	if len(t.roots) == 0 {
		return nil, nil
	}
	w.say("timing %s, for which the agent is loaded", oneLine(strings.Join(t.roots, ", ")))
	return t, t.start(ctx)
}

func (t *watchTiming) start(ctx context.Context) error {
	s, err := t.w.backend.attach(ctx, t.w.pid, t.w.config(0))
	if err != nil {
		return err
	}
	if err := s.StartTiming(ctx, session.Timing{Roots: t.roots}); err != nil {
		return errors.Join(err, s.Close())
	}
	t.s, t.looks = s, nil
	return nil
}

// look takes the times so far, and says what they are of each rule's time.
func (t *watchTiming) look(ctx context.Context, rules []watch.Rule, now int64) (out []quantile) {
	if t == nil {
		return nil
	}
	select {
	case t.busy <- struct{}{}:
		defer func() { <-t.busy }()
	default:
		return nil // it is paused
	}
	if t.s == nil {
		return nil
	}
	found, err := t.s.TimedLooks(ctx)
	if err != nil {
		return nil
	}
	m := timedMoment{now, map[string]*session.TimedLook{}}
	longest := time.Duration(0)
	for i := range found {
		m.of[found[i].Method] = &found[i]
	}
	for i, r := range rules {
		if r.Kind != watch.Quantile {
			continue
		}
		longest = max(longest, r.For)
		before := timedMoment{}
		for _, b := range t.looks {
			if now-b.at >= int64(r.For) {
				before = b
			}
		}
		if before.of == nil {
			continue
		}
		q := quantile{rule: i}
		for name, k := range m.of { // the slowest, where a name stands for several
			if !strings.HasPrefix(name, r.Name) && len(m.of) > 1 {
				continue
			}
			if v, n := k.Since(before.of[name], r.Rank); v > q.time {
				q.time, q.count = v, n
			}
		}
		out = append(out, q)
	}
	t.looks = append(t.looks, m)
	for len(t.looks) > 1 && now-t.looks[1].at >= int64(longest)+int64(judgeEvery) {
		t.looks = t.looks[1:]
	}
	return out
}

// pause detaches until what it returns is called.
func (t *watchTiming) pause() (resume func(context.Context) error, err error) {
	if t == nil {
		return func(context.Context) error { return nil }, nil
	}
	t.busy <- struct{}{}
	err = t.close(true)
	return func(ctx context.Context) error {
		defer func() { <-t.busy }()
		if ctx.Err() != nil {
			return nil
		}
		if err := t.start(ctx); err != nil {
			return fmt.Errorf("rules on times are no longer judged: %w", err)
		}
		return nil
	}, err
}

// close detaches. alive tells whether the target is there.
func (t *watchTiming) close(alive bool) error {
	if t.s == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, err := t.s.FinishTiming(ctx)
	t.s = nil
	if !alive {
		return nil
	}
	return err
}
