// Package session is one attached JVM from attach to detach: its room in the
// target, the conversation with the agent, the hierarchy of its classes, the
// scheme at work, the recording, and the way out.
//
// A Session owns every goroutine that works for it. One of them, the loop,
// owns all state of the analysis (hierarchy, ledger, scheme) and handles one
// message or one call at a time; the others only beat the heart, hear the
// bell, grow the data file and watch the target's life. Exported methods are
// safe for concurrent use.
//
// The target is never made to wait for anything but the loop, and never
// without bound: see docs/decisions.
//
// Errors of exported methods wrap [ErrExited] where the target has gone, [ErrSilent] where
// its agent does not answer, [ErrNotRecording] where nothing is recorded, or are the
// context's where that ends first. What a method returns beyond these its comment says.
package session
