package probe_test

import (
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// BenchmarkRewrite rewrites all methods of a class of java.base, one class
// after the other.
func BenchmarkRewrite(b *testing.B) {
	cs := classtest.Sample(b, classtest.Read(b, classtest.JavaBase(classtest.Home(b))), 2000, 1)
	size := 0
	for _, c := range cs {
		size += len(c.Bytes)
	}
	b.SetBytes(int64(size / len(cs)))
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		id := int32(300)
		_, err := probe.Rewrite(cs[i%len(cs)].Bytes, stubHooks, func(probe.MethodKey) (int32, bool) { id++; return id, true })
		if err != nil {
			b.Fatal(err)
		}
		i++
	}
}
