// Package heap answers who keeps what alive in a heap dump: objects and bytes by class
// and by loader, what each object retains, shortest paths from the roots of garbage
// collection, and what looks like a leak.
//
// [Open] reads a dump twice. The first pass finds all objects, classes and roots; an
// object's number is its place in the order of addresses, and a set of bits over the
// addresses, with counts, turns an address into a number in constant time and one and
// a half bytes an object. The second pass, which all cores share, writes each object's
// references as differences of numbers, about two bytes each.
//
// Dominators are those of Lengauer and Tarjan (TOPLAS 1979), the simple version, in
// four words for each object that is not simple (see findSimple). Iterating (Cooper, Harvey and Kennedy 2001) and Semi-NCA
// (Georgiadis 2005) take less memory, but both walk up chains of dominators one by one:
// a linked list of a million nodes whose values another collection has as well costs
// them 10^11 steps. Path compression bounds ours by E log N.
//
// What is exact: counts, references, reachability, dominators and with them retained
// sizes, given the sizes of objects. A dump has no sizes: they are worked out from
// fields and from the distances of neighbours ([Heap.Layout]), and may differ from the
// JVM's where it pads fields.
//
// References: an object that is reachable without the referents of weak, soft, phantom
// and final references is dominated and reached as if these were not there. Otherwise
// such a reference counts as any other, so that what only it keeps has an owner.
// Classes of the JDK's own loaders are roots. Locals of a thread hang below the thread.
//
// Memory: [Options].MaxMemory bounds what the process has resident. Arrays that don't
// fit are mapped from files without a name, whose pages are given back when the limit is
// near.
//
// A Heap may be read concurrently.
//
// Errors: of a dump that can't be read, those of package hprof; [ErrMemory] where the
// memory that may be used does not do; [ErrQuery] for an expression. The error of a
// function that writes is the writer's.
package heap
