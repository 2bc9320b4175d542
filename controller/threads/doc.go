// Package threads reads what a JVM, or a sampler of it, says of its threads: states, stacks, locks held and
// waited for. It finds deadlocks and threads with alike stacks.
//
// A thread dump (attach command threaddump -l) is taken while all threads stand still,
// so who holds what and who waits for what fits together: a circle of threads of which
// each waits, without a time limit, for a lock that the next one owns, never ends. Owners
// are known of monitors and of the exclusive locks of java.util.concurrent
// (AbstractOwnableSynchronizer). Who holds a read lock, a semaphore's permits or a latch,
// nobody knows: a circle through these is not found. Nor are virtual threads that are not
// mounted: a thread dump lacks them.
//
// From outside ([Outside]) threads are not read at one moment: a deadlock is one if a later look has it, too
// ([Confirmed]).
//
// A dump is text that holds names of the target's own choosing; what does not look like a
// dump is left out. Parse never fails and is safe for concurrent use.
package threads
