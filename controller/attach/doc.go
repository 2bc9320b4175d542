// Package attach finds running HotSpot JVMs on Linux and talks to their attach
// listener: JFluid's "signal plus file", as the JDKs 8 to 25 speak it.
//
// [List] and [Inspect] only read: /proc, and the counters that the JVM itself
// publishes in hsperfdata. [Open] is the first thing that a target notices: it
// creates a trigger file, sends SIGQUIT and waits for the listener's socket.
// SIGQUIT kills a process that does not catch it and makes a JVM with attach
// disabled print a thread dump, so it is sent only when the process is known to
// be a HotSpot JVM that is past its start-up, that catches SIGQUIT, whose
// attach mechanism is known to be on, and that is not stopped or frozen. The
// signal goes through a pidfd, so never to a process that reuses the number.
// The trigger file is removed on every path out, cancellation included, with one
// exception: a target that is stopped between the last check and the signal's
// arrival keeps it, told in the error, until the next Open.
//
// Every wait has a deadline: the context's, or a default one.
//
// A failure, other than the caller's own cancellation, is an [*Error] that
// names the process, the cause and the way out in one line, and matches one of
// the Err variables with errors.Is.
//
// All functions are safe for concurrent use, and so is a [VM]; the target
// answers one request at a time.
//
// What it cannot see: options of a JVM that is embedded in a program of its own
// and writes no hsperfdata (Open then declines to signal it), and JVMs in PID
// namespaces that are not below ours. OpenJ9 and GraalVM native images speak
// other protocols and are recognised only to say so. 64-bit Linux only.
package attach
