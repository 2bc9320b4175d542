package probe

import "github.com/rivulet-profiler/rivulet/hotswap/classfile"

// Clocks names the probe class in the target and its three static methods
// that time a method.
type Clocks struct {
	Class string // internal name
	Begin string // (I)J
	Stop  string // (IJ)V
	Fail  string // (IJ)V
}

// Timers returns the injector of the timers (Dmitriev, "Design of JFluid",
// section 5, light region timing):
//
//	long from = Clocks.Begin(id)     at the entry, before everything
//	Clocks.Stop(id, from)            before each return
//	catch (Throwable t) { Clocks.Fail(id, from); throw t; }   around everything
//
// Handlers that were there stay as they are: nothing has to be put right when
// a callee ends by an exception. The same holds for constructors as for token
// probes: an exception out of super() or this() ends the invocation unseen.
func Timers(c Clocks) *Injector {
	const begin, stop, fail = 0, 1, 2
	in, err := NewInjector(Program{
		Calls: []Call{{c.Class, c.Begin, "(I)J"}, {c.Class, c.Stop, "(IJ)V"}, {c.Class, c.Fail, "(IJ)V"}},
		Local: classfile.VLong,
		Entry: Sequence{{Kind: StepID}, {Kind: StepCall, Call: begin}, {Kind: StepStore}},
		Exit:  Sequence{{Kind: StepID}, {Kind: StepLoad}, {Kind: StepCall, Call: stop}},
		Caught: Sequence{
			{Kind: StepID}, {Kind: StepLoad}, {Kind: StepCall, Call: fail}, {Kind: StepOp, Op: classfile.OpAthrow},
		},
	})
	if err != nil {
		panic(err) // the program above is wrong
	}
	return in
}
