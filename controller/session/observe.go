package session

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/shm"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// How a target is observed for a scheme in which nobody waits (scheme.Watcher).
const (
	quietFor     = 300 * time.Millisecond // without a method that wakes: the subgraph has settled
	settleMost   = 3 * time.Second        // then counting begins all the same
	watchShare   = 30                     // a look at what is watched may take so much of the time: one part in
	watchLeast   = 25 * time.Millisecond  // between two looks
	watchMost    = 3 * time.Second
	readEvery    = 5 * time.Second // a reading of all methods, which finds what was inlined since
	lookPatience = 10 * time.Second
)

// errNotCounting says that a JVM does not count invocations.
var errNotCounting = errors.New("the JVM counted no invocation of any method while it was observed: it is idle, or has no compiler (-Xint)")

// An observation is what a session knows of the methods that are active. One goroutine
// at a time owns observer and called: first who starts the recording, then watch.
type observation struct {
	observer *vmstructs.Observer
	called   calledMethods
	active   atomic.Pointer[map[vmstructs.Key]struct{}] // as of the last look; never changed

	settling atomic.Bool // counting has not begun

	// The rest is the loop's.
	fresh   []vmstructs.Key                  // to be watched, and the observer does not know it
	methods map[vmstructs.Key][]cha.MethodID // that a key stands for
	jobs    int                              // under way, of methods that woke
	rounds  int                              // of redefinitions since the session began
	seen    int                              // of those that a look has seen
	woke    time.Time                        // when a method last woke, or a job for that ended
	looked  chan struct{}                    // closed when watch has ended
	stop    context.CancelFunc               // ends watch
	failed  error                            // why watch ended early

	mute map[int32]struct{} // rows that the scheme takes for called, since nothing would show it
}

// observe takes the first reading, besides what its caller does next. It returns what
// waits for that.
func (s *Session) observe() (wait func() error) {
	var o *vmstructs.Observer
	var err error
	done := make(chan struct{})
	s.wg.Go(func() {
		defer close(done)
		o, err = vmstructs.Observe(s.proc.PID)
	})
	return func() error {
		if <-done; err != nil {
			return err
		}
		w := &observation{observer: o, methods: map[vmstructs.Key][]cha.MethodID{}, mute: map[int32]struct{}{}}
		return s.do(s.ctx, func() { s.watching = w })
	}
}

// observed takes the second reading, when the target has been observed for long enough.
func (s *Session) observed(ctx context.Context, since time.Time, length time.Duration) error {
	select {
	case <-time.After(time.Until(since.Add(length))):
	case <-ctx.Done():
		return ctx.Err()
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
	w := s.watching
	if err := w.observer.Look(); err != nil {
		return err
	}
	if !w.observer.Moved() {
		return errNotCounting
	}
	w.publish()
	return nil
}

// publish lets the scheme know which methods are active.
func (w *observation) publish() {
	if known := w.active.Load(); known != nil && len(*known) == w.observer.ActiveMethods() {
		return
	}
	a := w.observer.Actives()
	w.active.Store(&a)
}

// isActive is what the scheme asks.
func (w *observation) isActive(m cha.MethodID) bool {
	_, ok := (*w.active.Load())[vmstructs.KeyOf(m.Class.Name, m.Name, m.Desc)]
	return ok
}

// watchThem has methods watched from now on.
func (w *observation) watchThem(ids []cha.MethodID) {
	for _, id := range ids {
		k := vmstructs.KeyOf(id.Class.Name, id.Name, id.Desc)
		if len(w.methods[k]) == 0 {
			w.fresh = append(w.fresh, k)
		}
		w.methods[k] = append(w.methods[k], id)
	}
}

// startWatching looks at what is watched until the session ends or stopWatching.
func (s *Session) startWatching() {
	ctx, cancel := context.WithCancel(s.ctx)
	w := s.watching
	w.stop, w.looked = cancel, make(chan struct{})
	_ = s.do(ctx, func() { w.woke = time.Now() }) // else the session has ended, and watch ends at once
	s.wg.Go(func() {
		defer close(w.looked)
		var err error
		if s.guard(func() { err = s.watch(ctx) }); err != nil && ctx.Err() == nil {
			s.log.Debug("methods that are asleep can't be watched any more", "error", err)
			_ = s.do(ctx, func() { w.failed = err }) // else stopWatching meets with it, too
		}
	})
}

// watch is the goroutine that looks at the target.
func (s *Session) watch(ctx context.Context) error {
	w := s.watching
	pause, rounds, looked, deferred, before := watchLeast, -1, time.Now(), 0, s.data.Redefined()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		began, redefined := time.Now(), s.data.Redefined()
		woke, now, err := s.lookOnce(ctx, rounds, time.Since(looked) > readEvery)
		if err != nil {
			return err
		}
		if now != rounds {
			rounds, looked = now, time.Now()
		}
		var called []int32
		look := len(woke) > 0 || deferred > 0 && time.Now().After(w.called.again)
		if look {
			called = w.called.look(s)
		}
		if err := s.do(ctx, func() {
			w.seen = now
			if look && s.loop.final == nil {
				s.loop.inTime(s.loop.called(called, w.called.all), nil)
			}
			if len(woke) > 0 {
				s.loop.woke(woke, before)
			}
			deferred = s.loop.deferred()
		}); err != nil {
			return err
		}
		before = redefined
		pause = min(max(watchLeast, watchShare*time.Since(began)), watchMost)
		if w.settling.Load() {
			pause = watchLeast
		}
	}
}

