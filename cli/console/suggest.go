package console

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
)

// errNoneSuggested says that no root can be suggested.
var errNoneSuggested = errors.New("no method of the application's holds much time and was entered meanwhile: try again while the program is at work, or choose a root with find and root")

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
		return errNoneSuggested
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
		if _, err := fmt.Fprintln(out, line(s, &s.Roots[i])); err != nil {
			return err
		}
	}
	return nil
}

// line says what speaks for a root.
func line(s *live.Suggestions, r *live.Suggestion) string {
	root := export.Clean(r.Root)
	if s.Samples > 0 {
		return fmt.Sprintf("%s  %.1f %% of the samples, entered %.3g times a second or more, price %s", root, 100*r.Share, r.Rate, r.Price)
	}
	text := fmt.Sprintf("%s  on %d of %d stacks of busy threads", root, r.Stacks, r.Of)
	if r.Always {
		text += ", which it never left: most likely a loop that began long ago"
	}
	return text
}
