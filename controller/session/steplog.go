package session

import (
	"time"

	"github.com/hashicorp/go-hclog"
)

// A stepLog logs how long each step took, from the command to the recording.
type stepLog struct {
	log  hclog.Logger
	last time.Time
}

// done ends a step; the next one begins.
func (l *stepLog) done(step string) {
	now := time.Now()
	l.log.Debug("step", "name", step, "took", now.Sub(l.last))
	l.last = now
}
