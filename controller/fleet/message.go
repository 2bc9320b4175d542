package fleet

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// Schema is the version of the messages. A node refuses commands of another.
const Schema = 1

// A Target is one process of one node.
type Target struct {
	Node  string `json:"node"`
	PID   int    `json:"pid"`   // as the node sees it
	Start uint64 `json:"start"` // when it began, in clock ticks since its machine booted
}

func (t Target) process() string { return fmt.Sprintf("%d-%d", t.PID, t.Start) }

// Key names the target.
func (t Target) Key() string { return t.Node + "/" + t.process() }

// Compare orders targets by node and pid.
func (t Target) Compare(o Target) int {
	return cmp.Or(strings.Compare(t.Node, o.Node), cmp.Compare(t.PID, o.PID), cmp.Compare(t.Start, o.Start))
}

// What nodes can be asked to do.
const (
	DoSample  = "sample"  // sample stacks
	DoProfile = "profile" // record below roots
	DoHeap    = "heap"    // count the objects of each class
	DoLocks   = "locks"   // deadlocks, and who waits for whom
	DoStop    = "stop"    // end what is going on of a run, and begin nothing more of it
)

// needs is the least role for what is asked; stopping takes that of the run.
var needs = map[string]Role{DoSample: RoleSample, DoLocks: RoleSample, DoHeap: RoleRecord, DoProfile: RoleRecord}

// Heap says how to count objects.
type Heap struct {
	All bool `json:"all,omitempty"` // dead ones, too: without a full collection before
}

// Locks says how to look at locks: the options of rivulet locks.
type Locks struct {
	Length    time.Duration `json:"length_ns,omitempty"` // 0: deadlocks only
	Hz        int           `json:"hz,omitempty"`
	Exact     bool          `json:"exact,omitempty"` // by Flight Recorder, which takes RoleRecord
	Threshold time.Duration `json:"threshold_ns,omitempty"`
}

// NeedOf is the role that a command is sent by: the least that it takes, or to stop
// something, the sender's.
func NeedOf(do string, own Role) Role {
	if r, ok := needs[do]; ok {
		return r
	}
	return own
}

// A Run is what a run is of, kept so that its results can be collected later.
type Run struct {
	Schema  int       `json:"schema"`
	Run     string    `json:"run"`
	User    string    `json:"user"`
	Begun   time.Time `json:"begun"`
	Command Command   `json:"command"` // Target is empty
	Targets []Found   `json:"targets"`
}

// A Command asks a node to look into one of its JVMs. Run and Target make its id.
type Command struct {
	Schema    int             `json:"schema"`
	Do        string          `json:"do"`
	Run       string          `json:"run"`
	Target    Target          `json:"target"`
	Recording *spec.Recording `json:"recording,omitempty"` // of DoProfile
	Sample    *Sample         `json:"sample,omitempty"`    // of DoSample
	Heap      *Heap           `json:"heap,omitempty"`      // of DoHeap
	Locks     *Locks          `json:"locks,omitempty"`     // of DoLocks
	Seconds   float64         `json:"seconds"`             // how long it takes at most
	Before    time.Time       `json:"before,omitzero"`     // it is not to begin later

	FullHeap bool `json:"full_heap,omitempty"` // of DoProfile: even in a JVM whose heap is full
}

// A Sample says how to sample: the options of rivulet sample.
type Sample struct {
	Hz      int    `json:"hz,omitempty"` // 0 is what is usual
	Wall    bool   `json:"wall,omitempty"`
	Threads string `json:"threads,omitempty"`
	Native  bool   `json:"native,omitempty"`
	Inlined bool   `json:"inlined,omitempty"`
	Source  string `json:"source,omitempty"` // "" is the best one that is possible
	Frames  int    `json:"frames,omitempty"`
	Lines   bool   `json:"lines,omitempty"`

	Roots []string `json:"roots,omitempty"` // keep samples below these alone

	// Last, if it is above zero, asks for the last samples of so much time that the node has kept, in place of new
	// ones; of the others only Frames and Lines count then.
	Last time.Duration `json:"last_ns,omitempty"`
}

// ID is the command's id, the same in each copy; to stop something is another command.
func (c *Command) ID() string {
	id := c.Run + "/" + c.Target.Key()
	if c.Do == DoStop {
		id += "/" + DoStop
	}
	return id
}

// longest bounds what a command may ask for.
const longest = 24 * time.Hour

// Length is how long it takes at most.
func (c *Command) Length() time.Duration { return time.Duration(c.Seconds * 1e9) }

// ErrForbidden is a command that its sender's role does not allow.
var ErrForbidden = errors.New("not allowed")

