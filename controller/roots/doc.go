// Package roots finds the methods that a root names among the loaded classes of a JVM, and
// helps people choose one: lists of classes and methods, near names where a name is wrong,
// what busy threads are in, and why a root records nothing.
//
// A [Catalog] is a view of a class hierarchy that somebody else owns; it changes nothing in
// the target. An [Outline] reads the classes from outside, without an agent.
package roots
