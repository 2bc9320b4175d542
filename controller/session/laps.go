package session

import (
	"time"

	"github.com/hashicorp/go-hclog"
)

// laps log how long each step took, from the command to the recording.
type laps struct {
	log  hclog.Logger
	last time.Time
}

// done ends a step; the next one begins.
func (l *laps) done(step string) {
	now := time.Now()
	l.log.Debug("step", "name", step, "took", now.Sub(l.last))
	l.last = now
}
