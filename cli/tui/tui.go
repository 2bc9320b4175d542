// Package tui is the screen of a terminal session: search and roots, the tree
// and the methods of a recording while it grows, callers and callees, threads,
// comparisons, the log.
//
// Whatever changes something is a command of package console, whether a key or a
// line after a colon asks for it; views are cut out of the recording by package
// live, as for the page. One goroutine, that of Run, owns what is on the screen;
// commands and views are computed beside it, one of each at a time, so that the
// keys answer while a command waits for the target.
//
// Names of the target's are cleaned and fitted to the screen by their width.
// Where there are no colours (NO_COLOR), marks say the same.
package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/rivulet-profiler/rivulet/cli/console"
)

// refreshEvery is how often the screen looks for what is new.
const refreshEvery = 250 * time.Millisecond

// Run shows the screen of an attached console until it is quit, or ctx is done. It does not
// end the recording, and does not handle signals: both are up to the caller. The error says
// that the terminal failed.
func Run(ctx context.Context, c *console.Console, in io.Reader, out io.Writer) error {
	work, end := context.WithCancel(ctx)
	defer end()
	p := tea.NewProgram(newModel(work, c), tea.WithoutSignalHandler(), tea.WithInput(in), tea.WithOutput(out))
	defer context.AfterFunc(ctx, p.Quit)()
	_, err := p.Run()
	if err != nil && ctx.Err() != nil || errors.Is(err, tea.ErrInterrupted) {
		return nil // the terminal went away with the signal
	}
	if err != nil {
		return fmt.Errorf("the screen has failed: %w; commands work without one, by --script", err)
	}
	return nil
}
