// Package fleet knows what is said between the nodes of a fleet and the commands that
// use them, without knowing how it is carried: a [Command] asks a node to look into one
// JVM, a [Result] is what came of it.
//
// Every command has an id, and there is one result for each id. Messages may come twice,
// late, or in any order; [Gather] puts results together so that each counts once. The
// package stands on [export] for reports; nothing in it does I/O.
//
// Errors are plain texts for people, except where a function names its kind. Values are
// for one goroutine at a time.
package fleet
