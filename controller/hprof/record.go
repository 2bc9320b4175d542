package hprof

// A Record is what [Scanner.Next] read. Which fields are set depends on its kind. It is
// valid until the next call of the scanner.
type Record struct {
	Kind   Kind
	Offset int64 // where it begins
	// ID is the identifier of the string, class, frame, object or root.
	ID uint64
	// Class is the identifier of the object's class, for an array of objects that of
	// the array's class.
	Class uint64
	// Name is the identifier of the loaded class's name, or of the frame's method.
	Name uint64
	// Serial is a class's, trace's or thread's serial number.
	Serial uint32
	// Trace is the serial number of a thread's stack trace, Depth the frame of a local
	// variable, -1 if none.
	Trace uint32
	Depth int32
	Root  RootKind
	Elem  Type // of an array of primitives
	// Length is the number of elements of an array.
	Length int64
	// Body is a string's text or an instance's fields: the class's own, then its
	// superclass's, and so on.
	Body []byte
	// Frames are the identifiers of a trace's frames.
	Frames []uint64
	// Dump is set for KindClass. It is the caller's to keep.
	Dump *Class
	// Line, Source: of a frame.
	Line   int32
	Source uint64
}

// A Class is what a dump says of a class.
type Class struct {
	ID, Super, Loader       uint64
	Signers, Domain         uint64
	InstanceSize            uint32 // bytes of all fields of an instance, as the dump counts them
	Statics                 []Static
	Fields                  []Field // its own instance fields, in the order of the dump
	StaticBytes, OwnedBytes int     // bytes of Statics and Fields in the dump
}

// A Static is a static field and its value, the raw bits.
type Static struct {
	Name  uint64
	Type  Type
	Value uint64
}

// A Field is an instance field.
type Field struct {
	Name uint64
	Type Type
}
