package session

import (
	"context"

	"github.com/rivulet-profiler/rivulet/controller/patch"
)

// followSpans has the class Spans in the target told of each span that becomes current, so that
// root invocations which begin outside of any are joined to their first one
// (decision 57). Nothing is changed where OpenTelemetry is not in use; a copy that is loaded
// later is changed then.
func (s *Session) followSpans(ctx context.Context) error {
	edit, err := patch.Spans(s.bundle.Part("Spans"))
	if err != nil {
		return err
	}
	d := jdkPatches{Edit: edit}
	return s.patchJDK(ctx, &d, func() { s.loop.spans = d })
}
