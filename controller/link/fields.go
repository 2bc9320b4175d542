package link

import (
	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// fields goes over the fields of a message: to read them, to write them, or to
// describe them. Exactly one of r and w is set, or neither to describe.
type fields struct {
	r *wire.Reader
	w *wire.Writer

	text  []string // what was described: kind and name, or "[]" before what repeats
	bytes int      // the least that these take
	size  bool     // only that is asked for
}

// A Message is what travels between controller and agent.
type Message interface{ fields(f *fields) }

// Encode is a message as it travels; nil is an empty one.
func Encode(m Message) []byte {
	var w wire.Writer
	if m != nil {
		m.fields(&fields{w: &w})
	}
	return w.Bytes()
}

// Decode reads a message. Byte arrays in it alias b. Errors wrap
// [wire.ErrTruncated].
func Decode(m Message, b []byte) error {
	r := wire.NewReader(b)
	m.fields(&fields{r: r})
	return r.Err()
}

func (f *fields) describe(kind, name string, bytes int) {
	f.bytes += bytes
	if !f.size {
		f.text = append(f.text, kind+" "+name)
	}
}

func (f *fields) u8(name string, v *uint8) {
	switch {
	case f.r != nil:
		*v = f.r.U8()
	case f.w != nil:
		f.w.U8(*v)
	default:
		f.describe("u8", name, 1)
	}
}

// flag is a byte of 0 or 1.
func (f *fields) flag(name string, v *bool) {
	var b uint8
	if *v {
		b = 1
	}
	f.u8(name, &b)
	*v = b != 0
}

func (f *fields) u32(name string, v *uint32) {
	switch {
	case f.r != nil:
		*v = f.r.U32()
	case f.w != nil:
		f.w.U32(*v)
	default:
		f.describe("u32", name, 4)
	}
}

// method is a method's id, or the negative number of a find.
func (f *fields) method(kind, name string, v *int32) {
	if f.r == nil && f.w == nil {
		f.describe(kind, name, 4)
		return
	}
	n := uint32(*v)
	f.u32(name, &n)
	*v = int32(n)
}

func (f *fields) i64(name string, v *int64) {
	switch {
	case f.r != nil:
		*v = int64(f.r.U64())
	case f.w != nil:
		f.w.U64(uint64(*v))
	default:
		f.describe("u64", name, 8)
	}
}

func (f *fields) str(name string, v *string) {
	switch {
	case f.r != nil:
		*v = f.r.Str()
	case f.w != nil:
		f.w.Str(*v)
	default:
		f.describe("str", name, 2)
	}
}

func (f *fields) block(name string, v *[]byte) {
	switch {
	case f.r != nil:
		*v = f.r.Bytes()
	case f.w != nil:
		f.w.Block(*v)
	default:
		f.describe("bytes", name, 4)
	}
}

// class is a class's identity: its loader's number, and its name.
func (f *fields) class(loader, name string, v *cha.ClassID) {
	f.u32(loader, &v.Loader)
	f.str(name, &v.Name)
}

// rows are a count and so many rows of the same fields. A count that the rest of
// the message can't hold is an error of the reader's.
func rows[T any](f *fields, v *[]T, one func(f *fields, row *T)) {
	switch {
	case f.r != nil:
		var zero T
		row := fields{size: true}
		one(&row, &zero)
		n := f.r.Count(row.bytes)
		if n == 0 {
			return
		}
		*v = make([]T, n)
		for i := range *v {
			one(f, &(*v)[i])
		}
	case f.w != nil:
		f.w.U32(uint32(len(*v)))
		for i := range *v {
			one(f, &(*v)[i])
		}
	default:
		var zero T
		row := fields{size: f.size}
		one(&row, &zero)
		f.text = append(append(f.text, "[]"), row.text...)
		f.bytes += 4
	}
}

// classes are rows of classes.
func (f *fields) classes(v *[]cha.ClassID) {
	rows(f, v, func(f *fields, c *cha.ClassID) { f.class("loader", "name", c) })
}
