package heap

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// TextOptions fit a report to where it is shown.
type TextOptions struct {
	Top   int // rows of each list
	Width int // of the terminal; 0: lines are not cut
}

// A writer puts lines together that end at a terminal's width.
type writer struct {
	b     strings.Builder
	width int
}

func (w *writer) line(format string, args ...any) {
	text := strings.TrimRight(export.Clean(fmt.Sprintf(format, args...)), " ")
	if w.width > 0 {
		text = export.Fit(text, w.width)
	}
	w.b.WriteString(text + "\n")
}

// wrap writes a sentence on as many lines as it takes.
func (w *writer) wrap(first, indent, text string) {
	width := w.width
	if width < 40 {
		width = 100
	}
	line := first
	for word := range strings.FieldsSeq(export.Clean(text)) {
		if export.Width(line)+1+export.Width(word) > width && strings.TrimSpace(line) != "" {
			w.b.WriteString(strings.TrimRight(line, " ") + "\n")
			line = indent
		}
		if line != first && line != indent {
			line += " "
		}
		line += word
	}
	w.b.WriteString(line + "\n")
}

// Text writes the report for people.
func (r *Report) Text(out io.Writer, o TextOptions) error {
	w := &writer{width: o.Width}
	name := ""
	if r.File != "" {
		name = r.File + ": "
	}
	w.line("%s%s objects, %s", name, export.Count(r.Objects), export.Bytes(r.Bytes))
	if r.Damage != "" {
		w.wrap("", "", r.Damage)
	}
	for _, n := range r.Notes {
		w.wrap("", "", n)
	}
	if u := r.Unreachable; u.Objects > 0 {
		w.line("%s more, %s, can't be reached from any root", export.Count(u.Objects), export.Bytes(u.Bytes))
	}
	if u := r.Weak; u.Objects > 0 {
		w.line("%s of them, %s, are only weakly or softly reachable", export.Count(u.Objects), export.Bytes(u.Bytes))
	}
	r.textSuspects(w, o)
	w.line("")
	w.line("%10s %10s %12s  %s", "retained", "shallow", "objects", "class")
	for _, c := range r.Classes[:min(len(r.Classes), o.Top)] {
		w.line("%10s %10s %12s  %s", export.Bytes(c.Retained), export.Bytes(c.Shallow), export.Count(c.Objects), c.Class)
	}
	if more := len(r.Classes) - o.Top; more > 0 {
		w.line("%36s%s more classes", "", export.Count(int64(more)))
	}
	r.textClassesAllocated(w, o)
	w.line("")
	w.line("%10s  %s", "retained", "object")
	for _, d := range r.Dominators[:min(len(r.Dominators), o.Top)] {
		w.line("%10s  %s %s", export.Bytes(d.Retained), d.What, d.Object)
	}
	r.textSections(w, o)
	_, err := io.WriteString(out, w.b.String())
	return err
}

func (r *Report) textSuspects(w *writer, o TextOptions) {
	w.line("")
	if len(r.Suspects) == 0 {
		w.line("Nothing retains %.0f %% of the heap: no suspect.", 100*suspectShare)
		return
	}
	w.line("suspects")
	for i, s := range r.Suspects[:min(len(r.Suspects), o.Top)] {
		w.wrap(fmt.Sprintf("%3d. ", i+1), "     ", s.Why)
		for k, p := range s.Path {
			w.line("       %s%s", strings.Repeat(" ", min(k, 20)), p)
		}
		for _, p := range s.Parts {
			if p.Allocated != nil {
				w.line("     %s %s, %s", export.Count(p.Objects), p.Class, export.Bytes(p.Shallow))
				w.textAllocated("       ", p.Allocated)
			}
		}
	}
}

