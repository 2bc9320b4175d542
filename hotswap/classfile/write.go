package classfile

import "encoding/binary"

// Bytes returns the class file. Without a change it equals what Parse read.
func (c *Class) Bytes() []byte {
	b := make([]byte, 0, c.bytesSize())
	b = binary.BigEndian.AppendUint32(b, magic)
	b = append2(b, c.Minor, c.Major, uint16(c.Pool.Len()))
	b = append(b, c.Pool.raw...)
	b = append2(b, uint16(c.Access), c.this, c.super, uint16(len(c.interfaces)))
	b = append2(b, c.interfaces...)
	b = appendMembers(b, c.Fields)
	b = appendMembers(b, c.Methods)
	return AppendAttributes(b, c.Attributes)
}

// bytesSize returns the length of the file that Bytes makes.
func (c *Class) bytesSize() int {
	n := 24 + len(c.Pool.raw) + 2*len(c.interfaces) + attributesSize(c.Attributes)
	for _, ms := range [][]Member{c.Fields, c.Methods} {
		for i := range ms {
			n += 8 + attributesSize(ms[i].Attributes)
		}
	}
	return n
}

func attributesSize(as []Attribute) (n int) {
	for i := range as {
		n += 6 + len(as[i].Info)
	}
	return n
}

func append2(b []byte, vs ...uint16) []byte {
	for _, v := range vs {
		b = append(b, byte(v>>8), byte(v))
	}
	return b
}

func appendMembers(b []byte, ms []Member) []byte {
	b = append2(b, uint16(len(ms)))
	for i := range ms {
		m := &ms[i]
		b = append2(b, uint16(m.Access), m.name, m.desc)
		b = AppendAttributes(b, m.Attributes)
	}
	return b
}

// AppendAttributes appends an attribute table: its count and the attributes.
func AppendAttributes(b []byte, as []Attribute) []byte {
	b = append2(b, uint16(len(as)))
	for i := range as {
		a := &as[i]
		b = append2(b, a.name)
		b = binary.BigEndian.AppendUint32(b, uint32(len(a.Info)))
		b = append(b, a.Info...)
	}
	return b
}

// NewAttribute makes an attribute whose name is a constant of the class,
// appended if it is not there.
func (c *Class) NewAttribute(name string, info []byte) (Attribute, error) {
	i, err := c.Pool.AddUtf8(name)
	return Attribute{Name: name, Info: info, name: i}, err
}
