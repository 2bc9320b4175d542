package event

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// DefaultDump is how many words a [Dump] keeps unless told: 8 MiB, some 25 of
// text.
const DefaultDump = 1 << 20

// A Dump keeps the first words of all streams, in the order in which they were
// drained, for a bug report: each stream's own order is right, but between
// records nothing is said. The nil Dump keeps nothing. Not safe for concurrent
// use.
type Dump struct {
	most   int
	words  []Word
	pieces []Piece // without words
	left   int64
}

// A Piece is a piece of one record's stream.
type Piece struct {
	Record int
	Words  []Word
	n      int
}

// NewDump keeps at most so many words.
func NewDump(most int) *Dump { return &Dump{most: most} }

// Take copies what [Rings.Drain] hands out, as long as there is room.
func (d *Dump) Take(record int, words []Word) {
	if d == nil {
		return
	}
	n := min(len(words), d.most-len(d.words))
	d.left += int64(len(words) - n)
	if n == 0 {
		return
	}
	d.words = append(d.words, words[:n]...)
	if last := len(d.pieces) - 1; last >= 0 && d.pieces[last].Record == record {
		d.pieces[last].n += n
		return
	}
	d.pieces = append(d.pieces, Piece{Record: record, n: n})
}

// Len is how many words are kept, and how many came after them.
func (d *Dump) Len() (kept int, left int64) { return len(d.words), d.left }

// Write writes the text form: "record 3", then a word a line as
// [Word.String] writes it, then the next piece. name is written behind each word
// about an invocation, as a comment; "" is none.
func (d *Dump) Write(w io.Writer, name func(method int32) string) error {
	b := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprintf(b, "# The first %d events; %d came after them.\n", len(d.words), d.left) //nolint:errcheck // by Flush
	words := d.words
	for _, p := range d.pieces {
		fmt.Fprintf(b, "record %d\n", p.Record) //nolint:errcheck // by Flush
		for _, word := range words[:p.n] {
			comment := ""
			switch word.Kind() { // others with a method have none, or a mark in its place
			case wire.EvEnter, wire.EvExit, wire.EvThrown, wire.EvLate:
				if text := name(word.Method()); text != "" {
					comment = "  # " + text
				}
			}
			fmt.Fprintf(b, "%v%s\n", word, comment) //nolint:errcheck // by Flush
		}
		words = words[p.n:]
	}
	return b.Flush()
}

// ReadDump reads what [Dump.Write] wrote. Errors name the line.
func ReadDump(r io.Reader) ([]Piece, error) {
	var out []Piece
	lines := bufio.NewScanner(r)
	for no := 1; lines.Scan(); no++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		line = strings.TrimSpace(line)
		if number, ok := strings.CutPrefix(line, "record "); ok {
			record, err := strconv.ParseUint(number, 10, 31)
			if err != nil {
				return nil, fmt.Errorf("line %d: record %q: give its number", no, number)
			}
			out = append(out, Piece{Record: int(record)})
			continue
		}
		if line == "" {
			continue
		}
		w, err := ParseWord(line)
		if err == nil && len(out) == 0 {
			err = fmt.Errorf("event %q: of which record? begin with a line such as \"record 1\"", line)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", no, err)
		}
		last := &out[len(out)-1]
		last.Words = append(last.Words, w)
	}
	return out, lines.Err()
}
