package export

import (
	"compress/gzip"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The page's program and style, as "go tool task ui" builds them from web/ui: views of the
// live page, with the data in the file instead of a server.
var (
	//go:embed dist/report.js
	pageScript string
	//go:embed dist/report.css
	pageStyle string
)

// pageHead forbids the page to load anything.
const pageHead = `<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src blob: data:">
<meta name="color-scheme" content="light dark">
`

// escapeText has a text be nothing but text in HTML.
var escapeText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// HTML writes one page that needs nothing else, with what the live page has of one recording
// (docs/page.md has what it lacks). Without JavaScript it is the text report. Names can't do
// anything in it but be shown. The data are compressed: 100,000 call paths stay below 2 MB.
func (r *Report) HTML(w io.Writer) error {
	var text strings.Builder
	if err := r.Text(&text, TextOptions{Top: DefaultTop}); err != nil {
		return err
	}
	title := escapeText.Replace(Clean(r.title()))
	page := sink{w: w}
	page.text(pageHead)
	page.text("<title>" + title + "</title>\n<style>\n" + pageStyle + "</style>\n")
	page.text(`<div id="app"><main class="page"><h1>` + title + "</h1>\n<p id=\"boot\">Flame graph and lists need JavaScript, and a browser since Chrome 80, Firefox 113 or Safari 16.4.</p>\n<pre id=\"text\">")
	page.text(escapeText.Replace(text.String()))
	page.text("</pre></main></div>\n<script type=\"application/json\" id=\"data\">\"")
	encoded := base64.NewEncoder(base64.StdEncoding, &page)
	packer, err := gzip.NewWriterLevel(encoded, gzip.BestCompression)
	if err != nil {
		return fmt.Errorf("html report: %w", err)
	}
	out := sink{w: packer}
	if err := r.pageData(&out); err != nil {
		return fmt.Errorf("html report: %w", err)
	}
	if err := errors.Join(out.flush(), packer.Close(), encoded.Close()); err != nil {
		return fmt.Errorf("html report: %w", err)
	}
	page.text("\"</script>\n<script type=\"module\">\n" + pageScript + "</script>\n</html>\n")
	if err := page.flush(); err != nil {
		return fmt.Errorf("html report: %w", err)
	}
	return nil
}

// title says what was recorded: the program, and the root where there is one.
func (r *Report) title() string {
	title := r.Target.Main
	if len(r.Roots) > 0 {
		head, _, _ := strings.Cut(r.Roots[0], "(")
		parts := strings.Split(head, ".")
		title += ", " + strings.Join(parts[max(len(parts)-2, 0):], ".")
		if more := len(r.Roots) - 1; more > 0 {
			title += fmt.Sprintf(" and %d more", more)
		}
	}
	return title + " - Rivulet"
}
