package verify_test

import (
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/verify"
)

// BenchmarkClass parses and verifies a class of java.base, one class after the
// other.
func BenchmarkClass(b *testing.B) {
	all := classtest.Read(b, classtest.JavaBase(classtest.Home(b)))
	h := verify.Classes{}
	for _, cf := range all {
		c, err := classfile.Parse(cf.Bytes)
		if err != nil {
			b.Fatal(err)
		}
		h.Add(c)
	}
	cs := classtest.Sample(b, all, 2000, 1)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		c, err := classfile.Parse(cs[i%len(cs)].Bytes)
		if err == nil {
			err = verify.Class(c, h)
		}
		if err != nil {
			b.Fatal(err)
		}
		i++
	}
}