// ReadCommand reads a command that came by a subject. The error says what is wrong with
// it: [ErrSubject], [ErrForbidden], options that make no sense, or another version. The
// command is returned all the same where it could be read.
func ReadCommand(subject string, data []byte) (*Command, Sender, error) {
	s, err := ParseDo(subject)
	if err != nil {
		return nil, s, err
	}
	c := &Command{}
	if err := json.Unmarshal(data, c); err != nil {
		return nil, s, fmt.Errorf("not a command: %w", err)
	}
	switch {
	case c.Schema != Schema:
		return c, s, fmt.Errorf("the command is of version %d, this node knows %d: use the same version of Rivulet", c.Schema, Schema)
	case c.Run != s.Run || c.Do != DoStop && c.Target.Node != s.Node:
		return c, s, fmt.Errorf("%w: the command says another run or node than its subject", ErrForbidden)
	case c.Do == DoStop:
		return c, s, nil // who may stop a run is known to the node
	}
	role, known := needs[c.Do]
	switch {
	case !known:
		return c, s, fmt.Errorf("this node does not know %q: use the same version of Rivulet", c.Do)
	case !s.Role.May(role):
		return c, s, fmt.Errorf("%w: %s takes the role %s, the command came by %s", ErrForbidden, c.Do, role, s.Role)
	case !(c.Seconds > 0 && c.Length() <= longest):
		return c, s, fmt.Errorf("%v seconds: a time above zero, and of a day at most, is needed", c.Seconds)
	case c.Target.PID <= 0:
		return c, s, errors.New("the command names no process")
	case c.Do == DoProfile && c.Recording == nil:
		return c, s, errors.New("the command says not what to record")
	case c.Do == DoProfile:
		return c, s, c.Recording.Validate()
	case c.Do == DoLocks && c.Locks != nil && c.Locks.Exact && !s.Role.May(RoleRecord):
		return c, s, fmt.Errorf("%w: exact locks take the role %s, the command came by %s", ErrForbidden, RoleRecord, s.Role)
	}
	if c.Sample == nil {
		c.Sample = &Sample{}
	}
	if c.Heap == nil {
		c.Heap = &Heap{}
	}
	if c.Locks == nil {
		c.Locks = &Locks{}
	}
	return c, s, nil
}

// A Head is what a result says beside its report.
type Head struct {
	Schema  int     `json:"schema"`
	Run     string  `json:"run"`
	Do      string  `json:"do"`
	Target  Target  `json:"target"`
	JVM     JVM     `json:"jvm"`
	Error   string  `json:"error,omitempty"`   // why there is no report, or what it lacks
	Partial bool    `json:"partial,omitempty"` // the report ends before the recording did
	Size    int64   `json:"size"`              // bytes of the report as sent; 0 if there is none
	Sum     string  `json:"sum,omitempty"`     // their SHA-256, in hex
	Object  string  `json:"object,omitempty"`  // its name in the object store; "" if it is in the message
	Seconds float64 `json:"seconds"`           // from accepting the command to its end
}

// ID is the same in each copy of a result, and differs for one with another report.
func (h *Head) ID() string { return h.Run + "/" + h.Target.Key() + "/" + h.Sum[:min(len(h.Sum), 16)] }

// MostInline is how many bytes of a report are sent in the message itself, which brokers
// bound to a megabyte unless told otherwise; larger ones go through the object store.
const MostInline = 256 << 10

// ErrDamaged is a result that can't be true: of another run, or not as its sum says.
var ErrDamaged = errors.New("damaged result")

// Pack makes the message of a result: its head in a line, and its report, if that is not
// in the object store.
func Pack(h *Head, report []byte) ([]byte, error) {
	line, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	return append(append(line, '\n'), report...), nil
}

// Unpack reads what [Pack] has made; the error wraps [ErrDamaged]. A report that is in
// the object store is nil.
func Unpack(data []byte) (*Result, error) {
	line, report, ok := bytes.Cut(data, []byte{'\n'})
	r := &Result{}
	if err := json.Unmarshal(line, &r.Head); err != nil || !ok {
		return nil, fmt.Errorf("%w: no head", ErrDamaged)
	}
	switch {
	case r.Schema != Schema:
		return nil, fmt.Errorf("%w: %s is of version %d, this version of Rivulet reads %d", ErrDamaged, r.Target.Key(), r.Schema, Schema)
	case r.Object == "" && r.Size > 0:
		r.Report = report
		return r, r.Check()
	}
	return r, nil
}

// Seal fills in what a head says of its report.
func (h *Head) Seal(report []byte) {
	if h.Size = int64(len(report)); h.Size > 0 {
		h.Sum = sumOf(report)
	}
}

// Check compares the report with what the head says of it; the error wraps [ErrDamaged].
func (r *Result) Check() error {
	if int64(len(r.Report)) != r.Size || r.Size > 0 && sumOf(r.Report) != r.Sum {
		return fmt.Errorf("%w: the report of %s does not have the sum that it says", ErrDamaged, r.Target.Key())
	}
	return nil
}

func sumOf(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// States of a command at its node.
const (
	StateAccepted  = "accepted"
	StateRecording = "recording"
	StateEnded     = "ended"
)

// A Progress is how far a node is with a command.
type Progress struct {
	Target Target `json:"target"`
	State  string `json:"state"`
}

// An Audit is one line of who did what.
type Audit struct {
	Time   time.Time `json:"time"`
	Node   string    `json:"node"`
	User   string    `json:"user"`
	Role   Role      `json:"role"`
	Run    string    `json:"run"`
	Do     string    `json:"do"`
	PID    int       `json:"pid,omitempty"`
	Main   string    `json:"main,omitempty"`
	Roots  []string  `json:"roots,omitempty"`
	What   string    `json:"what"` // accepted, refused, stopped, ended
	Detail string    `json:"detail,omitempty"`
}

// An Event is a rule that came true in a JVM that its node samples all the time.
type Event struct {
	Time   time.Time `json:"time"` // by the node's clock
	Found            // without arguments
	Rule   string    `json:"rule"`
	What   string    `json:"what"`             // what was measured, as a sentence without its end
	Method string    `json:"method,omitempty"` // that the rule is about, or whose share it named
}
