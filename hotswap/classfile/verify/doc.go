// Package verify type-checks methods as JVMS §4.10.1 says, with stack maps,
// and as HotSpot does where the two differ.
//
// The JVM does not verify classes of the boot loader when they are redefined,
// so wrong bytes crash the target. [Method] finds them before they are sent.
// It accepts what HotSpot accepts: interfaces count as java/lang/Object in
// assignments, and padding of switches may be anything from version 51 on.
//
// Subtyping is asked through [Hierarchy]. An assignment from or to a class
// that the hierarchy does not know is accepted: rewriting adds no assignment
// between classes, and those of the original code have passed the JVM when the
// class was linked. Access to protected members (§4.10.1.8) is checked when
// the hierarchy is [Protected] too.
//
// Methods without stack maps that the JVM hands to its old, inferring verifier
// (class files before version 50, and those of version 50 that fall back) are
// not covered: they give [ErrOldVerifier].
package verify
