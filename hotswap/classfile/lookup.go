package classfile

import "encoding/binary"

// A NameAndType is a name with a descriptor (§4.4.6).
type NameAndType struct{ Name, Desc string }

// A MemberRef is a symbolic reference to a field or method (§4.4.2).
type MemberRef struct {
	Kind  Tag    // TagFieldref, TagMethodref or TagInterfaceMethodref
	Class string // internal name, or a descriptor if an array
	Name  string
	Desc  string
}

// A RefKind says what a method handle does with its member (table 5.4.3.5-A).
type RefKind uint8

// The kinds of method handles.
const (
	RefGetField RefKind = iota + 1
	RefGetStatic
	RefPutField
	RefPutStatic
	RefInvokeVirtual
	RefInvokeStatic
	RefInvokeSpecial
	RefNewInvokeSpecial
	RefInvokeInterface
)

// A MethodHandle is a constant of §4.4.8.
type MethodHandle struct {
	Kind RefKind
	Ref  MemberRef
}

// A Dynamic is a call site or constant computed by a bootstrap method
// (§4.4.10).
type Dynamic struct {
	Kind      Tag // TagDynamic or TagInvokeDynamic
	Bootstrap int // index into Class.BootstrapMethods; not checked against its length
	NameAndType
}

var (
	wantString       = setOf(TagString)
	wantInteger      = setOf(TagInteger)
	wantNumber       = setOf(TagInteger, TagFloat, TagLong, TagDouble)
	wantMethodHandle = setOf(TagMethodHandle)
	wantMethodType   = setOf(TagMethodType)
	wantDynamic      = setOf(TagDynamic, TagInvokeDynamic)
)

// named returns the Utf8 that constant i, of a kind in want, points to.
func (p *Pool) named(i uint16, want tagSet) (string, error) {
	if t := p.Tag(i); !want.has(t) {
		return "", p.wrong(i, t, want)
	}
	return p.utf8(p.u2(i, 0)), nil
}

// ClassName returns the name in Class constant i: internal form, or a
// descriptor for an array class.
func (p *Pool) ClassName(i uint16) (string, error) { return p.named(i, wantClass) }

// String returns the raw modified UTF-8 of String constant i.
func (p *Pool) String(i uint16) (string, error) { return p.named(i, wantString) }

// MethodType returns the descriptor in MethodType constant i.
func (p *Pool) MethodType(i uint16) (string, error) { return p.named(i, wantMethodType) }

// Integer returns the value of Integer constant i.
func (p *Pool) Integer(i uint16) (int32, error) {
	b, err := p.body(i, wantInteger)
	if err != nil {
		return 0, err
	}
	return int32(binary.BigEndian.Uint32(b)), nil
}

// Number returns the bits of Integer, Float, Long or Double constant i, those of
// the first two in the lower half.
func (p *Pool) Number(i uint16) (uint64, error) {
	b, err := p.body(i, wantNumber)
	if err != nil {
		return 0, err
	}
	if t := p.Tag(i); t == TagInteger || t == TagFloat {
		return uint64(binary.BigEndian.Uint32(b)), nil
	}
	return binary.BigEndian.Uint64(b), nil
}

// NameAndType returns NameAndType constant i.
func (p *Pool) NameAndType(i uint16) (NameAndType, error) {
	if t := p.Tag(i); t != TagNameAndType {
		return NameAndType{}, p.wrong(i, t, wantNameAndType)
	}
	return p.nameAndType(i), nil
}

func (p *Pool) nameAndType(i uint16) NameAndType {
	return NameAndType{p.utf8(p.u2(i, 0)), p.utf8(p.u2(i, 2))}
}

// MemberRef returns Fieldref, Methodref or InterfaceMethodref constant i.
func (p *Pool) MemberRef(i uint16) (MemberRef, error) {
	t := p.Tag(i)
	if !wantMember.has(t) {
		return MemberRef{}, p.wrong(i, t, wantMember)
	}
	nt := p.nameAndType(p.u2(i, 2))
	return MemberRef{t, p.utf8(p.u2(p.u2(i, 0), 0)), nt.Name, nt.Desc}, nil
}

// MethodHandle returns MethodHandle constant i.
func (p *Pool) MethodHandle(i uint16) (MethodHandle, error) {
	b, err := p.body(i, wantMethodHandle)
	if err != nil {
		return MethodHandle{}, err
	}
	ref, err := p.MemberRef(binary.BigEndian.Uint16(b[1:]))
	return MethodHandle{RefKind(b[0]), ref}, err
}

// Dynamic returns Dynamic or InvokeDynamic constant i.
func (p *Pool) Dynamic(i uint16) (Dynamic, error) {
	t := p.Tag(i)
	if !wantDynamic.has(t) {
		return Dynamic{}, p.wrong(i, t, wantDynamic)
	}
	return Dynamic{t, int(p.u2(i, 0)), p.nameAndType(p.u2(i, 2))}, nil
}
