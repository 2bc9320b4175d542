package jfr

// A Base is how a type's values are written.
type Base uint8

// The bases of types.
const (
	Composite Base = iota // its fields in order
	Bool
	Byte
	Short
	Char
	Int
	Long
	Float
	Double
	Text
)

// bases are the types that have no fields, by name.
var bases = map[string]Base{
	"boolean": Bool, "byte": Byte, "short": Short, "char": Char, "int": Int, "long": Long,
	"float": Float, "double": Double, "java.lang.String": Text,
}

// A Unit says what a number is.
type Unit uint8

// The units of fields, by the annotations jdk.jfr.Timestamp and jdk.jfr.Timespan.
const (
	Plain       Unit = iota
	MomentTicks      // ticks of the chunk's clock
	MomentMillis
	SpanTicks
	SpanNanos
	SpanMicros
	SpanMillis
	SpanSeconds
)

// A Type is an event's, or that of a value in it.
type Type struct {
	ID     int64
	Name   string // "jdk.ExecutionSample", "java.lang.Thread"
	Super  string // "jdk.jfr.Event" of events
	Label  string // for people; may be empty
	Simple bool   // its only field stands for it
	Base   Base
	Fields []Field

	byName map[string]int
	pool   *pool
}

// IsEvent tells whether values of the type are events.
func (t *Type) IsEvent() bool { return t.Super == "jdk.jfr.Event" }

// Field is a field's place, or -1.
func (t *Type) Field(name string) int {
	if i, ok := t.byName[name]; ok {
		return i
	}
	return -1
}

// A Field is one of a type.
type Field struct {
	Name     string
	Label    string // for people; may be empty
	Type     *Type
	Pool     bool // it has a key of the type's constant pool
	Array    bool
	Unit     Unit
	Unsigned bool
}

// An element is one of the tree that metadata is.
type element struct {
	name     string
	attrs    map[string]string
	children []*element
}

const (
	mostElements = 1 << 20
	mostLevels   = 64 // of elements, and of types within types
)

// elements reads a tree of elements.
func (in *input) elements(strings []string, depth int, left *int) *element {
	if *left--; *left < 0 || depth > mostLevels {
		in.fail("too many elements of metadata", nil)
		return nil
	}
	text := func() string {
		i := in.int()
		if i < 0 || i >= int64(len(strings)) {
			in.fail("metadata names a text that there is not", nil)
			return ""
		}
		return strings[i]
	}
	e := &element{name: text()}
	n := in.count()
	if n > 0 {
		e.attrs = make(map[string]string, min(n, 16))
	}
	for range n {
		key := text()
		e.attrs[key] = text()
	}
	for range in.count() {
		if in.err != nil {
			return nil
		}
		e.children = append(e.children, in.elements(strings, depth+1, left))
	}
	return e
}
