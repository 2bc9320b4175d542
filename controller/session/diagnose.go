package session

import (
	"context"
	"time"
)

// Diagnose says why no root invocation has been recorded: it is on some stack
// already, or nobody calls it. It takes one thread dump of the target (a pause
// of a millisecond or so), through the attach protocol. "" where there is
// nothing to say.
func (s *Session) Diagnose(ctx context.Context) string {
	if s.vm == nil || s.Progress().RootInvocations > 0 {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	dump, err := s.vm.ThreadDump(ctx)
	if err != nil {
		return ""
	}
	var text string
	err = s.do(ctx, func() { text = s.loop.catalog().Diagnose(s.loop.roots, dump) })
	if err != nil {
		return ""
	}
	s.diagnosis.Store(text)
	return text
}
