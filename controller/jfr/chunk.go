package jfr

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// A Chunk is a part of a recording that describes itself.
type Chunk struct {
	Header

	in     io.ReaderAt
	limit  int64 // of memory, bytes
	used   int64
	types  map[int64]*Type
	arena  []Value
	top    int
	fixed  bool // values are kept: don't take room from the arena
	memo   int64
	event  Event
	damage error
}

// The numbers of the two types that are no events.
const (
	metadataID   = 0
	checkpointID = 1
)

func newChunk(r *Reader, h Header) *Chunk {
	return &Chunk{Header: h, in: r.in, limit: r.o.Memory, types: map[int64]*Type{}}
}

// load reads the types and the pools.
func (c *Chunk) load() error {
	body, base, id, err := c.record(c.Metadata)
	if err != nil {
		return err
	}
	if id != metadataID {
		return &FormatError{Offset: base, What: "no metadata where the header says"}
	}
	if err := c.metadata(body, base); err != nil {
		return err
	}
	return c.checkpoints()
}

// record reads the record at an offset of the chunk whole: its body, where that begins in
// the file, and its type.
func (c *Chunk) record(at int64) (body []byte, base int64, id int64, err error) {
	start := c.Offset + at
	head := make([]byte, min(longestHead, c.Size-at))
	if err := c.read(head, start); err != nil {
		return nil, start, 0, err
	}
	in := &input{b: head, base: start, compressed: c.compressed}
	size := in.int()
	id = in.long()
	if in.err != nil {
		return nil, start, 0, in.err
	}
	if size < int64(in.at) || size > c.Size-at {
		return nil, start, 0, &FormatError{Offset: start, What: fmt.Sprintf("a record of %d bytes", size)}
	}
	if err := c.take(size, start); err != nil {
		return nil, start, 0, err
	}
	body = make([]byte, size-int64(in.at))
	base = start + int64(in.at)
	return body, base, id, c.read(body, base)
}

// longestHead is how long the size and the type of a record can be.
const longestHead = 18

// take counts memory.
func (c *Chunk) take(n, at int64) error {
	if c.used += n; c.used > c.limit {
		return &FormatError{Offset: at, What: fmt.Sprintf("more than %d MB", c.limit>>20), Err: ErrMemory}
	}
	return nil
}

func (c *Chunk) read(b []byte, at int64) error {
	n, err := c.in.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return &FormatError{Offset: at, Err: ErrCut}
	}
	return &FormatError{Offset: at, Err: err}
}

// room is room for values, in the arena while an event is read.
func (c *Chunk) room(n int) []Value {
	if c.fixed {
		return make([]Value, n)
	}
	if c.top+n > len(c.arena) {
		c.arena, c.top = make([]Value, max(2*len(c.arena), n, 256)), 0
	}
	out := c.arena[c.top : c.top+n : c.top+n]
	c.top += n
	return out
}

// An Event is one of a recording. It and its values are valid until the callback
// returns that was given it.
type Event struct {
	Type  *Type
	Size  int   // in the file, bytes
	At    int64 // offset in the file
	value Value
	chunk *Chunk
}

// Value is the event as an object of its fields.
func (e *Event) Value() Value { return e.value }

// Field is one of the event's values; Null if it has no such field.
func (e *Event) Field(name string) Value { return e.value.Field(name) }

// Start is when the event began, ns since 1970.
func (e *Event) Start() int64 { return e.chunk.Nanos(e.Field("startTime").Int()) }

// Duration is how long it took, in ns; 0 if it has no duration.
func (e *Event) Duration() int64 { return e.chunk.Span(e.Field("duration").Int()) }

// Chunk is what the event is part of.
func (e *Event) Chunk() *Chunk { return e.chunk }

// window is how much of a file is read at once.
const window = 1 << 18

// Events gives the chunk's events to a function, in the order of the file, those whose
// type is wanted (nil: all). An error of the function ends it, and is returned.
func (c *Chunk) Events(ctx context.Context, want func(*Type) bool, f func(*Event) error) error {
	wanted := map[*Type]bool{}
	for _, t := range c.types {
		wanted[t] = want == nil || want(t)
	}
	buf, lo, hi := make([]byte, 0, window), int64(headerSize), int64(headerSize) // buf is what is from lo to hi
	for at := int64(headerSize); at < c.Size; {
		if hi-at < longestHead && hi < c.Size || at >= hi {
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			buf = buf[:min(max(window, int64(cap(buf))), c.Size-at)]
			if err := c.read(buf, c.Offset+at); err != nil {
				return err
			}
			lo, hi = at, at+int64(len(buf))
		}
		in := input{b: buf[at-lo:], base: c.Offset + at, compressed: c.compressed}
		size := in.int()
		id := in.long()
		switch {
		case in.err != nil:
			return in.err
		case size < int64(in.at) || size > c.Size-at:
			return &FormatError{Offset: in.base, What: fmt.Sprintf("an event of %d bytes", size)}
		}
		if t := c.types[id]; t == nil && c.Cut { // described behind the cut
			at += size
			continue
		}
		if t := c.types[id]; id != metadataID && id != checkpointID && (t == nil || wanted[t]) {
			if t == nil || !t.IsEvent() {
				return &FormatError{Offset: in.base, What: fmt.Sprintf("an event of type %d, which there is not", id)}
			}
			if at+size > hi {
				if size > c.limit {
					return &FormatError{Offset: in.base, What: fmt.Sprintf("an event of %d bytes", size), Err: ErrMemory}
				}
				if int64(cap(buf)) < size {
					buf = make([]byte, 0, size)
				}
				buf = buf[:min(max(window, int64(cap(buf))), c.Size-at)]
				if err := c.read(buf, c.Offset+at); err != nil {
					return err
				}
				lo, hi = at, at+int64(len(buf))
			}
			in.b = buf[at-lo : at-lo+size]
			if err := c.give(&in, t, f); err != nil {
				return err
			}
		}
		at += size
	}
	return nil
}

// give reads one event, and calls the function.
func (c *Chunk) give(in *input, t *Type, f func(*Event) error) error {
	c.top, c.fixed = 0, false
	in.steps = stepsOf(len(in.b))
	v := c.value(in, t, 0)
	if in.err != nil {
		return in.err
	}
	c.event = Event{Type: t, Size: len(in.b), At: in.base, value: v, chunk: c}
	if err := f(&c.event); err != nil {
		return err
	}
	return c.damage
}

// stepsOf bounds the values in a number of bytes: types without fields take none.
func stepsOf(bytes int) int { return 8*bytes + 1024 }
