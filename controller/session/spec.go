package session

import "github.com/rivulet-profiler/rivulet/controller/spec"

// A Recording says what to record.
type Recording = spec.Recording

// A ModeRule gives the methods that match a pattern a mode of their own.
type ModeRule = spec.ModeRule

// Values of the options of a [Recording].
const (
	NativesOff = spec.NativesOff
	NativesOn  = spec.NativesOn
	NativesAll = spec.NativesAll

	LeavesCounted = spec.LeavesCounted
	LeavesTimed   = spec.LeavesTimed

	ProbesAuto    = spec.ProbesAuto
	ProbesInlined = spec.ProbesInlined
	ProbesCalled  = spec.ProbesCalled
)
