package hprof

// A Type is the type of a field or of an array's elements.
type Type byte

// Types, by their numbers in the format.
const (
	Object  Type = 2
	Boolean Type = 4
	Char    Type = 5
	Float   Type = 6
	Double  Type = 7
	Byte    Type = 8
	Short   Type = 9
	Int     Type = 10
	Long    Type = 11
)

// types has each type's name in Java and its size; 0 is the size of an identifier.
var types = [12]struct {
	name string
	size int
}{
	Object: {"Object", 0}, Boolean: {"boolean", 1}, Char: {"char", 2}, Float: {"float", 4}, Double: {"double", 8},
	Byte: {"byte", 1}, Short: {"short", 2}, Int: {"int", 4}, Long: {"long", 8},
}

// Valid reports whether the format has the type.
func (t Type) Valid() bool { return int(t) < len(types) && types[t].name != "" }

// String is the type's name in Java.
func (t Type) String() string {
	if !t.Valid() {
		return "?"
	}
	return types[t].name
}

// Size is how many bytes of a dump a value takes, given the size of identifiers;
// 0 of a type that is not valid.
func (t Type) Size(idSize int) int {
	switch {
	case t == Object:
		return idSize
	case t.Valid():
		return types[t].size
	}
	return 0
}

// A Kind says what a [Record] is.
type Kind byte

// Kinds of records. Those of the heap follow KindRoot.
const (
	KindOther Kind = iota // a record that a heap analysis has no use for
	KindString
	KindLoadClass
	KindFrame
	KindTrace
	KindRoot
	KindClass
	KindInstance
	KindObjectArray
	KindPrimArray
	KindEnd // HEAP_DUMP_END
)

// A RootKind says why an object is a root of garbage collection.
type RootKind byte

// Kinds of roots, by their numbers in the format.
const (
	RootUnknown     RootKind = 0xff
	RootJNIGlobal   RootKind = 0x01
	RootJNILocal    RootKind = 0x02
	RootJavaFrame   RootKind = 0x03
	RootNativeStack RootKind = 0x04
	RootStickyClass RootKind = 0x05
	RootThreadBlock RootKind = 0x06
	RootMonitor     RootKind = 0x07
	RootThread      RootKind = 0x08
)

// Sub-records of a heap dump that are no roots.
const (
	subClass     = 0x20
	subInstance  = 0x21
	subObjArray  = 0x22
	subPrimArray = 0x23
)

// roots has, for each kind of root, its name and the two numbers that may follow the
// identifier: bytes in all, whether the first one is a thread's serial number. A second
// identifier counts as the size of one.
var roots = map[RootKind]struct {
	name   string
	u4     int
	ids    int
	thread bool
}{
	RootUnknown:     {"unknown root", 0, 0, false},
	RootJNIGlobal:   {"JNI global reference", 0, 1, false},
	RootJNILocal:    {"JNI local reference", 2, 0, true},
	RootJavaFrame:   {"local variable", 2, 0, true},
	RootNativeStack: {"native stack", 1, 0, true},
	RootStickyClass: {"system class", 0, 0, false},
	RootThreadBlock: {"thread block", 1, 0, true},
	RootMonitor:     {"monitor in use", 0, 0, false},
	RootThread:      {"thread", 2, 0, true},
}

// String is what people call the root.
func (k RootKind) String() string { return roots[k].name }

// Tags of records.
const (
	tagString      = 0x01
	tagLoadClass   = 0x02
	tagFrame       = 0x04
	tagTrace       = 0x05
	tagHeapDump    = 0x0c
	tagHeapSegment = 0x1c
	tagHeapEnd     = 0x2c
)
