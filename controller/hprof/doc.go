// Package hprof reads heap dumps of HotSpot JVMs, JDK 8 to 25: the binary format
// that HPROF wrote first (JDK 1.2) and that jcmd GC.heap_dump writes today, with
// identifiers of 4 or 8 bytes, as one HEAP_DUMP record or in segments.
//
// A [Scanner] reads a dump from front to back in bounded memory; the elements of an
// array come in pieces. [Scanner.Mark] is a place where another Scanner can begin, so
// that several can share a dump. [File] is a dump on disk; what gzip has compressed
// is unpacked into a private file once, since an analysis reads a dump more than once.
//
// A dump is hostile input. Every length is checked against what is left of its
// segment and of the file before anything is read or allocated, and whatever is wrong
// is a [*FormatError] with the offset. What was read before it stays valid: a dump
// that is cut off, as by a full disk, is readable up to the cut.
//
// Files are read by pread, not mapped. A mapped file that somebody truncates kills the
// reader by SIGBUS, and its pages count as memory of the reader, which is to need a
// fraction of the dump's size.
//
// A File may be used concurrently. A Scanner is one goroutine's.
//
// The format: hprof_b_spec.h of JDK 6, heapDumper.cpp of the JDKs since.
package hprof
