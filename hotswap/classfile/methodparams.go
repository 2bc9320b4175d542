package classfile

import "encoding/binary"

// HasMethodParameters reports whether a method of c carries MethodParameters
// (§4.7.24).
func HasMethodParameters(c *Class) bool {
	for i := range c.Methods {
		if c.Methods[i].Attribute(AttrMethodParameters) != nil {
			return true
		}
	}
	return false
}

// CarryMethodParameters returns the class file dst with the MethodParameters
// attributes of src put onto the methods of equal name and descriptor that
// lack them; dst itself if there is nothing to do. It is for bytes as a JVM
// older than 19 hands them to a transformer on retransformation, which have
// lost the attribute (JDK-8240908); src is the class file that the class was
// loaded from.
func CarryMethodParameters(dst, src []byte) ([]byte, error) {
	from, err := Parse(src)
	if err != nil {
		return nil, err
	}
	if !HasMethodParameters(from) {
		return dst, nil
	}
	to, err := Parse(dst)
	if err != nil {
		return nil, err
	}
	changed := false
	for i := range from.Methods {
		m := &from.Methods[i]
		a := m.Attribute(AttrMethodParameters)
		if a == nil {
			continue
		}
		lacks := to.Method(m.Name, m.Desc)
		if lacks == nil || lacks.Attribute(AttrMethodParameters) != nil {
			continue
		}
		info, err := moveParameters(from, a, to)
		if err != nil {
			return nil, err
		}
		attr, err := to.NewAttribute(AttrMethodParameters, info)
		if err != nil {
			return nil, err
		}
		lacks.Attributes = append(lacks.Attributes, attr)
		changed = true
	}
	if !changed {
		return dst, nil
	}
	return to.Bytes(), nil
}

// moveParameters returns the contents of a with the names as constants of to.
func moveParameters(from *Class, a *Attribute, to *Class) ([]byte, error) {
	r := &reader{b: a.Info, base: a.at, section: "4.7.24", class: from.name}
	n := int(r.u1())
	info := append(make([]byte, 0, len(a.Info)), byte(n))
	for range n {
		name, flags := r.u2(), r.u2()
		if r.err != nil {
			break
		}
		if name != 0 { // 0 is a parameter without a name
			text, err := from.Pool.Utf8(name)
			if err != nil {
				return nil, err
			}
			if name, err = to.Pool.AddUtf8(text); err != nil {
				return nil, err
			}
		}
		info = binary.BigEndian.AppendUint16(info, name)
		info = binary.BigEndian.AppendUint16(info, flags)
	}
	return info, r.done()
}
