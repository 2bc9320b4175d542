package cli

import (
	"context"
	"errors"
	"os"

	"github.com/rivulet-profiler/rivulet/controller/session"
)

// A launched is the session of a program that Rivulet started.
type launched interface {
	attached
	Signal(sig os.Signal) error
	Exited() <-chan struct{}
	ExitCode() int // once it has exited; 128 and the signal's number if one ended it
	abandon()      // ends a program that still waits for its start, and the session
}

func (system) launch(ctx context.Context, argv []string, std session.Stdio, cfg session.Config) (launched, error) {
	s, err := session.Launch(ctx, argv, std, cfg)
	if err != nil {
		return nil, err
	}
	return program{s}, nil
}

type program struct{ *session.Launched }

func (p program) abandon() { p.Abandon() }

// exitedEarly is the exit code of a program that ended before it could be
// profiled; ok is false for other errors.
func exitedEarly(err error) (code int, ok bool) {
	var e *session.ExitError
	if !errors.As(err, &e) {
		return 0, false
	}
	return e.Code, true
}
