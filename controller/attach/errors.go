package attach

import (
	"errors"
	"fmt"
)

// These say what kind of failure an [*Error] is; test with errors.Is.
var (
	// ErrNoProcess: there is no process with this pid.
	ErrNoProcess = errors.New("no such process")
	// ErrNotJVM: the process runs no JVM (or a GraalVM native image).
	ErrNotJVM = errors.New("not a JVM")
	// ErrOtherUser: the process belongs to another user or group, or has
	// privileges that ours lacks.
	ErrOtherUser = errors.New("no permission")
	// ErrStarting: a JVM that is not yet ready for attaching. Open waits for
	// it; try again later.
	ErrStarting = errors.New("still starting")
	// ErrStopped: the process is stopped by a signal, a debugger or a
	// frozen container.
	ErrStopped = errors.New("stopped")
	// ErrAttachDisabled: the JVM runs with -XX:+DisableAttachMechanism.
	ErrAttachDisabled = errors.New("attach is disabled")
	// ErrAgentsDisabled: the JVM runs with -XX:-EnableDynamicAgentLoading.
	// Commands still work; only agents can't be loaded.
	ErrAgentsDisabled = errors.New("dynamic agent loading is disabled")
	// ErrNoInstrument: the Java runtime has no java.instrument module.
	// Commands still work; only Java agents can't be loaded.
	ErrNoInstrument = errors.New("no java.instrument")
	// ErrNoSocket: the attach listener's socket can't be had.
	ErrNoSocket = errors.New("no attach socket")
	// ErrNoAnswer: the listener does not answer in time, or hangs up
	// without an answer.
	ErrNoAnswer = errors.New("no answer")
	// ErrReadOnly: the target's /tmp is missing, read-only, full or not
	// writable, so neither trigger file nor socket can be made there.
	ErrReadOnly = errors.New("no place for the attach files")
	// ErrNoDescriptors: the process has too few file descriptors left to
	// accept a connection and start an agent. Nothing was sent.
	ErrNoDescriptors = errors.New("no descriptors left")
	// ErrOpenJ9: the JVM is OpenJ9, whose attach protocol is another one.
	ErrOpenJ9 = errors.New("OpenJ9 is not supported")
	// ErrExited: the process has ended, possibly while we were talking to it.
	ErrExited = errors.New("exited")
	// ErrTooLong: the request exceeds what this JVM's protocol can carry.
	// Nothing was sent.
	ErrTooLong = errors.New("request too long")
	// ErrRejected: the JVM answered that it can't do what was asked.
	ErrRejected = errors.New("rejected by the JVM")
)

// An Error is a failure of this package that a person can act on.
type Error struct {
	PID   int
	Kind  error  // one of the Err variables
	Cause string // what is the matter
	Fix   string // the way out
	Code  int    // result code of the JVM or of its agent loader, if it gave one
	Err   error  // the underlying error, or nil
}

func (e *Error) Error() string { return fmt.Sprintf("pid %d: %s", e.PID, e.Reason()) }

// Reason is the message without the pid.
func (e *Error) Reason() string {
	s := e.Cause
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Fix != "" {
		s += "; " + e.Fix
	}
	return s
}

func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// onlyAgents reports whether err hinders agents but not the attach protocol.
func onlyAgents(err error) bool {
	return errors.Is(err, ErrAgentsDisabled) || errors.Is(err, ErrNoInstrument)
}
