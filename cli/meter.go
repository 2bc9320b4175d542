package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
)

// How often progress is shown: on a terminal one line is written anew, in a
// file or pipe lines follow each other.
const (
	meterOnTerminal = 200 * time.Millisecond
	meterInFile     = 5 * time.Second
	meterLook       = 500 * time.Millisecond // in a file: how often it is looked whether there is a new phase
	meterAtRest     = time.Minute            // in files, while nothing changes
	meterPause      = 2 * time.Second        // at the most from one look to the next
)

// A meter shows a session's progress on stderr from start until stop.
type meter struct {
	w        io.Writer
	terminal bool
	begin    time.Time

	mu     sync.Mutex
	source func() session.Progress // nil once phase is fixed
	phase  string
	since  time.Time // when the phase that is shown began
	shown  bool      // a line that has to be wiped
	last   session.Progress
	lastAt time.Time
	wrote  time.Time // the last line in a file
	told   string    // its phase, or what tell was given

	tell func(text string) // shows phases in place of w, where there is one

	quit, done chan struct{}
}

func startMeter(w io.Writer, source func() session.Progress) *meter {
	m := newMeter(w, source)
	go m.run()
	return m
}

func newMeter(w io.Writer, source func() session.Progress) *meter {
	now := time.Now()
	return &meter{
		w: w, terminal: isTerminal(w), source: source, begin: now, lastAt: now,
		quit: make(chan struct{}), done: make(chan struct{}),
	}
}

// meter shows progress where this app shows it: a page is told the phase, and lines of their own go to it, too.
func (a *app) meter(source func() session.Progress) *meter {
	m := newMeter(a.stderr, source)
	if a.progress != nil {
		m.tell = func(text string) { a.progress(text, 0, 0) }
	}
	go m.run()
	return m
}

func (m *meter) run() {
	defer close(m.done)
	every := meterLook
	if m.terminal {
		every = meterOnTerminal
	}
	t := time.NewTimer(every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			begin := time.Now()
			m.show()
			t.Reset(meterNext(every, time.Since(begin)))
		case <-m.quit:
			return
		}
	}
}

// meterNext is when to look again after a look that took so long. Counting a tree of a
// million nodes takes a tenth of a second; a session that is at work answers after a
// second, and what it is at is wanted then more than ever.
func meterNext(every, took time.Duration) time.Duration {
	const share = 20
	return max(every, min(share*took, meterPause))
}

// stop ends the display; the cursor is then at the beginning of a line. It
// may be called twice, by the goroutine that started the meter.
func (m *meter) stop() {
	select {
	case <-m.quit:
	default:
		close(m.quit)
	}
	<-m.done
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wipe()
}

// fix shows a phase and nothing else from now on: once it returns, the
// session is no longer asked.
func (m *meter) fix(phase string) {
	m.mu.Lock()
	m.source, m.phase = nil, phase
	m.mu.Unlock()
	if m.terminal {
		m.show()
	}
}

// say prints a line of its own.
func (m *meter) say(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wipe()
	fmt.Fprintf(m.w, "rivulet: %s\n", oneLine(text))
}

// armed tells people and scripts that calls count from now on.
func (m *meter) armed() {
	p := m.source()
	doing := "recording"
	if p.Phase == "warming up" {
		doing = p.Phase
	}
	text := fmt.Sprintf("%s; %d methods instrumented so far, of %d classes looked at", doing, p.Instrumented, p.Classes)
	if p.Instrumented == 0 {
		text = doing + "; the root's class is not loaded yet"
	}
	m.say(text)
}

func (m *meter) show() {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := session.Progress{Phase: m.phase}
	if m.source != nil {
		p = m.source()
	}
	if m.tell != nil {
		if text := strings.TrimSuffix(p.Phase+", "+p.Times, ", "); text != m.told {
			m.tell(text)
			m.told = text
		}
		return
	}
	now := time.Now()
	fresh := p.Phase != m.last.Phase
	if fresh {
		m.since = now
	}
	if !p.Since.IsZero() {
		m.since = p.Since
	}
	if !m.terminal && now.Sub(m.wrote) < meterInFile && (now.Sub(m.since) < time.Second || m.told == p.Phase) {
		m.last.Phase = p.Phase
		return
	}
	text := progressLine(p, now.Sub(m.since), float64(p.Calls-m.last.Calls)/max(now.Sub(m.lastAt).Seconds(), 1e-3))
	same := p == m.last
	m.last, m.lastAt = p, now
	if !m.terminal {
		if !same || now.Sub(m.wrote) >= meterAtRest {
			fmt.Fprintln(m.w, "rivulet: "+text)
			m.wrote, m.told = now, p.Phase
		}
		return
	}
	text = export.Fit(text, max(columns(m.w)-1, 1))
	m.wipe()
	fmt.Fprint(m.w, text)
	m.shown = true
}

func (m *meter) wipe() {
	if m.shown {
		fmt.Fprint(m.w, "\r\x1b[K")
		m.shown = false
	}
}

func progressLine(p session.Progress, elapsed time.Duration, rate float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %.1f s", p.Phase, elapsed.Seconds())
	if p.Of > 0 {
		fmt.Fprintf(&b, "  %s of %s classes", export.Count(int64(p.Done)), export.Count(int64(p.Of)))
		if p.Done > 0 && p.Done < p.Of {
			fmt.Fprintf(&b, ", %.1f s to go", elapsed.Seconds()*float64(p.Of-p.Done)/float64(p.Done))
		}
		return b.String()
	}
	if p.Classes > 0 || p.Instrumented > 0 {
		fmt.Fprintf(&b, "  %s classes, %s methods instrumented, %s called",
			export.Count(int64(p.Classes)), export.Count(int64(p.Instrumented)), export.Count(int64(p.Called)))
	}
	if p.Calls > 0 {
		fmt.Fprintf(&b, ", %s calls (%s/s)", export.Count(p.Calls), export.Count(int64(max(rate, 0))))
	}
	if p.Budget != "" {
		b.WriteString(", " + p.Budget)
	}
	if p.Times != "" {
		b.WriteString(", " + export.Clean(p.Times))
	}
	return b.String()
}
