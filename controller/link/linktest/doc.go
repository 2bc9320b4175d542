// Package linktest has an agent without a JVM: it lists classes, gives their bytes,
// takes new ones, and has threads that load classes, enter methods and call what no
// code names. It runs in the test's own process and speaks with a session through
// the files that the agent in a target has, so a session can't tell the difference
// until it looks at the process.
//
// It is no model of a JVM: it runs no code and records no calls. What a scheme makes of
// calls is simulated in package scheme.
//
// Errors wrap [ErrGone], or say what of a reply made no sense.
package linktest
