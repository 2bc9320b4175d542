package export_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// TestReadPieces: a report is the same in whatever pieces its text comes, down to single bytes, in which no string and no number
// lies as a whole; what is cut off anywhere is an error.
func TestReadPieces(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := export.ReadJSON(bytes.NewReader(text))
		if err != nil {
			continue // of another kind
		}
		var want bytes.Buffer
		if err := whole.JSON(&want, export.JSONOptions{}); err != nil {
			t.Fatal(err)
		}
		for name, in := range map[string]io.Reader{
			"single bytes": iotest.OneByteReader(bytes.NewReader(text)), "with the end": iotest.DataErrReader(bytes.NewReader(text)),
			"of 7": &pieces{text, 7}, "of 61": &pieces{text, 61},
		} {
			r, err := export.ReadJSON(in)
			if err != nil {
				t.Errorf("%s, %s: %v", file, name, err)
				continue
			}
			var got bytes.Buffer
			if err := r.JSON(&got, export.JSONOptions{}); err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
				t.Errorf("%s, %s: %v: it is another report", file, name, err)
			}
		}
		broken := errors.New("broken")
		if _, err := export.ReadJSON(io.MultiReader(bytes.NewReader(text[:len(text)/2]), iotest.ErrReader(broken))); !errors.Is(err, broken) {
			t.Errorf("%s: %v", file, err)
		}
		for cut := range min(len(bytes.TrimSpace(text)), 4000) {
			if _, err := export.ReadJSON(bytes.NewReader(text[:cut])); err == nil {
				t.Errorf("%s, cut at %d: no error", file, cut)
			}
		}
	}
}

// pieces are some bytes at a time.
type pieces struct {
	text []byte
	size int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.text) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.text[:min(p.size, len(p.text))])
	p.text = p.text[n:]
	return n, nil
}
