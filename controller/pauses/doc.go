// Package pauses tells what stops all threads of a JVM, from outside, by its counters
// in hsperfdata: collections ([Collections]), and the safepoints of redefinitions
// ([Safepoints]), by which [Pace] says how many classes to redefine at a time.
package pauses
