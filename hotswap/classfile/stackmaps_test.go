package classfile_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestWithStackMaps takes the stack maps out of a class, as HotSpot does with
// those of the boot loader, and wants them back, except for another class.
func TestWithStackMaps(t *testing.T) {
	j := jvmtest.Any(t)
	compile := func(text string) []byte {
		return classtest.ReadDir(t, classtest.Compile(t, j.Home, map[string]string{"A.java": text}))[0].Bytes
	}
	file := compile(`class A { int m(int a) { return a > 1 ? 5 : 6; } int n() { return 1; } }`)
	strip := func(b []byte) []byte {
		c, err := classfile.Parse(slices.Clone(b))
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.Methods {
			code, err := c.Code(&c.Methods[i])
			if err != nil {
				t.Fatal(err)
			}
			a := c.Methods[i].Attribute(classfile.AttrCode)
			fixed := 8 + len(code.Bytecode) + 2 + classfile.HandlerSize*len(code.Handlers)
			rest := slices.DeleteFunc(code.Attributes, func(a classfile.Attribute) bool { return a.Name == classfile.AttrStackMapTable })
			a.Info = classfile.AppendAttributes(slices.Clone(a.Info[:fixed]), rest)
		}
		return c.Bytes()
	}
	bare := strip(file)
	if bytes.Equal(bare, file) {
		t.Fatal("there was no stack map")
	}
	if got, err := classfile.WithStackMaps(bare, file); err != nil || !bytes.Equal(got, file) {
		t.Errorf("stripped: %d bytes, %v; want the file's %d", len(got), err, len(file))
	}
	if got, err := classfile.WithStackMaps(file, bare); err != nil || !bytes.Equal(got, file) {
		t.Errorf("complete: %d bytes, %v", len(got), err)
	}
	for _, other := range []string{
		`class A { int m(int a) { return a > 1 ? 5 : 7; } int n() { return 1; } }`,
		`class A { int m(int a) { return a > 1 ? 5 : 6; } int o() { return 1; } }`,
		`class A { int m(int a) { return a > 1 ? 5 : 6; } int n() { return 1; } int o() { return 1; } }`,
	} {
		if _, err := classfile.WithStackMaps(strip(compile(other)), file); !errors.Is(err, classfile.ErrOtherClass) {
			t.Errorf("%s: %v", other, err)
		}
	}
}
