package jfr

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

// DefaultMemory is what a chunk's types and pools may take unless [Options] say otherwise.
const DefaultMemory = 256 << 20

// Options bound what a Reader keeps.
type Options struct {
	// Memory is how many bytes a chunk's types and constant pools may take, and how long an event
	// may be; 0 for [DefaultMemory].
	Memory int64
}

const (
	magic      = "FLR\x00"
	headerSize = 68
	// updating is the file state while a JVM writes the header.
	updating   = 255
	patience   = 100 // tries to read a header that is being written
	compressed = 1   // flag: integers are LEB128
)

// A Header is how a chunk begins (68 bytes, big endian).
type Header struct {
	Offset         int64 // of the chunk in the file
	Major, Minor   int
	Size           int64 // of the chunk in bytes
	Checkpoint     int64 // offset of the last checkpoint in the chunk
	Metadata       int64 // offset of the metadata in the chunk
	Start          int64 // ns since 1970
	Duration       int64 // ns
	StartTicks     int64
	TicksPerSecond int64
	// Running: the chunk is still being written; it has what there was at the JVM's last flush.
	Running bool
	// Cut: the file ends inside of the chunk; Size is up to its last whole record.
	Cut        bool
	compressed bool
}

// A Reader goes through the chunks of a recording. It keeps nothing of chunks that it has left.
type Reader struct {
	in   io.ReaderAt
	size int64
	next int64
	o    Options
	last bool
	cut  error // what is missing behind the last chunk
}

// NewReader reads a recording of some length in bytes. A file that a JVM is writing to may
// grow meanwhile; size is how long it was.
func NewReader(in io.ReaderAt, size int64, o Options) *Reader {
	if o.Memory <= 0 {
		o.Memory = DefaultMemory
	}
	return &Reader{in: in, size: size, o: o}
}

// Next is the next chunk, or io.EOF after the last one. After another error there is no
// way on. Of a chunk that the file has not whole, there is first what can be read of it, and
// then an [ErrCut].
func (r *Reader) Next() (*Chunk, error) {
	if r.cut != nil {
		return nil, r.cut
	}
	if r.last || r.next >= r.size && r.next > 0 {
		return nil, io.EOF
	}
	h, err := r.header()
	if err != nil {
		r.last = true
		return nil, err
	}
	c := newChunk(r, h)
	if left := r.size - r.next; h.Size > left {
		r.last = true
		lacks, err := c.trim(left)
		if err != nil {
			return nil, err
		}
		if err := c.load(); err != nil {
			return nil, err
		}
		r.cut = lacks
		return c, nil
	}
	if err := c.load(); err != nil {
		r.last = true
		return nil, err
	}
	r.next += h.Size
	r.last = h.Running // what follows is not described yet
	return c, nil
}

// header reads a header; one that a JVM is just writing again after a moment.
func (r *Reader) header() (Header, error) {
	var b [headerSize]byte
	for try := 0; ; try++ {
		if n, err := r.in.ReadAt(b[:], r.next); n < headerSize {
			if err != nil && !errors.Is(err, io.EOF) {
				return Header{}, &FormatError{Offset: r.next, Err: err}
			}
			if n < len(magic) || string(b[:len(magic)]) != magic {
				return Header{}, r.alien()
			}
			return Header{}, &FormatError{Offset: r.next, What: "inside of a chunk's header", Err: ErrCut}
		}
		if b[64] != updating {
			break
		}
		if try == patience {
			return Header{}, &FormatError{Offset: r.next, What: "the header is being written all the time", Err: ErrRunning}
		}
		time.Sleep(time.Millisecond)
	}
	if string(b[:len(magic)]) != magic {
		return Header{}, r.alien()
	}
	long := func(at int) int64 { return int64(binary.BigEndian.Uint64(b[at:])) }
	h := Header{
		Offset: r.next, Major: int(binary.BigEndian.Uint16(b[4:])), Minor: int(binary.BigEndian.Uint16(b[6:])),
		Size: long(8), Checkpoint: long(16), Metadata: long(24), Start: long(32), Duration: long(40),
		StartTicks: long(48), TicksPerSecond: long(56), Running: b[64] != 0, compressed: b[67]&compressed != 0,
	}
	bad := func(err error, format string, args ...any) (Header, error) {
		return Header{}, &FormatError{Offset: r.next, What: fmt.Sprintf(format, args...), Err: err}
	}
	switch left := r.size - r.next; {
	case h.Major != 2:
		return bad(ErrVersion, "a chunk of version %d.%d", h.Major, h.Minor)
	case h.TicksPerSecond <= 0:
		return bad(nil, "%d ticks a second", h.TicksPerSecond)
	case h.Size == 0 || h.Metadata == 0:
		return bad(ErrRunning, "the header is not complete")
	case h.Size < headerSize:
		return bad(nil, "a chunk of %d bytes", h.Size)
	case h.Size > left: // its places may be behind the end
	case h.Metadata < headerSize || h.Metadata >= h.Size:
		return bad(nil, "metadata at %d of %d bytes", h.Metadata, h.Size)
	case h.Checkpoint != 0 && (h.Checkpoint < headerSize || h.Checkpoint >= h.Size):
		return bad(nil, "a checkpoint at %d of %d bytes", h.Checkpoint, h.Size)
	}
	return h, nil
}

func (r *Reader) alien() error {
	if r.next == 0 {
		return &FormatError{What: "it does not begin with FLR", Err: ErrNotJFR}
	}
	return &FormatError{Offset: r.next, What: "no chunk begins where the last one ends"}
}

// Nanos converts ticks to ns since 1970.
func (h *Header) Nanos(ticks int64) int64 { return h.Start + h.Span(ticks-h.StartTicks) }

// Span converts a number of ticks to ns.
func (h *Header) Span(ticks int64) int64 {
	return int64(float64(ticks) / (float64(h.TicksPerSecond) / 1e9))
}
