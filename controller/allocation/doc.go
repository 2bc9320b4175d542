// Package allocation knows the types that allocation probes count: their names, how large
// their objects are, and how a JVM lays arrays out (arrayOop.hpp of HotSpot). Sizes of classes
// are read from the target's memory by others, and given to a [Table].
//
// It can't tell the size of an object whose class may have a subclass that was created in its
// place (Object.clone, reflection).
package allocation
