package ring

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// An entry is a file of a folder.
type entry struct {
	path    string
	begin   int64 // ns since 1970, by its name
	changed int64
	bytes   int64
}

// list are the files of a folder, the oldest first.
func list(dir string) ([]entry, error) {
	found, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("samples: %w", err)
	}
	var out []entry
	for _, f := range found {
		at, err := time.Parse("20060102T150405.000Z", strings.TrimSuffix(f.Name(), fileEnd))
		if err != nil || !strings.HasSuffix(f.Name(), fileEnd) {
			continue
		}
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue // it was removed
		}
		out = append(out, entry{filepath.Join(dir, f.Name()), at.UnixNano(), info.ModTime().UnixNano(), info.Size()})
	}
	slices.SortFunc(out, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	return out, nil
}

// A Reader reads a folder's files, or one file.
type Reader struct {
	files   []entry
	names   names
	Damaged int64 // chunks that could not be read, so far
}

// Open finds the files. The error is of the file system: there is no such folder or file, or it may not be read.
func Open(path string) (*Reader, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("samples: %w", err)
	}
	if !info.IsDir() {
		return &Reader{files: []entry{{path, 0, info.ModTime().UnixNano(), info.Size()}}, names: names{}}, nil
	}
	files, err := list(path)
	return &Reader{files: files, names: names{}}, err
}

// A Summary says what a ring has.
type Summary struct {
	Header  Header // of the newest file
	First   int64  // CLOCK_MONOTONIC ns of the earliest and the latest sample; 0 if there is none
	Last    int64
	Samples int64
	Bytes   int64
	Files   int
	Damaged int64 // chunks that can't be read
}

// Summary looks at all files, without unpacking them. There may be none. An error is of the file
// system, or wraps [ErrFormat] or [ErrVersion].
func (r *Reader) Summary() (Summary, error) {
	var s Summary
	for _, f := range r.files {
		s.Bytes += f.bytes
		s.Files++
	}
	before := r.Damaged
	err := r.walk(func(h *Header, c head, _ []byte) error {
		s.Header = *h
		if c.samples == 0 {
			return nil
		}
		if s.First == 0 || c.first < s.First {
			s.First = c.first
		}
		s.Last = max(s.Last, c.last)
		s.Samples += int64(c.samples)
		return nil
	})
	s.Damaged, r.Damaged = r.Damaged-before, before
	return s, err
}

// Read hands over the chunks that have samples of a piece of time, CLOCK_MONOTONIC ns, without
// the samples beyond it. What is damaged is left out, and counted in r.Damaged.
func (r *Reader) Read(from, until int64, f func(h *Header, c *Chunk) error) error {
	return r.scan(from, until, func(h *Header, payload []byte, _ int64) error {
		c, err := decode(payload, r.names)
		if err != nil {
			r.Damaged++
			return nil
		}
		keep := c.Stacks[:0]
		for _, s := range c.Stacks {
			if s.Time >= from && s.Time <= until {
				keep = append(keep, s)
			}
		}
		c.Stacks = keep
		return f(h, c)
	})
}

// scan hands over the packed chunks that have samples of a piece of time.
func (r *Reader) scan(from, until int64, f func(h *Header, payload []byte, samples int64) error) error {
	return r.walk(func(h *Header, c head, payload []byte) error {
		if c.last < from || c.first > until {
			return nil
		}
		return f(h, payload, int64(c.samples))
	})
}

// walk goes through all chunks of all files. A file of which nothing can be read counts as
// damaged; one of another version is an error, as is one that was given by itself.
func (r *Reader) walk(f func(h *Header, c head, payload []byte) error) error {
	for i := range r.files {
		err := r.walkFile(r.files[i].path, f)
		switch {
		case errors.Is(err, os.ErrNotExist) && len(r.files) > 1: // removed meanwhile
		case errors.Is(err, ErrFormat) && len(r.files) > 1:
			r.Damaged++
		case err != nil:
			return fmt.Errorf("%s: %w", r.files[i].path, err)
		}
	}
	return nil
}

func (r *Reader) walkFile(path string, f func(h *Header, c head, payload []byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, 1<<16)
	got := make([]byte, len(magic))
	switch _, err := io.ReadFull(in, got); {
	case err != nil || string(got[:len(magic)-1]) != magic[:len(magic)-1]:
		return ErrFormat
	case got[len(magic)-1] != magic[len(magic)-1]:
		return ErrVersion
	}
	var h *Header
	for {
		kind, payload, err := readRecord(in)
		switch {
		case errors.Is(err, io.EOF):
			if h == nil {
				return ErrFormat
			}
			return nil
		case errors.Is(err, errSum):
			if h == nil {
				return ErrFormat
			}
			r.Damaged++
			continue
		case err != nil: // the rest can't be found
			if h == nil {
				return ErrFormat
			}
			r.Damaged++
			return nil
		}
		switch {
		case kind == headerRecord && h == nil:
			h = &Header{}
			if json.Unmarshal(payload, h) != nil {
				return ErrFormat
			}
		case h == nil:
			return ErrFormat
		case kind == chunkRecord:
			c, ok := readHead(payload)
			if !ok {
				r.Damaged++
				continue
			}
			if err := f(h, c, payload); err != nil {
				return err
			}
		}
	}
}

// errSum marks a record with a wrong checksum: the next one can be read.
var errSum = errors.New("wrong checksum")

// readRecord reads one record. io.EOF is a file's end, io.ErrUnexpectedEOF one within a record,
// as that of a file that is being written.
func readRecord(in io.Reader) (kind byte, payload []byte, err error) {
	var front [recordHead]byte
	if _, err := io.ReadFull(in, front[:]); err != nil {
		return 0, nil, err
	}
	n := binary.LittleEndian.Uint32(front[:])
	kind = front[8]
	if n > mostPacked || kind == headerRecord && n > mostHeader {
		return 0, nil, ErrFormat
	}
	payload = make([]byte, n)
	if _, err := io.ReadFull(in, payload); err != nil {
		return 0, nil, io.ErrUnexpectedEOF
	}
	sum := crc32.Update(crc32.Checksum(front[8:], castagnoli), castagnoli, payload)
	if sum != binary.LittleEndian.Uint32(front[4:]) {
		return kind, nil, errSum
	}
	return kind, payload, nil
}
