package wire

// Words of a node.
const (
	NMethod  = 0
	NParent  = 4
	NChild   = 8
	NSibling = 12
	NCache   = 16
	NRecord  = 32
	NFlags   = 36
	NCalls   = 40
	NCount   = 48
	NSelf    = 56

	CacheMask = 7

	NIncomplete = 1
	NFolded     = 2
	NSide       = (1<<31 - 1) &^ (1<<NodeShift - 1)

	MethodUnplaced = -2
	MethodHandover = -3
	MethodBack     = 1 << 30
	MethodFold     = 1 << 29
)

// Words of what hangs on N_SIDE: two nodes of the file.
const (
	XThrown  = 64
	XUnwound = 72
	XCut     = 80
	XFree    = 88
	XEnd     = 128
)
