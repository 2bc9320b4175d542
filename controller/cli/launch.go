package cli

import (
	"context"
	"io"

	"github.com/rivulet-profiler/rivulet/controller/session"
)

// stdio are the streams of a launched program.
type stdio struct {
	In       io.Reader
	Out, Err io.Writer
}

func (system) launch(ctx context.Context, argv []string, std stdio, cfg session.Config) (launched, error) {
	l, err := session.Launch(ctx, argv, session.Stdio(std), cfg)
	if err != nil {
		return nil, err // not a nil *Launched in an interface
	}
	return l, nil
}
