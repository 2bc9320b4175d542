package hprof

import (
	"errors"
	"fmt"
)

// These say what kind of failure a [*FormatError] is; test with errors.Is.
var (
	// ErrNotHprof: the file does not begin as a heap dump does.
	ErrNotHprof = errors.New("not a heap dump")
	// ErrCut: the dump ends inside of a record. What came before it is valid.
	ErrCut = errors.New("the dump is cut off")
)

// A FormatError reports bytes that are no heap dump.
type FormatError struct {
	Offset int64  // of the record that is wrong, from the start of the unpacked dump
	What   string // what is wrong with it
	Err    error  // ErrNotHprof, ErrCut, an error of reading, or nil
}

func (e *FormatError) Error() string {
	switch {
	case e.Err != nil && e.What != "":
		return fmt.Sprintf("heap dump: offset %d: %s: %v", e.Offset, e.What, e.Err)
	case e.Err != nil:
		return fmt.Sprintf("heap dump: offset %d: %v", e.Offset, e.Err)
	}
	return fmt.Sprintf("heap dump: offset %d: %s", e.Offset, e.What)
}

func (e *FormatError) Unwrap() error { return e.Err }
