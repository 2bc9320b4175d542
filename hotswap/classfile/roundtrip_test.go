package classfile_test

import (
	"bytes"
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
)

// TestRoundTrip parses every class of java.base down to the instructions and
// frames and writes it again: the bytes must be the same.
func TestRoundTrip(t *testing.T) {
	classes := classtest.Read(t, classtest.JavaBase(classtest.Home(t)))
	if len(classes) < 2000 {
		t.Fatalf("only %d classes", len(classes))
	}
	methods := 0
	for _, cf := range classes {
		c, err := classfile.Parse(cf.Bytes)
		if err != nil {
			t.Errorf("%s: %v", cf.Name, err)
			continue
		}
		if c.Name() != cf.Name && cf.Name != "module-info" {
			t.Errorf("%s calls itself %s", cf.Name, c.Name())
		}
		if !bytes.Equal(c.Bytes(), cf.Bytes) {
			t.Errorf("%s: written bytes differ", cf.Name)
		}
		for i := range c.Methods {
			methods++
			if err := deep(c, &c.Methods[i]); err != nil {
				t.Errorf("%s.%s%s: %v", cf.Name, c.Methods[i].Name, c.Methods[i].Desc, err)
			}
		}
	}
	t.Logf("classes %d methods %d", len(classes), methods)
}

// deep reads everything in a method and compares the Code attribute as written
// with the one read.
func deep(c *classfile.Class, m *classfile.Member) error {
	code, err := c.Code(m)
	if err != nil || code == nil {
		return err
	}
	a := m.Attribute(classfile.AttrCode)
	if !bytes.Equal(code.Append(nil), a.Info) {
		return errDiffers
	}
	s := classfile.Scan(code.Bytecode)
	end := 0
	for s.Next() {
		end = s.Offset + s.Size
		if _, _, err := c.Pool.StackEffect(&s.Instr); err != nil {
			return err
		}
	}
	if s.Err() == nil && end != len(code.Bytecode) {
		return errDiffers
	}
	if s.Err() != nil {
		return s.Err()
	}
	locals, err := c.EntryLocals(m, nil)
	if err != nil {
		return err
	}
	if a := code.Attribute(classfile.AttrStackMapTable); a != nil {
		f := classfile.NewFrameReader(a, code, locals)
		for f.Next() {
			continue
		}
		return f.Err()
	}
	return nil
}
