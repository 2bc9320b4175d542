package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/attach"
)

// ErrManaged reports a target whose security manager keeps the agent from
// working: to read its own files, or to have a class loader.
var ErrManaged = errors.New("the program runs under a security manager, whose policy grants Rivulet's agent nothing")

// Grant is what a policy file has to say for Rivulet's agent.
const Grant = `grant codeBase "file:/tmp/-" { permission java.security.AllPermission; };`

// Managed tells whether a security manager was asked for when a JVM was started. One that the
// program has set itself can't be seen from outside, nor what the policy grants. A JVM that does
// not answer has none.
func Managed(ctx context.Context, vm *attach.VM) bool {
	r, err := vm.Execute(ctx, "properties")
	if err != nil {
		return false
	}
	for line := range strings.Lines(r.Text) {
		if key, value, _ := strings.Cut(strings.TrimSpace(line), "="); key == "java.security.manager" {
			return value != "allow" && value != "disallow"
		}
	}
	return false
}

// managed is the error of an agent that says nothing under a security manager, nil without one.
func (s *Session) managed(ctx context.Context) error {
	if s.vm == nil || !Managed(ctx, s.vm) {
		return nil
	}
	return fmt.Errorf("pid %d: %w; add to its policy file: %s or start it without -Djava.security.manager", s.proc.PID, ErrManaged, Grant)
}
