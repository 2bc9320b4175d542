package heap

import (
	"cmp"
	"io"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// A Difference is what changed from one dump to another.
type Difference struct {
	Schema  int         `json:"schema"`
	Kind    string      `json:"kind"` // "heap-difference"
	Files   [2]string   `json:"files"`
	Objects [2]int64    `json:"objects"`
	Bytes   [2]int64    `json:"bytes"`
	Classes []ClassDiff `json:"classes"`
	// Dominators are the objects that retain more or less than they did. One is found
	// again by what it is and by its path's beginning, since addresses change.
	Dominators []DominatorDiff `json:"dominators"`
	Suspects   []Suspect       `json:"suspects"` // of the second dump
}

// A ClassDiff is how a class has grown; classes of a name are added up.
type ClassDiff struct {
	Class    string   `json:"class"`
	Objects  [2]int64 `json:"objects"`
	Shallow  [2]int64 `json:"shallow_bytes"`
	Retained [2]int64 `json:"retained_bytes"`
}

func (c ClassDiff) more() int64 { return c.Shallow[1] - c.Shallow[0] }

// A DominatorDiff is how an object has grown.
type DominatorDiff struct {
	What     string   `json:"what"`
	Class    string   `json:"class"`
	Retained [2]int64 `json:"retained_bytes"`
	Path     []string `json:"path"`
}

func (d DominatorDiff) more() int64 { return d.Retained[1] - d.Retained[0] }

// Compare compares two reports, what grew most first.
func Compare(before, after *Report) *Difference {
	d := &Difference{
		Schema: Schema, Kind: "heap-difference", Files: [2]string{before.File, after.File}, Suspects: after.Suspects,
		Objects: [2]int64{before.Objects, after.Objects}, Bytes: [2]int64{before.Bytes, after.Bytes},
	}
	classes := map[string]*ClassDiff{}
	type object struct{ what, class, root string }
	objects := map[object]*DominatorDiff{}
	for i, r := range []*Report{before, after} {
		for _, c := range r.Classes {
			x := classes[c.Class]
			if x == nil {
				x = &ClassDiff{Class: c.Class}
				classes[c.Class] = x
			}
			x.Objects[i] += c.Objects
			x.Shallow[i] += c.Shallow
			x.Retained[i] += c.Retained
		}
		for _, o := range r.Dominators {
			k := object{o.What, o.Class, o.Path[0]}
			x := objects[k]
			if x == nil {
				x = &DominatorDiff{What: o.What, Class: o.Class, Path: o.Path}
				objects[k] = x
			}
			x.Retained[i] += o.Retained
		}
	}
	d.Classes = []ClassDiff{}
	for _, c := range classes {
		if c.more() != 0 || c.Retained[0] != c.Retained[1] {
			d.Classes = append(d.Classes, *c)
		}
	}
	slices.SortFunc(d.Classes, func(a, b ClassDiff) int {
		return cmp.Or(cmp.Compare(b.more(), a.more()), cmp.Compare(a.Class, b.Class))
	})
	d.Dominators = []DominatorDiff{}
	for _, o := range objects {
		if o.more() != 0 {
			d.Dominators = append(d.Dominators, *o)
		}
	}
	slices.SortFunc(d.Dominators, func(a, b DominatorDiff) int {
		return cmp.Or(cmp.Compare(b.more(), a.more()), cmp.Compare(a.What, b.What), cmp.Compare(a.Path[0], b.Path[0]))
	})
	return d
}

// Text writes the difference for people.
func (d *Difference) Text(out io.Writer, o TextOptions) error {
	w := &writer{width: o.Width}
	w.line("%s -> %s", d.Files[0], d.Files[1])
	w.line("%s -> %s objects, %s -> %s", export.Count(d.Objects[0]), export.Count(d.Objects[1]), export.Bytes(d.Bytes[0]), export.Bytes(d.Bytes[1]))
	w.line("")
	w.line("%10s %10s %12s  %s", "more", "retained", "objects", "class")
	for _, c := range d.Classes[:min(len(d.Classes), o.Top)] {
		w.line("%10s %10s %12s  %s", more(c.more(), export.Bytes), more(c.Retained[1]-c.Retained[0], export.Bytes), more(c.Objects[1]-c.Objects[0], export.Count), c.Class)
	}
	w.line("")
	w.line("%10s  %s", "retained", "object")
	for _, x := range d.Dominators[:min(len(d.Dominators), o.Top)] {
		w.line("%10s  %s", more(x.more(), export.Bytes), x.What)
	}
	r := &Report{Suspects: d.Suspects}
	r.textSuspects(w, o)
	_, err := io.WriteString(out, w.b.String())
	return err
}

// more writes a difference with its sign.
func more(n int64, form func(int64) string) string {
	switch {
	case n > 0:
		return "+" + form(n)
	case n < 0:
		return "-" + form(-n)
	}
	return "0"
}
