// Package locks says who waits for whom at which lock: monitors, and the exclusive and shared
// locks of java.util.concurrent, by the contexts of waiter and owner.
//
// Three sources feed a [Table]. Samples from outside ([Samples]) and thread dumps ([Dumps]) see who waits
// at single moments, and what the owner does meanwhile: times are estimates with an error, counts are lower bounds.
// Events of Flight Recorder ([Events]) have each wait with its length; of the owner they
// have the thread, and where it had entered the monitor only if it had waited for it, too.
//
// Waiting for a condition, a queue or a latch is no contention, and is left out.
//
// The types are not safe for concurrent use.
package locks
