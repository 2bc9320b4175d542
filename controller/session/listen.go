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

// A listener tells the loop that the agent has a request.
type listener struct {
	heard time.Time // when the last request came, or was expected
	open  bool      // the loop looks at the boxes without waiting for the bell
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
	if l.round != nil && len(l.round.batch) > 0 && time.Since(l.listener.heard) < listenFor {
		l.s.data.Bell(true)
		l.listener.open = true
		return always
	}
	if l.listener.open {
		l.listener.open = false
		l.s.data.Bell(false)
		l.look() // who came meanwhile has not rung
	}
	return nil
}
