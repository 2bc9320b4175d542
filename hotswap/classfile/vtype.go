package classfile

// A VTag is the kind of a verification type (§4.7.4).
type VTag uint8

// The kinds of verification types.
const (
	VTop VTag = iota
	VInteger
	VFloat
	VDouble
	VLong
	VNull
	VUninitializedThis
	VObject        // Data is a Class constant
	VUninitialized // Data is the offset of the new instruction
)

// A VType is a verification type.
type VType struct {
	Tag  VTag
	Data uint16
}

// Slots returns the local variables that a value of the type takes.
func (t VType) Slots() int {
	if t.Tag == VLong || t.Tag == VDouble {
		return 2
	}
	return 1
}

// vtypes by the first letter of a field type.
var vtypes = [256]VTag{
	'B': VInteger, 'C': VInteger, 'I': VInteger, 'S': VInteger, 'Z': VInteger,
	'F': VFloat, 'D': VDouble, 'J': VLong, 'L': VObject, '[': VObject,
}

// VTypeOf returns the verification type of a field type, with its class
// appended to the pool if it is not there.
func (p *Pool) VTypeOf(typ string) (VType, error) {
	if typ == "" {
		return VType{}, descError(typ)
	}
	t := VType{Tag: vtypes[typ[0]]}
	switch typ[0] {
	case descObject:
		typ = typ[1 : len(typ)-1]
	case descArray:
	default:
		return t, nil
	}
	i, err := p.AddClass(typ)
	t.Data = i
	return t, err
}

// EntryLocals appends the locals with which a method of c begins (§4.10.1.6):
// what the first stack map frame builds on.
func (c *Class) EntryLocals(m *Member, buf []VType) ([]VType, error) {
	if !m.Access.Has(AccStatic) {
		this := VType{VObject, c.this}
		if m.Name == initName && c.name != objectClass {
			this = VType{Tag: VUninitializedThis}
		}
		buf = append(buf, this)
	}
	var room [16]string
	params, _, err := Params(m.Desc, room[:0])
	if err != nil {
		return buf, err
	}
	for _, typ := range params {
		t, err := c.Pool.VTypeOf(typ)
		if err != nil {
			return buf, err
		}
		buf = append(buf, t)
	}
	return buf, nil
}
