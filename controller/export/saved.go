package export

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
)

// A Saved is what a file has: one of both.
type Saved struct {
	Report     *Report
	Comparison *Comparison
}

const (
	mostText       = 8 << 30 // bytes of a report's JSON, which a small file can be much of
	mostComparison = 4 << 20 // of a comparison's
	kindWithin     = 256     // bytes of a file, that say what it is
)

// ReadSaved reads what [Report.JSON] or [Comparison.JSON] has written, and samples that
// other profilers have: pprof and collapsed stacks. All may be compressed
// by gzip. Errors are those of [ReadJSON] and [ReadComparison]; those about samples of
// others wrap [ErrNotReport], too. A file of more than 8 GB of text, of samples 1 GB, is an error.
func ReadSaved(r io.Reader) (Saved, error) {
	text, err := unpacked(r)
	if err != nil {
		return Saved{}, err
	}
	bounded := &io.LimitedReader{R: text, N: mostText}
	in := bufio.NewReaderSize(bounded, 1<<16)
	head, _ := in.Peek(kindWithin)
	if kind := kindOfFile(head); kind != ownKind {
		r, err := readForeign(in, kind)
		return Saved{Report: r}, err
	}
	if kindOf(head) == comparisonKind {
		c, err := ReadComparison(io.LimitReader(in, mostComparison))
		return Saved{Comparison: c}, err
	}
	out, err := ReadJSON(in)
	if err != nil && bounded.N <= 0 {
		err = fmt.Errorf("it unpacks to more than %d GB", mostText>>30)
	}
	return Saved{Report: out}, err
}

// unpacked is the text of a file that gzip has compressed, or has not.
func unpacked(r io.Reader) (*bufio.Reader, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	if magic, err := b.Peek(2); err != nil || magic[0] != 0x1f || magic[1] != 0x8b {
		return b, nil //nolint:nilerr // what is too short for gzip is read as it is
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotReport, err)
	}
	return bufio.NewReaderSize(z, 1<<16), nil
}

// kindOf is the field "kind" of an object that begins so, "" if it has none among
// the first.
func kindOf(head []byte) string {
	d := json.NewDecoder(bytes.NewReader(head))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	for {
		key, err := d.Token()
		if err != nil {
			return ""
		}
		value, err := d.Token()
		if _, nested := value.(json.Delim); err != nil || nested {
			return ""
		}
		if key == "kind" {
			kind, _ := value.(string)
			return kind
		}
	}
}
