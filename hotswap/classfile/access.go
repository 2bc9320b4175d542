package classfile

// Access holds the access flags of a class or member (tables 4.1-B, 4.5-A and
// 4.6-A). Some bits mean different things on classes and on methods.
type Access uint16

// Access flags.
const (
	AccPublic       Access = 0x0001
	AccPrivate      Access = 0x0002
	AccProtected    Access = 0x0004
	AccStatic       Access = 0x0008
	AccFinal        Access = 0x0010
	AccSuper        Access = 0x0020 // class
	AccSynchronized Access = 0x0020 // method
	AccBridge       Access = 0x0040 // method
	AccVarargs      Access = 0x0080 // method
	AccNative       Access = 0x0100
	AccInterface    Access = 0x0200
	AccAbstract     Access = 0x0400
	AccStrict       Access = 0x0800
	AccSynthetic    Access = 0x1000
	AccAnnotation   Access = 0x2000
	AccEnum         Access = 0x4000
	AccModule       Access = 0x8000 // class
)

// Has reports whether all of these flags are set.
func (a Access) Has(flags Access) bool { return a&flags == flags }
