// Package verify type-checks methods as JVMS §4.10.1 says, with stack maps,
// and as HotSpot does where the two differ.
//
// The JVM does not verify classes of the boot loader when they are redefined,
// so wrong bytes crash the target. [Method] finds them before they are sent.
// It accepts what HotSpot accepts: interfaces count as java/lang/Object in
// assignments, and padding of switches may be anything from version 51 on.
//
// Names, descriptors, access flags and the tables for debuggers, which HotSpot
// checks when it parses a class, are checked here: [Format] and [Method].
//
// Subtyping is asked through [Hierarchy]. An assignment from or to a class
// that the hierarchy does not know is accepted: rewriting adds no assignment
// between classes, and those of the original code have passed the JVM when the
// class was linked. Access to protected members (§4.10.1.8) is checked when
// the hierarchy is [Protected] too.
//
// Methods of class files before version 50, which have no stack maps, are
// verified by inference (§4.10.2), and so are those of version 50 whose stack
// maps don't verify, as HotSpot does unless told not to. Only methods with jsr
// or ret, which nothing here rewrites, are not covered: [ErrSubroutines].
package verify
