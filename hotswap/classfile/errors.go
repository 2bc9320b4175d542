package classfile

import (
	"errors"
	"fmt"
)

// ErrUnsupported marks a valid class that this package declines to handle,
// such as one of a newer version. Leave the class as it is and go on.
var ErrUnsupported = errors.New("unsupported class file")

// Reasons inside a FormatError.
var (
	errTruncated = errors.New("file ends too early")
	errTrailing  = errors.New("bytes left at the end")
	errMagic     = errors.New("no class file: magic is not 0xcafebabe")
	errIndex     = errors.New("constant index out of range")
	errCount     = errors.New("count exceeds the bytes that remain")
)

// A FormatError reports bytes that break JVMS chapter 4.
type FormatError struct {
	Class   string // internal name; "" until this_class is read
	Offset  int    // of the first bad byte; from the start of the file, or of the attribute or code handed in
	Section string // JVMS section broken, "4.7.3"
	Err     error
}

func (e *FormatError) Error() string {
	name := e.Class
	if name == "" {
		name = "class file"
	}
	return fmt.Sprintf("%s: offset %d (JVMS §%s): %v", name, e.Offset, e.Section, e.Err)
}

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.Err }

// A LimitError says that a class has no room for what was to be added: a
// table of the class-file format is full (§4.11). The class is left as it was.
type LimitError struct {
	What  string // "constant pool", "CONSTANT_Utf8"
	Limit int
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s full: limit %d (JVMS §4.11)", e.What, e.Limit)
}
