package fleet

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Role is what somebody may do. Each includes those before it.
type Role string

// The roles, from the least to the most.
const (
	RoleLook   Role = "look"   // see nodes and JVMs
	RoleSample Role = "sample" // sample stacks from outside; read results
	RoleRecord Role = "record" // instrument JVMs, for exact counts
	RoleDump   Role = "dump"   // what shows values of objects
	RoleNode   Role = "node"   // carry out commands; of daemons, not of people
	RoleSetup  Role = "setup"  // set up what a broker keeps; of a cluster's administrator
)

// Roles are those of people, in order.
var Roles = []Role{RoleLook, RoleSample, RoleRecord, RoleDump}

// May tells whether somebody of this role may do what takes another.
func (r Role) May(other Role) bool {
	return slices.Contains(Roles, other) && slices.Index(Roles, r) >= slices.Index(Roles, other)
}

// Subjects of messages. The broker's permissions are about subjects, so who asked, and by
// which role, is what a subject says, never what a message says.
const (
	doSubject       = "rivulet.do"       // .USER.ROLE.NODE.RUN: commands
	resultSubject   = "rivulet.result"   // .RUN.NODE.PROCESS: results
	progressSubject = "rivulet.progress" // .RUN.NODE: how far nodes are; not kept
	auditSubject    = "rivulet.audit"    // .NODE: who did what
	eventSubject    = "rivulet.event"    // .NODE: which rules came true there
	runSubject      = "rivulet.run"      // .USER.RUN: what a run is of
	nodeSubject     = "rivulet.node"     // .NODE: the last that a node has said of itself
	askSubject      = "rivulet.ask"      // .USER: what is there, answered by each node
)

// ErrSubject is a subject that is not of the form that it should have.
var ErrSubject = errors.New("not a subject of a command")

// DoSubject is where commands of a run go, for one node.
func DoSubject(user string, role Role, node, run string) string {
	return strings.Join([]string{doSubject, user, string(role), node, run}, ".")
}

// DoFilter is what a node listens to.
func DoFilter(node string) string { return doSubject + ".*.*." + node + ".*" }

// DoSubjects are those of a user who has a role: what it may publish to.
func DoSubjects(user string, role Role) string {
	return doSubject + "." + user + "." + string(role) + ".>"
}

// A Sender is what the subject of a command says.
type Sender struct {
	User string
	Role Role
	Node string
	Run  string
}

// ParseDo takes the subject of a command apart; the error wraps [ErrSubject].
func ParseDo(subject string) (Sender, error) {
	f := strings.Split(strings.TrimPrefix(subject, doSubject+"."), ".")
	if !strings.HasPrefix(subject, doSubject+".") || len(f) != 4 {
		return Sender{}, fmt.Errorf("%w: %q", ErrSubject, subject)
	}
	s := Sender{User: f[0], Role: Role(f[1]), Node: f[2], Run: f[3]}
	if !slices.Contains(Roles, s.Role) {
		return Sender{}, fmt.Errorf("%w: %q has no role", ErrSubject, subject)
	}
	return s, nil
}

// ResultSubject is where the parts of a result go.
func ResultSubject(run string, t Target) string {
	return resultSubject + "." + run + "." + t.Node + "." + t.process()
}

// ResultFilter has all results of a run.
func ResultFilter(run string) string { return resultSubject + "." + run + ".>" }

// ProgressSubject is where a node says how far it is.
func ProgressSubject(run, node string) string { return progressSubject + "." + run + "." + node }

// ProgressFilter has what all nodes say of a run.
func ProgressFilter(run string) string { return progressSubject + "." + run + ".*" }

// AuditSubject is where a node says who did what.
func AuditSubject(node string) string { return auditSubject + "." + node }

// EventSubject is where a node says which rules came true.
func EventSubject(node string) string { return eventSubject + "." + node }

// RunSubject is where it is said what a run is of.
func RunSubject(user, run string) string { return runSubject + "." + user + "." + run }

// RunFilter has a run of whatever user.
func RunFilter(run string) string { return runSubject + ".*." + run }

// NodeSubject has the last that a node has said of itself.
func NodeSubject(node string) string { return nodeSubject + "." + node }

// AskSubject is where a user asks all nodes.
func AskSubject(user string) string { return askSubject + "." + user }

// Subjects that brokers keep, or nodes listen to, whole.
const (
	AllCommands = doSubject + ".>"
	AllResults  = resultSubject + ".>"
	AllProgress = progressSubject + ".>"
	AllAudit    = auditSubject + ".>"
	AllEvents   = eventSubject + ".*"
	AllAsk      = askSubject + ".*"
	AllRuns     = runSubject + ".>"
	AllNodes    = nodeSubject + ".*"
)

// Token makes a name fit to be a word of a subject: letters, digits, - and _ stay.
func Token(name string) string {
	t := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '-'
	}, name)
	if t == "" {
		return "-"
	}
	return t
}
