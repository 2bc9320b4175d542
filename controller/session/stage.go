package session

import (
	"sync"
	"time"
)

// A stage is what a session does before it records, for those who watch it. It is safe
// for concurrent use: it can be asked while the loop is at work.
type stage struct {
	mu       sync.Mutex
	name     string
	done, of int // how far it is; of 0: not known
	since    time.Time
}

// begin begins a stage.
func (g *stage) begin(name string, of int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.name, g.done, g.of, g.since = name, 0, of, time.Now()
}

// step takes n more parts of the stage as done.
func (g *stage) step(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.done += n
}

// more has the stage have n more parts.
func (g *stage) more(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.of += n
}

// tell fills in a progress.
func (g *stage) tell(p *Progress) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.name != "" {
		p.Phase, p.Done, p.Of, p.Since = g.name, min(g.done, g.of), g.of, g.since
	}
}