// lookOnce looks at what is watched, and at everything where it must: classes were
// redefined or methods have come to be watched since, or something woke.
func (s *Session) lookOnce(ctx context.Context, rounds int, all bool) (woke []vmstructs.Woken, now int, err error) {
	w := s.watching
	var fresh []vmstructs.Key
	if err := s.do(ctx, func() { fresh, w.fresh, now = w.fresh, nil, w.rounds }); err != nil {
		return nil, 0, err
	}
	w.observer.Watch(fresh)
	all = all || len(fresh) > 0 || now != rounds
	if !all {
		if woke, err = w.observer.Woken(); err != nil {
			return nil, 0, err
		}
	}
	if all || len(woke) > 0 {
		if err := w.observer.Look(); err != nil {
			return nil, 0, err
		}
		woke = append(woke, w.observer.Rest()...)
		w.publish()
	}
	return woke, now, nil
}

// wokeMethods are the methods that have woken, with what the JVM has counted of each.
func (w *observation) wokeMethods(woke []vmstructs.Woken) (ids []cha.MethodID, calls map[cha.MethodID]int64) {
	calls = map[cha.MethodID]int64{}
	for _, k := range woke {
		for _, id := range w.methods[k.Key] {
			ids = append(ids, id)
			calls[id] = k.Calls
		}
	}
	return ids, calls
}

// woke has methods recorded that were asleep and are not any more. Classes had been redefined
// so often when they were asleep.
func (l *loop) woke(woke []vmstructs.Woken, redefined int64) {
	w, d := l.s.watching, l.scheme.(scheme.Watcher)
	if l.final != nil {
		return
	}
	ids, calls := w.wokeMethods(woke)
	end := l.analyse()
	p := d.Woke(ids)
	p.Append(l.moreCallbacks())
	end()
	l.s.log.Debug("woke", "methods", len(ids), "steps", len(p.Steps), "watched", len(p.Watched), "deferred", d.Deferred(), "armed", l.armed)
	for _, id := range ids {
		if l.probed(id) && l.changes.lacked(id.Class, redefined) && !d.IsDeferred(id) { // planned with others of its class
			l.patience.addLate(id, calls[id])
		}
	}
	l.inTime(p, calls)
}

// inTime carries out a plan while nobody waits for it. calls has the methods that were
// invoked, or are about to be, with what the JVM has counted, or -1.
func (l *loop) inTime(p scheme.Plan, calls map[cha.MethodID]int64) {
	w := l.s.watching
	if p.Empty() && len(p.Revealed)+len(p.Watched)+len(p.Skipped)+len(p.Roused) == 0 {
		return
	}
	p.Steps, p.Also = append(p.Steps, p.Also...), nil
	also := l.want(p)
	l.noteLate(p.Steps, calls)
	for _, id := range p.Roused {
		l.patience.addLate(id, -1)
	}
	w.woke = time.Now()
	w.jobs++
	l.enqueue(&job{classes: also, all: true, done: func([]cha.ClassID) {
		l.revealed(p.Revealed)
		w.jobs--
		w.woke = time.Now()
		l.lateInForce()
	}})
}

// settle waits until no method wakes any more, so that counting can begin with all
// that is active recorded. The gate is open meanwhile: what root invocations call by
// reflection is known only when they do.
func (s *Session) settle(ctx context.Context) error {
	began := time.Now()
	s.stage.begin("settling", 0)
	s.watching.settling.Store(true)
	defer s.watching.settling.Store(false)
	if err := s.do(ctx, func() {
		s.data.Admit(shm.All)
		s.loop.open()
	}); err != nil {
		return err
	}
	for {
		select {
		case <-time.After(watchLeast):
		case <-ctx.Done():
			return ctx.Err()
		}
		quiet := false
		if err := s.do(ctx, func() {
			w := s.watching
			quiet = w.jobs == 0 && len(w.fresh) == 0 && w.seen == w.rounds && time.Since(w.woke) > quietFor || w.failed != nil
		}); err != nil {
			return err
		}
		if took := time.Since(began); quiet || took > settleMost {
			s.log.Debug("settled", "quiet", quiet, "took", took)
			return nil
		}
	}
}

// forgetSettling shuts the gate and forgets what was recorded while settling.
func (l *loop) forgetSettling() {
	l.shut()
	l.kind.forget()
	l.renew()
	l.rec.began = 0
}

// unwatched notes why not all was watched to the end. Where the loop has ended, as with the
// target, its state is the caller's.
func (s *Session) unwatched(err error) {
	note := func() { s.watching.failed = errors.Join(s.watching.failed, err) }
	if s.do(s.ctx, note) != nil && s.ctx.Err() != nil {
		s.wg.Wait()
		note()
	}
}

// stopWatching ends the watch with a last look at everything: what woke since the one
// before is late, too. It is called when the gate is shut.
func (s *Session) stopWatching(ctx context.Context) {
	w := s.watching
	if w == nil || w.stop == nil {
		return
	}
	w.stop()
	<-w.looked
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	woke, _, err := s.lookOnce(ctx, -1, true)
	if err != nil {
		s.unwatched(err)
		return
	}
	look := len(woke) > 0
	_ = s.do(ctx, func() { look = look || s.loop.deferred() > 0 })
	if !look {
		return
	}
	called := w.called.look(s)
	_ = s.do(ctx, func() {
		ids, calls := w.wokeMethods(woke)
		p := s.loop.called(called, w.called.all)
		p.Append(s.loop.scheme.(scheme.Watcher).Woke(ids))
		s.loop.lateAtEnd(p, calls)
	})
}
