package verify_test

import (
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/verify"
)

// FuzzClass verifies what parses, with a change of one byte that the fuzzer
// chooses on top of its own: no panic, and asking does not change the class.
func FuzzClass(f *testing.F) {
	for _, c := range classtest.Seeds(f) {
		f.Add(c.Bytes, uint32(len(c.Bytes)/2), byte(1))
		f.Add(c.Bytes, uint32(7), byte(49)) // the version: by inference
	}
	f.Fuzz(func(t *testing.T, b []byte, at uint32, v byte) {
		if len(b) > 0 {
			b = append([]byte(nil), b...)
			b[int(at)%len(b)] = v
		}
		c, err := classfile.Parse(b)
		if err != nil {
			return
		}
		verify.Class(c, verify.Classes{})
		if string(c.Bytes()) != string(b) {
			t.Fatal("verifying changed the class")
		}
		for i := range c.Methods {
			verify.Frames(c, &c.Methods[i], []int{0, 1, 2, 3, 4})
		}
	})
}
