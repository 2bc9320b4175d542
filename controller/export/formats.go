package export

import (
	"compress/gzip"
	"fmt"
	"io"
	"strings"
)

// A Format is a form in which a recording is written.
type Format struct {
	Name   string
	Ends   []string // how files are called that have it
	Binary bool     // nothing for a terminal
	write  func(r *Report, w io.Writer, o FormatOptions) error
}

// FormatOptions are those of the forms that have any.
type FormatOptions struct {
	Text TextOptions
	JSON JSONOptions

	Weight string // of collapsed stacks: one of [Weights]; "" is the self time
}

// formats are in the order in which help lists them.
var formats = []Format{
	{"text", []string{".txt"}, false, func(r *Report, w io.Writer, o FormatOptions) error { return r.Text(w, o.Text) }},
	{"json", []string{".json"}, false, func(r *Report, w io.Writer, o FormatOptions) error { return r.JSON(w, o.JSON) }},
	{"snapshot", []string{".json.gz", ".rivulet"}, true, func(r *Report, w io.Writer, _ FormatOptions) error { return r.Snapshot(w) }},
	{"html", []string{".html", ".htm"}, false, func(r *Report, w io.Writer, _ FormatOptions) error { return r.HTML(w) }},
	{"pprof", []string{".pb.gz", ".pprof"}, true, func(r *Report, w io.Writer, _ FormatOptions) error { return r.Pprof(w) }},
	{"collapsed", []string{".collapsed", ".folded"}, false, func(r *Report, w io.Writer, o FormatOptions) error { return r.Collapsed(w, o.Weight) }},
	{"speedscope", []string{".speedscope.json", ".speedscope"}, false, func(r *Report, w io.Writer, _ FormatOptions) error { return r.Speedscope(w) }},
	{"openmetrics", []string{".prom", ".openmetrics"}, false, func(r *Report, w io.Writer, _ FormatOptions) error { return r.OpenMetrics(w, true) }},
}

// FormatNames are the names of all forms.
func FormatNames() []string {
	var out []string
	for _, f := range formats {
		out = append(out, f.Name)
	}
	return out
}

// FormatNamed finds a form by its name.
func FormatNamed(name string) (Format, bool) {
	for _, f := range formats {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// FormatOf finds the form that a file's name says, by its longest ending.
func FormatOf(file string) (Format, bool) {
	best, length := Format{}, 0
	for _, f := range formats {
		for _, end := range f.Ends {
			if strings.HasSuffix(strings.ToLower(file), end) && len(end) > length {
				best, length = f, len(end)
			}
		}
	}
	return best, length > 0
}

// Write writes the report in the form.
func (f Format) Write(r *Report, w io.Writer, o FormatOptions) error { return f.write(r, w, o) }

// Snapshot writes the report as JSON, its timeline included, compressed by gzip:
// [ReadJSON] gets back everything that is in it.
func (r *Report) Snapshot(w io.Writer) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if err := r.JSON(z, JSONOptions{Timeline: true}); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	return nil
}
