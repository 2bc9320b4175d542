package classfile

import "errors"

var (
	errFrameKind = errors.New("reserved frame type")
	errFrameType = errors.New("no such verification type")
)

// ErrFrameSize says that a stack map frame has more locals or stack than its
// method, or drops more locals than there are.
var ErrFrameSize = errors.New("stack map frame with too many or too few locals or too much stack")

// frameRow is one range of frame types (§4.7.4).
type frameRow struct {
	last uint8 // largest frame_type of the range
	kind frameKind
}

type frameKind uint8

const (
	frameSame frameKind = iota
	frameOne
	frameReserved
	frameOneExtended
	frameChop
	frameSameExtended
	frameAppend
	frameFull
)

// The frame types where a range begins, as far as they are written.
const (
	typeOne          = 64
	typeOneExtended  = 247
	typeSameExtended = 251
	typeFull         = 255
)

var frameRows = [...]frameRow{
	{typeOne - 1, frameSame},
	{127, frameOne},
	{246, frameReserved},
	{typeOneExtended, frameOneExtended},
	{250, frameChop},
	{typeSameExtended, frameSameExtended},
	{254, frameAppend},
	{typeFull, frameFull},
}

// frameKinds is frameRows by frame type.
var frameKinds = func() (t [256]frameKind) {
	i := 0
	for ft := range t {
		if ft > int(frameRows[i].last) {
			i++
		}
		t[ft] = frameRows[i].kind
	}
	return t
}()

// A Frame is a stack map frame in full: what the locals and the stack hold
// when control comes to Offset.
type Frame struct {
	Offset     int
	Locals     []VType // one entry also for a long or double
	Stack      []VType
	SameLocals bool // Locals equal those of the frame before
}

// A FrameReader walks over a StackMapTable.
type FrameReader struct {
	Frame
	Check     func(VType) error // asked about each type as it is read, if set
	CheckAll  func() error      // asked when the locals or the stack that a frame lists have been read, if set
	r         reader
	left      int
	max       int // locals or stack entries that a frame may have
	lastFrame int
}

// NewFrameReader reads the contents of a StackMapTable attribute of code. The
// locals are those at method entry, see [Class.EntryLocals]; the reader works
// in their memory.
func NewFrameReader(a *Attribute, code *Code, locals []VType) *FrameReader {
	f := &FrameReader{lastFrame: -1}
	f.Reset(a, code, locals)
	return f
}

// Reset starts again with another attribute and keeps the memory.
func (f *FrameReader) Reset(a *Attribute, code *Code, locals []VType) {
	f.r = reader{b: a.Info, base: a.at, section: "4.7.4"}
	f.Frame = Frame{Locals: locals, Stack: f.Stack[:0]}
	f.lastFrame = -1
	f.max = int(max(code.MaxLocals, code.MaxStack))
	f.left = int(f.r.u2()) // memory is taken for one frame at a time
}

// Err returns what stopped the walk early.
func (f *FrameReader) Err() error { return f.r.err }

// Left returns the number of frames not read yet.
func (f *FrameReader) Left() int { return f.left }

// Next reads the next frame. Locals and Stack are valid until then.
func (f *FrameReader) Next() bool {
	if f.r.err != nil {
		return false
	}
	if f.left == 0 {
		_ = f.r.done() // the frame that comes next says it
		return false
	}
	f.left--
	ft := int(f.r.u1())
	kind := frameKinds[ft]
	delta := ft
	switch kind {
	case frameSame:
	case frameOne:
		delta = ft - typeOne
	case frameReserved:
		f.r.fail(errFrameKind)
	default:
		delta = int(f.r.u2())
	}
	f.lastFrame += delta + 1
	f.Offset = f.lastFrame
	f.Stack = f.Stack[:0]
	f.SameLocals = kind != frameChop && kind != frameAppend && kind != frameFull
	switch kind {
	case frameOne, frameOneExtended:
		f.Stack = append(f.Stack, f.vtype())
		f.checkAll()
	case frameChop:
		n := typeSameExtended - ft
		if n > len(f.Locals) {
			f.r.fail(ErrFrameSize)
			return false
		}
		f.Locals = f.Locals[:len(f.Locals)-n]
	case frameAppend:
		f.Locals = f.vtypes(f.Locals, ft-typeSameExtended)
		f.checkAll()
	case frameFull:
		f.Locals = f.vtypes(f.Locals[:0], int(f.r.u2()))
		f.checkAll()
		if f.r.err == nil {
			f.Stack = f.vtypes(f.Stack, int(f.r.u2()))
			f.checkAll()
		}
	}
	if len(f.Locals) > f.max || len(f.Stack) > f.max {
		f.r.fail(ErrFrameSize)
	}
	return f.r.err == nil
}

func (f *FrameReader) vtypes(buf []VType, n int) []VType {
	for ; n > 0 && f.r.err == nil; n-- { // memory is bounded by the bytes
		buf = append(buf, f.vtype())
	}
	return buf
}

func (f *FrameReader) checkAll() {
	if f.CheckAll != nil && f.r.err == nil {
		if err := f.CheckAll(); err != nil {
			f.r.fail(err)
		}
	}
}

func (f *FrameReader) vtype() VType {
	t := VType{Tag: VTag(f.r.u1())}
	if t.Tag >= VObject {
		if t.Tag > VUninitialized {
			f.r.fail(errFrameType)
		}
		t.Data = f.r.u2()
	}
	if f.Check != nil && f.r.err == nil {
		if err := f.Check(t); err != nil {
			f.r.fail(err)
		}
	}
	return t
}