// textSections writes what is in the report beside objects and classes.
func (r *Report) textSections(w *writer, o TextOptions) {
	if d := r.Duplicates; d.Wasted > 0 {
		w.line("")
		w.line("duplicate strings: %s of the %s that %s strings take", export.Bytes(d.Wasted), export.Bytes(d.Bytes), export.Count(d.Strings))
		w.line("%10s %12s  %s", "wasted", "copies", "text")
		for _, t := range d.Top[:min(len(d.Top), o.Top)] {
			w.line("%10s %12s  %q", export.Bytes(t.Wasted), export.Count(t.Copies), t.Text)
		}
	}
	if len(r.Collections) > 0 {
		w.line("")
		w.line("%10s %12s %12s %12s  %s", "wasted", "collections", "half empty", "empty", "room in collections")
		for _, c := range r.Collections[:min(len(r.Collections), o.Top)] {
			w.line("%10s %12s %12s %12s  %s", export.Bytes(c.Wasted), export.Count(c.Count), export.Count(c.Half), export.Count(c.Empty), c.Class)
		}
	}
	if len(r.Boxed) > 0 {
		w.line("")
		w.line("%10s %12s %12s  %s", "bytes", "objects", "cacheable", "boxed values")
		for _, b := range r.Boxed {
			w.line("%10s %12s %12s  %s", export.Bytes(b.Bytes), export.Count(b.Count), export.Count(b.Cacheable), b.Class)
		}
	}
	if len(r.ThreadLocals) > 0 {
		w.line("")
		w.line("%10s %10s  %s", "retained", "largest", "thread locals of")
		for _, t := range r.ThreadLocals[:min(len(r.ThreadLocals), o.Top)] {
			w.line("%10s %10s  %s: %s", export.Bytes(t.Retained), export.Bytes(t.Value), t.Thread, t.Largest)
		}
	}
	if len(r.Loaders) > 1 {
		w.line("")
		w.line("%10s %10s %12s %9s %8s  %s", "retained", "shallow", "objects", "classes", "loaders", "class loader")
		for _, l := range r.Loaders[:min(len(r.Loaders), o.Top)] {
			label := l.Loader
			if label == "" {
				label = "(the JVM's own)"
			}
			w.line("%10s %10s %12s %9s %8s  %s", export.Bytes(l.Retained), export.Bytes(l.Shallow), export.Count(l.Objects), export.Count(l.Classes), export.Count(l.Loaders), label)
		}
	}
	if len(r.LoaderLeaks) > 0 {
		w.line("")
		w.line("class loaders that have loaded the same classes")
		for _, l := range r.LoaderLeaks[:min(len(r.LoaderLeaks), o.Top)] {
			w.line("%10s  %s loaders %s, each with a class %s", export.Bytes(l.Retained), export.Count(l.Loaders), l.Loader, l.Class)
			for k, p := range l.Path {
				w.line("       %s%s", strings.Repeat(" ", min(k, 20)), p)
			}
		}
	}
}

// Text writes the objects for people, with the fields that are no references.
func (f *FoundObjects) Text(out io.Writer, o TextOptions) error {
	w := &writer{width: o.Width}
	w.line("%s objects match, %s without what they retain", export.Count(f.Matching), export.Bytes(f.Shallow))
	w.line("%10s %10s  %s", "retained", "shallow", "object")
	for _, x := range f.Objects[:min(len(f.Objects), o.Top)] {
		text := x.Class + " " + x.Object
		if x.Length != nil {
			text += fmt.Sprintf(" length=%d", *x.Length)
		}
		for _, name := range slices.Sorted(maps.Keys(x.Fields)) {
			switch v := x.Fields[name].(type) {
			case nil:
				text += " " + name + "=nil"
			case string:
				text += fmt.Sprintf(" %s=%q", name, v)
			default:
				text += fmt.Sprintf(" %s=%v", name, v)
			}
		}
		w.line("%10s %10s  %s", export.Bytes(x.Retained), export.Bytes(x.Shallow), text)
	}
	_, err := io.WriteString(out, w.b.String())
	return err
}
