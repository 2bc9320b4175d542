package link

import (
	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// A Command is a message to the agent's thread, which carries commands out one
// after the other.
type Command interface {
	Message
	command() uint8
}

// Commands makes an empty command of each type.
var Commands = map[uint8]func() Command{
	wire.CmdList:        func() Command { return new(List) },
	wire.CmdFetch:       func() Command { return new(Fetch) },
	wire.CmdRetransform: func() Command { return new(Retransform) },
	wire.CmdStop:        func() Command { return new(Stop) },
	wire.CmdGo:          func() Command { return new(Go) },
	wire.CmdFind:        func() Command { return new(Find) },
	wire.CmdCalibrate:   func() Command { return new(Calibrate) },
	wire.CmdNames:       func() Command { return new(ListNames) },
	wire.CmdFlight:      func() Command { return new(Flight) },
}

// List asks for the loaded classes: [Loaders] and [Classes].
type List struct {
	JDK bool // from now on, all of the JDK's too
}

// Fetch asks for class files: [Files].
type Fetch struct{ Classes []cha.ClassID }

// Retransform asks for a redefinition: [Transform] for each class, then [Batch].
type Retransform struct {
	Batch   uint32 // its number
	All     bool   // also classes that are not initialized; else these are left to the thread that waits
	Classes []cha.ClassID
}

// Stop ends the session: every class is restored, then comes [Restored].
type Stop struct {
	Gently bool // without the controller, at the pace of the JVM's compilers; nothing comes then
}

// Go lets a program that waits at its start go on.
type Go struct{}

// Find asks which loaders could find a class: [Found].
type Find struct{ Name string }

// Calibrate runs the sample with and without probes: [Calibrated], until its reply ends it.
type Calibrate struct {
	Number        uint32 // of the calibration
	Calls         uint32 // of the first batch
	Leaf          bool   // with the probe of leaf methods
	Plain, Probed []byte // class files; empty for those of the last time
}

// ListNames asks for the names of the JDK's loaded classes: [Names].
type ListNames struct{}

// Flight has the agent end a recording of Flight Recorder's if it loses the controller.
type Flight struct{ Recording string }

func (*List) command() uint8        { return wire.CmdList }
func (*Fetch) command() uint8       { return wire.CmdFetch }
func (*Retransform) command() uint8 { return wire.CmdRetransform }
func (*Stop) command() uint8        { return wire.CmdStop }
func (*Go) command() uint8          { return wire.CmdGo }
func (*Find) command() uint8        { return wire.CmdFind }
func (*Calibrate) command() uint8   { return wire.CmdCalibrate }
func (*ListNames) command() uint8   { return wire.CmdNames }
func (*Flight) command() uint8      { return wire.CmdFlight }

func (m *List) fields(f *fields)  { f.flag("jdk", &m.JDK) }
func (m *Fetch) fields(f *fields) { f.classes(&m.Classes) }
func (m *Retransform) fields(f *fields) {
	f.u32("batch", &m.Batch)
	f.flag("all", &m.All)
	f.classes(&m.Classes)
}
func (m *Stop) fields(f *fields) { f.flag("gently", &m.Gently) }
func (*Go) fields(*fields)       {}
func (m *Find) fields(f *fields) { f.str("name", &m.Name) }
func (m *Calibrate) fields(f *fields) {
	f.u32("number", &m.Number)
	f.u32("calls", &m.Calls)
	f.flag("form", &m.Leaf)
	f.block("class", &m.Plain)
	f.block("class", &m.Probed)
}
func (*ListNames) fields(*fields)  {}
func (m *Flight) fields(f *fields) { f.str("recording", &m.Recording) }
