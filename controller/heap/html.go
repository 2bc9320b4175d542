package heap

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html"
	"io"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// The page's program and style, as "go tool task ui" builds them from web/ui: the live page's
// view of a heap, with the data in the file.
var (
	//go:embed dist/heap.js
	pageScript string
	//go:embed dist/heap.css
	pageStyle string
)

// pageHead forbids the page to load anything.
const pageHead = `<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
`

// htmlClasses is how many classes a page has.
const htmlClasses = 500

// Short is a copy of a report with the 500 classes that retain most. It shares its lists with the report.
func (r *Report) Short() *Report {
	short := *r
	short.Classes = r.Classes[:min(len(r.Classes), htmlClasses)]
	return &short
}

// HTML writes one page that needs nothing else: suspects, the dominator tree as a treemap,
// and all lists. Names can't do anything in it but be shown.
func (r *Report) HTML(w io.Writer) error {
	var data bytes.Buffer
	// What Encode escapes by default can't end the script that holds it.
	if err := json.NewEncoder(&data).Encode(r.Short()); err != nil {
		return err
	}
	title := "Heap"
	if r.File != "" {
		title = export.Clean(r.File)
	}
	for _, part := range []string{
		pageHead, "<title>", html.EscapeString(title), " - Rivulet</title>\n<style>\n", pageStyle, "</style>\n",
		`<div id="app"><p>The report needs JavaScript.</p></div>`, "\n<script type=\"application/json\" id=\"data\">", string(export.CleanJSON(data.Bytes())),
		"</script>\n<script type=\"module\">\n", pageScript, "</script>\n</html>\n",
	} {
		if _, err := io.WriteString(w, part); err != nil {
			return err
		}
	}
	return nil
}
