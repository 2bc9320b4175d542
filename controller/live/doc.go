// Package live is the model of what a page or a terminal shows while something is
// recorded: one JVM, the recording of it, and the snapshots that were kept.
//
// The package owns the interfaces that it needs: a [Backend] finds JVMs and attaches,
// a [Session] is one attached JVM. Those who show the model (package web, cli/console,
// cli/tui) import this package; it imports neither them nor package session, and knows
// nothing of HTTP or of terminals.
//
// A [Live] reads a [Frame], an immutable picture of the recording, at most twice a
// second, for at most a tenth of the time, and only while somebody looks. A [Query]
// says what one viewer has on its screen. The answer, a [View], is cut out of the
// newest frame: rows are sorted and cut here, so the answer's size depends on the
// viewer's window, never on the tree's. What a frame computes for one viewer it keeps
// for the others.
//
// Methods, paths and threads have numbers that stay the same in all frames and all
// snapshots of a Live, so that a viewer can speak of a node that it saw before, in this
// tree or in another.
//
// Exported methods are safe for concurrent use unless they say otherwise. Times are in
// ns and sizes in bytes, unless a field says otherwise.
//
// Errors of a [Live] wrap [ErrBusy], [ErrPhase], [ErrInput] or [ErrNoSnapshot], are the
// backend's, or the context's where that ends first.
package live
