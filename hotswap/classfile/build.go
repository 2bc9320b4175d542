package classfile

import "encoding/binary"

// New returns a class without members.
func New(major uint16, access Access, name, super string) (*Class, error) {
	b := binary.BigEndian.AppendUint32(nil, magic)
	b = append2(b, 0, major, 5)
	for i, s := range []string{name, super} {
		b = append(b, byte(TagUtf8), byte(len(s)>>8), byte(len(s)))
		b = append(b, s...)
		b = append(b, byte(TagClass), 0, byte(2*i+1))
	}
	return Parse(append2(b, uint16(access), 2, 4, 0, 0, 0, 0))
}

// AddMethod appends a method without attributes. The pointer is good until the
// next call.
func (c *Class) AddMethod(access Access, name, desc string) (*Member, error) {
	n, err := c.Pool.AddUtf8(name)
	if err != nil {
		return nil, err
	}
	d, err := c.Pool.AddUtf8(desc)
	if err != nil {
		return nil, err
	}
	c.Methods = append(c.Methods, Member{Access: access, Name: name, Desc: desc, name: n, desc: d})
	return &c.Methods[len(c.Methods)-1], nil
}
