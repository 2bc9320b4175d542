// Package jfr reads recordings of JDK Flight Recorder: files that a JVM has written, and
// the chunk that a running recording is writing to. It reads format version 2, that of
// JDK 8u262, of JDK 11 and of everything later.
//
// A recording is a sequence of chunks. Each describes itself: it has the types of its
// events ("metadata"), the values that events refer to ("constant pools", in
// checkpoints), and the events. A [Reader] goes from chunk to chunk; a [Chunk] gives its
// events one at a time, in the order of the file. docs/jfr.md has the layout.
//
// Memory is bounded: of a chunk only its types and pools are kept, as bytes with an
// index, and no more than [Options.Memory]. All input is taken as hostile: lengths are
// checked before anything is reserved, and a [*FormatError] names the offset. What was
// read before it is valid.
//
// Readers and chunks are not safe for concurrent use.
package jfr
