// Package calibration measures what probes cost in a target: the agent runs a sample with and without
// them, in batches, of which package calibrate makes the costs. It can do so before a recording begins
// and beside one that is on, again and again, since machines are fast and slow by turns.
//
// A [Calibrator] knows the data file and the sample; of the session it knows a [Host]. A session's
// loop owns it: all its methods are the loop's, and nothing else may call them.
package calibration

import "github.com/rivulet-profiler/rivulet/jvmside/wire"

// Method ids of the sample, above those of the ledger.
const (
	SampleCaller = wire.Sample
	SampleCallee = wire.Sample + 1
)

// Counts tells whether calls of a mode are only counted: they have no time of their own.
func Counts(mode byte) bool { return mode == wire.ModeCounted || mode == wire.ModeLeaf }
