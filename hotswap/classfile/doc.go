// Package classfile reads and writes Java class files (JVMS chapter 4).
//
// It knows the structure of every version from 45 (JDK 1.1) to [NewestMajor]:
// all constant kinds, members, the Code attribute with its instructions and
// the attributes inside it that hold code offsets or local-variable slots.
// Every other attribute is carried as bytes. [Parse] followed by
// [Class.Bytes] without a change gives the same bytes, and constants are only
// ever appended, so indices that this package does not understand stay right.
//
// Names and strings are modified UTF-8 (§4.4.7) and stay that way: a Go string
// that comes from here holds the raw bytes of the CONSTANT_Utf8 and may be
// invalid UTF-8.
//
// The package is pure: bytes in, values out; nothing in it touches a JVM or a
// file. It is made for hostile input: every count is checked against the bytes
// that remain before memory is taken, and no input makes it panic. A [Class]
// is not safe for concurrent use; different classes are independent.
//
// It cannot see whether a class would pass the JVM's verification: Parse checks
// the form of the file (§4.8), not what the code does.
//
// Errors: bytes that break JVMS chapter 4 are a [*FormatError]; a valid class that the
// package does not handle wraps [ErrUnsupported]; what has no room in a full table of a
// class file is a [*LimitError]. Functions that say nothing of errors return these.
package classfile
