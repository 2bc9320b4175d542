package jfr

import "math"

// A Kind says what a value is.
type Kind uint8

// The kinds of values.
const (
	Null      Kind = iota
	Number         // an integer, a character or a truth value: see the field's type
	Real           // a floating-point number
	String         // a text
	Reference      // a key of a constant pool
	Object         // a composite value
	List           // an array
)

// A Value is one of an event's. It is valid until the callback returns that was given it.
type Value struct {
	Kind Kind
	n    int64
	s    string
	typ  *Type
	list []Value
	c    *Chunk
}

// Int is an integer's value, that of a real number without its fraction, else 0.
func (v Value) Int() int64 {
	v = v.Resolve()
	switch v.Kind {
	case Number:
		return v.n
	case Real:
		return int64(math.Float64frombits(uint64(v.n)))
	}
	return 0
}

// Float is a number's value, else 0.
func (v Value) Float() float64 {
	v = v.Resolve()
	switch v.Kind {
	case Number:
		return float64(v.n)
	case Real:
		return math.Float64frombits(uint64(v.n))
	}
	return 0
}

// Text is a text's value, else "".
func (v Value) Text() string { return v.Resolve().s }

// Key is what tells the value of a reference from others of its type; 0 if it is none.
// JVMs number from 1.
func (v Value) Key() int64 {
	if v.Kind == Reference {
		return v.n
	}
	return 0
}

// Field is a field of an object, followed if the object is a reference; Null if there is none.
func (v Value) Field(name string) Value {
	if v.Kind == Reference {
		v = v.one()
	}
	if v.Kind != Object {
		return Value{}
	}
	if i := v.typ.Field(name); i >= 0 && i < len(v.list) {
		return v.list[i]
	}
	return Value{}
}

// Elements are those of an array.
func (v Value) Elements() []Value {
	if v.Kind == List {
		return v.list
	}
	return nil
}

// one follows a reference once, without unwrapping.
func (v Value) one() Value {
	if v.Kind != Reference {
		return v
	}
	return v.c.lookup(v.typ, v.n)
}

// Resolve follows references, and takes the only field of types that it stands for.
func (v Value) Resolve() Value {
	for range mostLevels {
		switch {
		case v.Kind == Reference:
			v = v.one()
		case v.Kind == Object && v.typ.Simple && len(v.list) == 1:
			v = v.list[0]
		default:
			return v
		}
	}
	return Value{}
}

// field reads a field's value.
func (c *Chunk) field(in *input, f *Field, depth int) Value {
	if !f.Array {
		return c.scalar(in, f, depth)
	}
	n := in.count()
	list := c.room(n)
	for i := range n {
		list[i] = c.scalar(in, f, depth)
		if in.err != nil {
			return Value{}
		}
	}
	return Value{Kind: List, typ: f.Type, list: list, c: c}
}

func (c *Chunk) scalar(in *input, f *Field, depth int) Value {
	if f.Pool {
		return Value{Kind: Reference, n: in.long(), typ: f.Type, c: c}
	}
	return c.value(in, f.Type, depth)
}

// value reads a value of a type.
func (c *Chunk) value(in *input, t *Type, depth int) Value {
	if in.steps--; in.steps < 0 || depth > mostLevels {
		in.fail("types that contain themselves", nil)
		return Value{}
	}
	number := func(n int64) Value { return Value{Kind: Number, n: n} }
	switch t.Base {
	case Bool, Byte:
		return number(int64(int8(in.byte())))
	case Short:
		return number(in.short16())
	case Char:
		return number(int64(in.char()))
	case Int:
		return number(in.int())
	case Long:
		return number(in.long())
	case Float:
		return Value{Kind: Real, n: int64(math.Float64bits(in.float()))}
	case Double:
		return Value{Kind: Real, n: int64(math.Float64bits(in.double()))}
	case Text:
		s, key, encoding := in.text()
		switch encoding {
		case textNull:
			return Value{}
		case textPool:
			return Value{Kind: Reference, n: key, typ: t, c: c}
		}
		return Value{Kind: String, s: s}
	}
	list := c.room(len(t.Fields))
	for i := range t.Fields {
		list[i] = c.field(in, &t.Fields[i], depth+1)
		if in.err != nil {
			return Value{}
		}
	}
	return Value{Kind: Object, typ: t, list: list, c: c}
}

// skip goes past a value.
func (c *Chunk) skip(in *input, t *Type, depth int) {
	if in.steps--; in.steps < 0 || depth > mostLevels {
		in.fail("types that contain themselves", nil)
		return
	}
	switch t.Base {
	case Bool, Byte:
		in.byte()
	case Short:
		in.short16()
	case Char:
		in.char()
	case Int:
		in.int()
	case Long:
		in.long()
	case Float:
		in.fixed(4)
	case Double:
		in.fixed(8)
	case Text:
		in.skipText()
	default:
		for i := range t.Fields {
			f, n := &t.Fields[i], 1
			if f.Array {
				n = in.count()
			}
			for range n {
				if in.err != nil {
					return
				}
				if f.Pool {
					in.long()
				} else {
					c.skip(in, f.Type, depth+1)
				}
			}
		}
	}
}
