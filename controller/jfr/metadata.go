package jfr

import (
	"cmp"
	"slices"
	"strconv"
)

// metadata reads the types of a chunk from its metadata event.
func (c *Chunk) metadata(b []byte, base int64) error {
	in := &input{b: b, base: base, compressed: c.compressed}
	in.long() // start
	in.long() // duration
	in.long() // number of the metadata
	n := in.count()
	strings := make([]string, 0, n)
	for range n {
		s, _, encoding := in.text()
		if encoding == textPool {
			in.fail("metadata refers to a constant pool", nil)
		}
		if in.err != nil {
			return in.err
		}
		strings = append(strings, s)
	}
	left := mostElements
	root := in.elements(strings, 0, &left)
	if in.err != nil {
		return in.err
	}
	var classes []*element
	for _, part := range root.children {
		if part.name != "metadata" {
			continue
		}
		for _, e := range part.children {
			if e.name == "class" {
				classes = append(classes, e)
			}
		}
	}
	byName := map[int64]string{} // annotations name their types by number
	for _, e := range classes {
		id, err := strconv.ParseInt(e.attrs["id"], 10, 64)
		if err != nil || c.types[id] != nil {
			in.fail("a type without a number of its own", nil)
			return in.err
		}
		t := &Type{ID: id, Name: e.attrs["name"], Super: e.attrs["superType"], Simple: e.attrs["simpleType"] == "true"}
		t.Base = bases[t.Name]
		c.types[id], byName[id] = t, t.Name
	}
	for _, e := range classes {
		id, _ := strconv.ParseInt(e.attrs["id"], 10, 64)
		if !c.fields(c.types[id], e, byName) {
			in.fail("a field of a type that there is not", nil)
			return in.err
		}
	}
	for _, t := range c.types {
		t.Simple = t.Simple && len(t.Fields) == 1 && t.Base == Composite
	}
	return nil
}

// fields reads a type's fields.
func (c *Chunk) fields(t *Type, e *element, names map[int64]string) bool {
	t.byName = map[string]int{}
	for _, child := range e.children {
		switch child.name {
		case "annotation":
			if annotation(child, names) == "jdk.jfr.Label" {
				t.Label = child.attrs["value"]
			}
		case "field":
			id, err := strconv.ParseInt(child.attrs["class"], 10, 64)
			of := c.types[id]
			if err != nil || of == nil {
				return false
			}
			f := Field{Name: child.attrs["name"], Type: of, Pool: child.attrs["constantPool"] == "true"}
			f.Array = child.attrs["dimension"] != "" && child.attrs["dimension"] != "0"
			for _, a := range child.children {
				if a.name == "annotation" {
					f.annotate(annotation(a, names), a.attrs["value"])
				}
			}
			if _, double := t.byName[f.Name]; !double {
				t.byName[f.Name] = len(t.Fields)
			}
			t.Fields = append(t.Fields, f)
		}
	}
	return true
}

func annotation(e *element, names map[int64]string) string {
	id, _ := strconv.ParseInt(e.attrs["class"], 10, 64)
	return names[id]
}

func (f *Field) annotate(name, value string) {
	switch name {
	case "jdk.jfr.Label":
		f.Label = value
	case "jdk.jfr.Unsigned":
		f.Unsigned = true
	case "jdk.jfr.Timestamp":
		f.Unit = map[string]Unit{"TICKS": MomentTicks, "MILLISECONDS_SINCE_EPOCH": MomentMillis}[value]
	case "jdk.jfr.Timespan":
		f.Unit = map[string]Unit{
			"TICKS": SpanTicks, "NANOSECONDS": SpanNanos, "MICROSECONDS": SpanMicros,
			"MILLISECONDS": SpanMillis, "SECONDS": SpanSeconds,
		}[value]
	}
}

// Types are the chunk's types of events, by name.
func (c *Chunk) Types() []*Type {
	var out []*Type
	for _, t := range c.types {
		if t.IsEvent() {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b *Type) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return out
}
