// Package event reads what "--record events" writes: for each thread record
// of the data file a stream of words that say what happened to the tree's
// cursor, in order (package wire describes words and rings).
//
// [Rings] drains the streams while the target writes them. A [Builder] makes
// of them the same tree that the target keeps itself, and hands each root
// invocation that has ended to a [Slowest] and each slice of time to a
// [Timeline], where there are any. With tasks followed, each of the slowest has a
// [Path]: what its end waited for (decision 18). [Word] has a text form, in
// which a [Dump] writes a recording's first ones, for tests and bug reports.
//
// Guarantees: whatever the target writes, nothing here reads outside the
// mapping, loops, or grows beyond its bounds; what can't be is counted as bad
// and left out. Order holds within a stream. Streams of different records are
// put in order by their times alone, which with the tick clock are those of
// the last tick.
//
// Not seen: when a thread ends, since no probe runs then; calls in modes
// without events; which of two events on different threads came first.
//
// The encoding follows Dmitriev, "Design of JFluid", section 5.2: entry, exit, and a time to be
// left out ("adjust time") where the profiler made a thread wait.
//
// Errors of functions that read a text name its line. Reading a data file fails with an
// error that wraps [ErrGone] where the file was truncated.
package event
