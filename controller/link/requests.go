package link

import (
	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// A Request is a message of the target's, which waits for the reply.
type Request interface {
	Message
	request() uint32
}

// TypeOf is a request's REQ_ number.
func TypeOf(q Request) uint32 { return q.request() }

// A RequestRow is a row of [Requests].
type RequestRow struct {
	New   func() Request
	Reply func() Message // nil where the reply is empty
}

// Requests are the requests by type.
var Requests = map[uint32]RequestRow{
	wire.ReqHello:      {New: func() Request { return new(Hello) }},
	wire.ReqLoaders:    {New: func() Request { return new(Loaders) }},
	wire.ReqClasses:    {New: func() Request { return new(Classes) }},
	wire.ReqBytes:      {New: func() Request { return new(Files) }},
	wire.ReqTransform:  {func() Request { return new(Transform) }, func() Message { return new(Transformed) }},
	wire.ReqReveal:     {func() Request { return new(Reveal) }, func() Message { return new(Left) }},
	wire.ReqRevealed:   {func() Request { return new(Revealed) }, func() Message { return new(Left) }},
	wire.ReqBatch:      {New: func() Request { return new(Batch) }},
	wire.ReqRestored:   {New: func() Request { return new(Restored) }},
	wire.ReqFound:      {New: func() Request { return new(Found) }},
	wire.ReqCalibrated: {func() Request { return new(Calibrated) }, func() Message { return new(NextBatch) }},
	wire.ReqTargets:    {func() Request { return new(Targets) }, func() Message { return new(Left) }},
	wire.ReqNames:      {New: func() Request { return new(Names) }},
}

// Hello is the agent's first message.
type Hello struct {
	Java        string // version
	Nano        int64  // the target's nanoTime
	Retransform bool   // the JVM can retransform classes
	PID         uint32 // as the target sees it, 0 where it does not
}

// Loaders are class loaders that the controller has not heard of.
type Loaders struct{ Rows []Loader }

// A Loader is a row of [Loaders].
type Loader struct {
	ID     uint32
	Kind   uint8 // a LOADER_ code
	Parent uint32
	Class  string // of the loader
	Name   string // tells it from others of its class
}

// Classes are a part of a listing of loaded classes.
type Classes struct {
	Last bool // no other part follows
	Rows []Class
}

// A Class is a row of [Classes].
type Class struct {
	ID         cha.ClassID
	Access     uint32
	State      uint8       // CLASS_ bits
	Super      cha.ClassID // no name: none
	Interfaces []cha.ClassID
	Place      string // where its file lies, [wire.SamePlace] for that of the row before, "" where that is not known
}

// Files are class files that were asked for.
type Files struct {
	Last bool
	Rows []File
}

// A File is a row of [Files].
type File struct {
	ID    cha.ClassID
	Bytes []byte // empty where none was found
}

// Transform has a class that is being loaded or retransformed: what should its bytes be?
type Transform struct {
	ID    cha.ClassID
	Flags uint8 // HOOK_ bits

	// Of a class that is being loaded inside the subgraph; 0 and "" of all others.
	Token  int64 // tag and node of the invocation that loads it
	Thread int64 // the id of the thread
	Place  string

	Nano  int64 // the target's nanoTime when the class came
	Bytes []byte
}

// Transformed is the reply to [Transform].
type Transformed struct {
	Answer   uint8  // a TRANSFORM_ code
	Bytes    []byte // the class with probes
	Original []byte // what restoring must yield, where that is not what came
}

// Reveal says that a thread has entered a fresh method, and waits.
type Reveal struct{ Method int32 }

// Left is the reply to [Reveal], [Revealed] and [Targets]: classes that the thread has to
// retransform itself. An empty reply, other than an empty list, is that it can't be done now.
type Left struct{ Classes []cha.ClassID }

// Revealed says that a thread has done its part.
type Revealed struct {
	Method  int32 // or the number of [Targets]
	Refused []Refusal
	Done    []cha.ClassID // those that were refused included
}

// A Refusal is a class that the JVM did not take.
type Refusal struct {
	ID     cha.ClassID
	Reason string
}

// Batch says that a batch is done.
type Batch struct {
	Number uint32
	Took   int64     // ns
	Rows   []Outcome // of classes that were not retransformed
}

// An Outcome is a row of [Batch].
type Outcome struct {
	ID     cha.ClassID
	Code   uint8 // an OUTCOME_ code
	Reason string
}

// Restored is the agent's last message.
type Restored struct {
	Classes uint32
	Took    int64 // ns
	Failed  []Refusal
}

// Found has the loaders that could find a class.
type Found struct {
	Name    string
	Loaders []uint32 // 0 is the JDK's own
}

// Calibrated is a batch of a calibration.
type Calibrated struct {
	Number       uint32
	Calls        uint32 // 0: the sample could not be made
	Bare, Probed int64  // ns, of all calls
}

// NextBatch is the reply to [Calibrated].
type NextBatch struct{ Calls uint32 } // 0 ends it

// Targets are methods that a thread is about to call in a way that no code tells.
type Targets struct {
	Number    int32 // negative
	Gone      bool  // the thread has gone on
	Redefined int64 // how often classes had been redefined when it asked
	Methods   []cha.MethodID
}

// Names are a part of a listing of the JDK's loaded classes.
type Names struct {
	Last  bool
	Names []string
}

func (*Hello) request() uint32      { return wire.ReqHello }
func (*Loaders) request() uint32    { return wire.ReqLoaders }
func (*Classes) request() uint32    { return wire.ReqClasses }
func (*Files) request() uint32      { return wire.ReqBytes }
func (*Transform) request() uint32  { return wire.ReqTransform }
func (*Reveal) request() uint32     { return wire.ReqReveal }
func (*Revealed) request() uint32   { return wire.ReqRevealed }
func (*Batch) request() uint32      { return wire.ReqBatch }
func (*Restored) request() uint32   { return wire.ReqRestored }
func (*Found) request() uint32      { return wire.ReqFound }
func (*Calibrated) request() uint32 { return wire.ReqCalibrated }
func (*Targets) request() uint32    { return wire.ReqTargets }
func (*Names) request() uint32      { return wire.ReqNames }

func (m *Hello) fields(f *fields) {
	f.str("java", &m.Java)
	f.i64("nanoTime", &m.Nano)
	f.flag("retransform", &m.Retransform)
	f.u32("pid", &m.PID)
}

func (m *Loaders) fields(f *fields) {
	rows(f, &m.Rows, func(f *fields, l *Loader) {
		f.u32("id", &l.ID)
		f.u8("kind", &l.Kind)
		f.u32("parent", &l.Parent)
		f.str("class", &l.Class)
		f.str("name", &l.Name)
	})
}

func (m *Classes) fields(f *fields) {
	f.flag("last", &m.Last)
	rows(f, &m.Rows, func(f *fields, c *Class) {
		f.class("loader", "name", &c.ID)
		f.u32("access", &c.Access)
		f.u8("state", &c.State)
		f.class("superLoader", "super", &c.Super)
		rows(f, &c.Interfaces, func(f *fields, i *cha.ClassID) { f.class("interfaceLoader", "interface", i) })
		f.str("place", &c.Place)
	})
}

func (m *Files) fields(f *fields) {
	f.flag("last", &m.Last)
	rows(f, &m.Rows, func(f *fields, r *File) {
		f.class("loader", "name", &r.ID)
		f.block("file", &r.Bytes)
	})
}

func (m *Transform) fields(f *fields) {
	f.class("loader", "name", &m.ID)
	f.u8("flags", &m.Flags)
	f.i64("token", &m.Token)
	f.i64("thread", &m.Thread)
	f.i64("nanoTime", &m.Nano)
	f.str("place", &m.Place)
	f.block("class", &m.Bytes)
}

func (m *Transformed) fields(f *fields) {
	f.u8("answer", &m.Answer)
	f.block("class", &m.Bytes)
	f.block("original", &m.Original)
}

func (m *Reveal) fields(f *fields) { f.method("u32", "method", &m.Method) }
func (m *Left) fields(f *fields)   { f.classes(&m.Classes) }

func (m *Revealed) fields(f *fields) {
	f.method("u32", "method", &m.Method)
	f.refusals(&m.Refused)
	f.classes(&m.Done)
}

func (f *fields) refusals(v *[]Refusal) {
	rows(f, v, func(f *fields, r *Refusal) {
		f.class("loader", "name", &r.ID)
		f.str("reason", &r.Reason)
	})
}

func (m *Batch) fields(f *fields) {
	f.u32("batch", &m.Number)
	f.i64("ns", &m.Took)
	rows(f, &m.Rows, func(f *fields, o *Outcome) {
		f.class("loader", "name", &o.ID)
		f.u8("outcome", &o.Code)
		f.str("reason", &o.Reason)
	})
}

func (m *Restored) fields(f *fields) {
	f.u32("classes", &m.Classes)
	f.i64("ns", &m.Took)
	f.refusals(&m.Failed)
}

func (m *Found) fields(f *fields) {
	f.str("name", &m.Name)
	rows(f, &m.Loaders, func(f *fields, l *uint32) { f.u32("loader", l) })
}

func (m *Calibrated) fields(f *fields) {
	f.u32("number", &m.Number)
	f.u32("calls", &m.Calls)
	f.i64("bare ns", &m.Bare)
	f.i64("probed ns", &m.Probed)
}

func (m *NextBatch) fields(f *fields) { f.u32("calls", &m.Calls) }

func (m *Targets) fields(f *fields) {
	f.method("i32", "number", &m.Number)
	f.flag("gone", &m.Gone)
	f.i64("redefined", &m.Redefined)
	rows(f, &m.Methods, func(f *fields, t *cha.MethodID) {
		f.class("loader", "class", &t.Class)
		f.str("name", &t.Name)
		f.str("descriptor", &t.Desc)
	})
}

func (m *Names) fields(f *fields) {
	f.flag("last", &m.Last)
	rows(f, &m.Names, func(f *fields, s *string) { f.str("name", s) })
}
