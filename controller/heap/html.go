package heap

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html"
	"io"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// document is a page without its data; it loads nothing from anywhere.
//
//go:embed page.html
var document string

// htmlClasses is how many classes a page has.
const htmlClasses = 500

// HTML writes one page that needs nothing else: suspects, the dominator tree as a treemap,
// and all lists. Names can't do anything in it but be shown.
func (r *Report) HTML(w io.Writer) error {
	short := *r
	short.Classes = r.Classes[:min(len(r.Classes), htmlClasses)]
	var data bytes.Buffer
	// What Encode escapes by default can't end the script that holds it.
	if err := json.NewEncoder(&data).Encode(&short); err != nil {
		return err
	}
	title := "Heap"
	if r.File != "" {
		title = export.Clean(r.File)
	}
	out := strings.Replace(document, "/*TITLE*/", html.EscapeString(title), 1)
	out = strings.Replace(out, "/*DATA*/", string(export.CleanJSON(data.Bytes())), 1)
	_, err := io.WriteString(w, out)
	return err
}
