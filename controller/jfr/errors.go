package jfr

import (
	"errors"
	"fmt"
)

// These say what kind of failure a [*FormatError] is; test with errors.Is.
var (
	// ErrNotJFR: the file does not begin as a recording does.
	ErrNotJFR = errors.New("not a Flight Recorder file")
	// ErrVersion: a format that is not read: that of Oracle's JDK 7 and 8.
	ErrVersion = errors.New("unsupported version of the format")
	// ErrCut: the file ends inside of a chunk. What came before is valid,
	// and so are the events that [Reader.Next] and [Chunk.Events] give of that chunk.
	ErrCut = errors.New("the recording is cut off")
	// ErrRunning: the chunk is being written by a JVM before JDK 14, which completes its
	// header at the end only. Have the JVM dump the recording.
	ErrRunning = errors.New("the chunk is still being written")
	// ErrMemory: the chunk's types and pools need more than [Options.Memory].
	ErrMemory = errors.New("constant pools are too large")
)

// A FormatError reports bytes that are no recording.
type FormatError struct {
	Offset int64  // of what is wrong, from the start of the file
	What   string // what is wrong
	Err    error  // one of the above, an error of reading, or nil
}

func (e *FormatError) Error() string {
	switch {
	case e.Err != nil && e.What != "":
		return fmt.Sprintf("flight recording: offset %d: %s: %v", e.Offset, e.What, e.Err)
	case e.Err != nil:
		return fmt.Sprintf("flight recording: offset %d: %v", e.Offset, e.Err)
	}
	return fmt.Sprintf("flight recording: offset %d: %s", e.Offset, e.What)
}

func (e *FormatError) Unwrap() error { return e.Err }
