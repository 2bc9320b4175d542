package classfile_test

import (
	"bytes"
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
)

// FuzzParse reads everything there is to read in what parses, and writes it:
// no panic, an error means no class, and the bytes come back.
func FuzzParse(f *testing.F) {
	for _, c := range classtest.Seeds(f) {
		f.Add(c.Bytes)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := classfile.Parse(b)
		if err != nil {
			if c != nil {
				t.Fatal("error with a class")
			}
			return
		}
		if !bytes.Equal(c.Bytes(), b) {
			t.Fatal("written bytes differ")
		}
		lookups(c)
		for i := range c.Methods {
			if err := deep(c, &c.Methods[i]); err == errDiffers {
				t.Fatal(err)
			}
			if code, err := c.Code(&c.Methods[i]); err == nil && code != nil && code.FirstLine() >= 1<<16 {
				t.Fatal("a line that no table can have")
			}
		}
		if out, err := classfile.CarryMethodParameters(b, b); err == nil && !bytes.Equal(out, b) {
			t.Fatal("parameters carried from a class to itself")
		}
		if out, err := classfile.RenameUTF8(b, func(s string) string { return s }); err != nil || !bytes.Equal(out, b) {
			t.Fatal("renaming nothing changed something: ", err)
		}
	})
}

// lookups asks for every constant in every way.
func lookups(c *classfile.Class) {
	p := &c.Pool
	for i := range p.Len() + 1 {
		x := uint16(i)
		p.Utf8(x)
		p.ClassName(x)
		p.String(x)
		p.Integer(x)
		p.MethodType(x)
		p.NameAndType(x)
		p.MemberRef(x)
		p.MethodHandle(x)
		p.Dynamic(x)
	}
	c.BootstrapMethods()
	c.Interfaces()
	c.SourceFile()
}
