package session

import (
	"time"
)

// While classes are redefined, a request comes every half a millisecond or sooner, and from the
// bell's ring until the loop hears it takes a fifth of that and more. So the loop looks at
// the boxes by itself then, in short pauses, until nothing has come for a while.
const (
	listenPause = 20 * time.Microsecond
	listenFor   = 5 * time.Millisecond
)

// An ear is the loop's for requests of the agent's.
type ear struct {
	heard time.Time // when the last one came, or was to come
	open  bool      // the loop looks by itself
}

// always is ready to be received from.
var always = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// listens returns a channel that is ready when the loop is to take a nap and look, nil
// when it is to wait for the bell. While it looks by itself the target need not ring: it
// finds the bell rung.
func (l *loop) listens() (nap <-chan struct{}) {
	if l.round != nil && len(l.round.batch) > 0 && time.Since(l.ear.heard) < listenFor {
		l.s.data.Bell(true)
		l.ear.open = true
		return always
	}
	if l.ear.open {
		l.ear.open = false
		l.s.data.Bell(false)
		l.look() // who came meanwhile has not rung
	}
	return nil
}
