package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ErrManaged reports a target whose security manager keeps the agent from
// working: to read its own files, or to have a class loader.
var ErrManaged = errors.New("the program runs under a security manager, whose policy grants Rivulet's agent nothing")

// managed tells whether a security manager was asked for when the target was
// started. One that the program has set itself can't be seen from here.
func (s *Session) managed(ctx context.Context) error {
	if s.vm == nil {
		return nil
	}
	r, err := s.vm.Execute(ctx, "properties")
	if err != nil {
		return nil // it is about the agent's silence, not about this
	}
	for line := range strings.Lines(r.Text) {
		if key, value, _ := strings.Cut(strings.TrimSpace(line), "="); key == "java.security.manager" && value != "allow" && value != "disallow" {
			return fmt.Errorf("pid %d: %w; add to its policy file: grant codeBase \"file:/tmp/-\" { permission java.security.AllPermission; }; or start it without -Djava.security.manager", s.proc.PID, ErrManaged)
		}
	}
	return nil
}
