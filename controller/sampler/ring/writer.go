package ring

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// Limits say how much a ring keeps. None may be zero.
type Limits struct {
	Keep  time.Duration // samples that are older are removed, a file at a time
	Bytes int64         // of all files
	File  time.Duration // that one file spans
}

// ForKeep are the limits for a time: a file spans a twentieth of it, 10 s to 10 minutes.
func ForKeep(keep time.Duration, bytes int64) Limits {
	return Limits{Keep: keep, Bytes: bytes, File: min(max(keep/20, 10*time.Second), 10*time.Minute)}
}

// Kinds of records.
const (
	headerRecord = 1
	chunkRecord  = 2
)

const (
	recordHead = 4 + 4 + 1 // length of the payload, CRC-32C of kind and payload, kind
	fileEnd    = ".samples"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// record is a record's bytes.
func record(kind byte, payload []byte) []byte {
	out := binary.LittleEndian.AppendUint32(make([]byte, 0, recordHead+len(payload)), uint32(len(payload)))
	out = append(out, 0, 0, 0, 0, kind)
	out = append(out, payload...)
	binary.LittleEndian.PutUint32(out[4:], crc32.Checksum(out[8:], castagnoli))
	return out
}

// A Writer appends samples to a folder's files, and removes old ones.
type Writer struct {
	dir     string
	limits  Limits
	head    func() Header
	file    *os.File
	opened  int64 // CLOCK_MONOTONIC ns
	size    int64 // of file
	b       *builder
	Dropped int64 // samples that could not be written
}

// Create begins to write into a folder, which must exist. head is asked at the beginning of each
// file. Files that are there stay, as long as the limits let them. An error is of the file system.
func Create(dir string, limits Limits, head func() Header) (*Writer, error) {
	w := &Writer{dir: dir, limits: limits, head: head, b: newBuilder()}
	if err := w.next(head().Mono); err != nil {
		return nil, err
	}
	return w, w.prune()
}

// next begins a file.
func (w *Writer) next(now int64) error {
	if w.file != nil {
		if err := w.file.Close(); err != nil {
			return fmt.Errorf("samples: %w", err)
		}
		w.file = nil
	}
	h := w.head()
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	for at := h.Wall; ; at += int64(time.Millisecond) { // a file may have the name, if the clock was put back
		f, err := os.OpenFile(filepath.Join(w.dir, nameAt(at)), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("samples: %w", err)
		}
		w.file, w.opened, w.size = f, now, 0
		break
	}
	return w.append(append([]byte(magic), record(headerRecord, text)...))
}

// nameAt is what a file is called that begins at a time of day: names sort by time.
func nameAt(wall int64) string {
	return time.Unix(0, wall).UTC().Format("20060102T150405.000Z") + fileEnd
}

// append writes bytes whole, or not at all.
func (w *Writer) append(b []byte) error {
	n, err := w.file.Write(b)
	if err != nil {
		if n > 0 && w.file.Truncate(w.size) != nil {
			w.file.Close()
			w.file = nil // what follows half a record could not be read
		}
		return fmt.Errorf("samples: %w", err)
	}
	w.size += int64(n)
	return nil
}

// Add takes samples, in the order of time. They are on disk after [Writer.Flush], or earlier.
// An error is that of a Flush.
func (w *Writer) Add(batch []stack.Stack) error {
	for i := range batch {
		w.b.add(&batch[i])
		if len(w.b.raw) >= fullChunk || w.b.made >= fullMade {
			if err := w.Flush(batch[i].Time); err != nil {
				return err
			}
		}
	}
	return nil
}

// Moved says that a collection moved objects within a piece of time.
func (w *Writer) Moved(from, until int64) { w.b.moves = append(w.b.moves, Span{from, until}) }

// Note adds to what sampling lost (samples) and took (ns of a core).
func (w *Writer) Note(lost, cpu int64) {
	w.b.lost += lost
	w.b.cpu += cpu
}

// Flush writes what was added, begins a new file if the present one spans its time, and removes
// old ones. now is CLOCK_MONOTONIC ns. After an error the samples since the last Flush are lost,
// and the Writer can go on.
func (w *Writer) Flush(now int64) error {
	payload, err := w.b.chunk()
	samples := int64(w.b.samples)
	w.b.reset()
	if err == nil && w.file == nil {
		err = w.next(now)
	}
	if err == nil && payload != nil {
		err = w.append(record(chunkRecord, payload))
	}
	if err != nil {
		w.Dropped += samples
		return errors.Join(err, w.prune())
	}
	if now-w.opened >= int64(w.limits.File) || w.size >= w.limits.Bytes/8 {
		if err := w.next(now); err != nil {
			return err
		}
	}
	return w.prune()
}

// prune removes files that are older than the limits, or too many. The file that is
// written stays.
func (w *Writer) prune() error {
	files, err := list(w.dir)
	if err != nil {
		return err
	}
	all, oldest := int64(0), w.head().Wall-int64(w.limits.Keep)
	for i := len(files) - 1; i >= 0; i-- {
		f := &files[i]
		all += f.bytes
		if w.file != nil && f.path == w.file.Name() {
			continue
		}
		// A file ends where the next one begins, at the latest.
		until := f.changed
		if i+1 < len(files) {
			until = files[i+1].begin
		}
		if all > w.limits.Bytes || until < oldest {
			if err := os.Remove(f.path); err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("samples: %w", err)
			}
			all -= f.bytes
		}
	}
	return nil
}

// Close writes what is left. An error is that of a Flush.
func (w *Writer) Close() error {
	err := w.Flush(w.head().Mono)
	if w.file != nil {
		err = errors.Join(err, w.file.Close())
		w.file = nil
	}
	return err
}

// File copies the chunks of a piece of time, CLOCK_MONOTONIC ns, from a folder to one file.
// It says how many samples these have; the file is not made if there are none. An error is of the file system,
// or one of [Open].
func File(dir, to string, from, until int64) (samples int64, err error) {
	r, err := Open(dir)
	if err != nil {
		return 0, err
	}
	temp := to + ".tmp"
	out, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, fmt.Errorf("samples: %w", err)
	}
	defer os.Remove(temp)
	var header *Header
	err = r.scan(from, until, func(h *Header, payload []byte, n int64) error {
		if header == nil {
			text, err := json.Marshal(h)
			if err != nil {
				return err
			}
			header = h
			if _, err := out.Write(append([]byte(magic), record(headerRecord, text)...)); err != nil {
				return err
			}
		}
		samples += n
		_, err := out.Write(record(chunkRecord, payload))
		return err
	})
	if err = errors.Join(err, out.Close()); err != nil || header == nil {
		return samples, err
	}
	return samples, os.Rename(temp, to)
}
