package classfile

import "encoding/binary"

// SourceFile returns the name of the file from which the class was compiled
// (§4.7.10), without its folder; "" if the class doesn't say.
func (c *Class) SourceFile() string {
	a := c.Attribute(AttrSourceFile)
	if a == nil || len(a.Info) != 2 {
		return ""
	}
	name, err := c.Pool.Utf8(binary.BigEndian.Uint16(a.Info))
	if err != nil {
		return "" // for people only: no reason to refuse the class
	}
	return name
}

// FirstLine returns the line of the source where the code begins: that of the
// least start_pc in its line_number_table (§4.7.12), 0 if it has none.
func (code *Code) FirstLine() int {
	const size = 4 // start_pc, line_number
	a := code.Attribute(AttrLineNumbers)
	if a == nil || len(a.Info) < 2 {
		return 0
	}
	line, least := 0, 1<<16
	for t := a.Info[2:]; len(t) >= size; t = t[size:] {
		if pc := int(binary.BigEndian.Uint16(t)); pc < least {
			least, line = pc, int(binary.BigEndian.Uint16(t[2:]))
		}
	}
	return line
}
