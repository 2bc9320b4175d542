package hprof

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// A Header is how a dump begins.
type Header struct {
	Version string    // "JAVA PROFILE 1.0.2"
	IDSize  int       // of identifiers in bytes: 4 or 8
	Time    time.Time // of the dump
	Length  int64     // of the header itself in bytes
}

// maxVersion is how many bytes of a file are searched for the header's end.
const maxVersion = 64

// ReadHeader reads a dump's header.
func ReadHeader(r io.ReaderAt) (Header, error) {
	b := make([]byte, maxVersion+12)
	n, err := r.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return Header{}, &FormatError{Err: err}
	}
	b = b[:n]
	end := bytes.IndexByte(b, 0)
	if end < 0 || !bytes.HasPrefix(b, []byte("JAVA PROFILE 1.0")) {
		return Header{}, &FormatError{What: "it does not begin with JAVA PROFILE 1.0", Err: ErrNotHprof}
	}
	if len(b) < end+13 {
		return Header{}, &FormatError{Offset: int64(n), What: "inside of the header", Err: ErrCut}
	}
	h := Header{Version: string(b[:end]), Length: int64(end + 13)}
	size := binary.BigEndian.Uint32(b[end+1:])
	if size != 4 && size != 8 {
		return Header{}, &FormatError{Offset: int64(end + 1), What: fmt.Sprintf("identifiers of %d bytes; there is only 4 and 8", size), Err: ErrNotHprof}
	}
	h.IDSize = int(size)
	h.Time = time.UnixMilli(int64(binary.BigEndian.Uint64(b[end+5:])))
	return h, nil
}

// A File is a dump on disk.
type File struct {
	Header
	Size int64 // in bytes, unpacked
	// Damage is why a compressed dump could not be unpacked to its end, or nil.
	Damage error

	f *os.File
}

// Unpacking is told how many bytes have been unpacked so far.
type Unpacking func(bytes int64)

// Open opens a dump. One that is compressed by gzip is unpacked into a file in the
// folder temp ("": the system's), which has no name and is gone when the File is closed
// or the process ends. A dump that gzip can't read to its end is opened all the same:
// see Damage.
func Open(ctx context.Context, path, temp string, progress Unpacking) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		if err == nil {
			err = &os.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
		}
		return nil, err
	}
	var magic [2]byte
	var damage error
	if n, _ := f.ReadAt(magic[:], 0); n == 2 && magic == [2]byte{0x1f, 0x8b} {
		packed := f
		f, damage, err = unpack(ctx, packed, temp, progress)
		packed.Close()
		if err != nil {
			return nil, err
		}
	}
	file, err := NewFile(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	file.Damage = damage
	return file, nil
}

// NewFile is a File of an open file, which it owns from then on.
func NewFile(f *os.File) (*File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	h, err := ReadHeader(f)
	if err != nil {
		return nil, err
	}
	return &File{Header: h, Size: info.Size(), f: f}, nil
}

// ReadAt reads bytes of the dump.
func (f *File) ReadAt(b []byte, off int64) (int, error) { return f.f.ReadAt(b, off) }

// Close closes the file.
func (f *File) Close() error { return f.f.Close() }

// Scan returns a scanner of the whole dump.
func (f *File) Scan() *Scanner { return NewScanner(f.f, f.Size, f.Header) }

// unpack writes what a file unpacks to into a file without a name.
func unpack(ctx context.Context, packed *os.File, temp string, progress Unpacking) (f *os.File, damage, err error) {
	z, err := gzip.NewReader(bufio.NewReaderSize(packed, 1<<18))
	if err != nil {
		return nil, nil, &FormatError{What: "compressed by gzip, and its header is damaged", Err: err}
	}
	out, err := os.CreateTemp(temp, "rivulet-heap-*")
	if err != nil {
		return nil, nil, fmt.Errorf("no place to unpack the dump: %w", err)
	}
	defer func() {
		if err != nil {
			out.Close()
		}
	}()
	if err := os.Remove(out.Name()); err != nil {
		return nil, nil, err
	}
	b := make([]byte, 1<<20)
	var total int64
	for ctx.Err() == nil {
		n, readErr := io.ReadFull(z, b)
		if _, err := out.Write(b[:n]); err != nil {
			return nil, nil, fmt.Errorf("no room to unpack the dump; free some, or choose another folder with --temp: %w", err)
		}
		if total += int64(n); progress != nil {
			progress(total)
		}
		switch {
		case errors.Is(readErr, io.EOF) || errors.Is(readErr, io.ErrUnexpectedEOF) && n > 0 && drained(z):
			return out, nil, nil
		case readErr != nil:
			return out, &FormatError{Offset: total, What: "gzip", Err: readErr}, nil
		}
	}
	return nil, nil, context.Cause(ctx)
}

// drained reports whether a reader that gave less than was asked for is at its end, and
// not cut off: ReadFull calls both io.ErrUnexpectedEOF.
func drained(z *gzip.Reader) bool {
	var b [1]byte
	_, err := z.Read(b[:])
	return errors.Is(err, io.EOF)
}
