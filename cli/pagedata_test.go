package cli

import (
	"compress/gzip"
	"encoding/base64"
	"io"
	"strings"
	"testing"
)

// pageData is the data of an HTML report.
func pageData(t *testing.T, page string) string {
	t.Helper()
	_, packed, _ := strings.Cut(page, `id="data">"`)
	packed, _, ok := strings.Cut(packed, `"`)
	if !ok {
		t.Fatal("the page has no data")
	}
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
