package session

import (
	"context"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/controller/natives"
	"github.com/rivulet-profiler/rivulet/hotswap"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// site says what goes around a call in a method that gets probes, as
// [probe.TokenSites] wants to know.
func (l *loop) site(id hotswap.ClassID, p *probe.Point) (which int, arg int32) {
	m, added := l.sites.At(id, p)
	if m == nil {
		return probe.SiteNone, 0
	}
	if added {
		l.s.data.SetMode(m.ID, l.modeOf(methodID(m), false))
	}
	return probe.SiteCallee, m.ID
}

// findSites lists the classes of the JDK whose methods may get probes where they are
// called.
func (s *Session) findSites(ctx context.Context, which string) error {
	if which == "" {
		which = NativesOn
	}
	return s.wait(ctx, func(done func()) {
		l := &s.loop
		var ids []cha.ClassID
		if l.sites, ids = natives.New(which, l.h, l.ledger); which == NativesOff {
			done()
			return
		}
		l.fetched = done
		l.send(&link.Fetch{Classes: ids})
	})
}
