package console

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
)

// ErrNoneSuggested says that no root can be suggested.
var ErrNoneSuggested = errors.New("no method of the application's holds much time and was entered meanwhile: try again while the program is at work, or choose a root with find and root")

// suggested lists methods that are worth recording, or makes the best one the root.
func suggested(ctx context.Context, c *Console, out io.Writer, args []string) error {
	take := len(args) == 1
	if take && args[0] != "root" {
		return wrong("suggest takes nothing, or the word root")
	}
	s, err := c.live.Suggest(ctx, true)
	if err != nil {
		return err
	}
	if len(s.Roots) == 0 {
		return ErrNoneSuggested
	}
	if take {
		if err := unroot(ctx, c, out, []string{"all"}); err != nil {
			return err
		}
		if err := c.AddRoot(s.Roots[0].Root); err != nil {
			return err
		}
		_, err := fmt.Fprintln(out, export.Clean(s.Roots[0].Root))
		return err
	}
	if s.Samples == 0 && s.Why != "" {
		if _, err := fmt.Fprintf(out, "# by %d thread dumps, since %s\n", s.Looks, export.Clean(s.Why)); err != nil {
			return err
		}
	}
	for i := range s.Roots {
		if _, err := fmt.Fprintln(out, export.Clean(s.Roots[i].Root)+"  "+WhySuggested(s, &s.Roots[i])); err != nil {
			return err
		}
	}
	return nil
}

// WhySuggested says what speaks for a root, in a line.
func WhySuggested(s *live.Suggestions, r *live.Suggestion) string {
	if s.Samples > 0 {
		return fmt.Sprintf("%.1f %% of the samples, entered %.3g times a second or more, price %s", 100*r.Share, r.Rate, r.Price)
	}
	text := fmt.Sprintf("on %d of %d stacks of busy threads", r.Stacks, r.Of)
	if r.Always {
		text += ", which it never left: most likely a loop that began long ago"
	}
	return text
}
