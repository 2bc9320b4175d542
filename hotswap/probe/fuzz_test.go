package probe_test

import (
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// FuzzRewrite rewrites whatever parses: it must not panic, an error means no
// result, and a result is a class file with the same methods.
func FuzzRewrite(f *testing.F) {
	for _, c := range classtest.Seeds(f) {
		f.Add(c.Bytes, int32(7))
		f.Add(c.Bytes, int32(70000))
	}
	f.Fuzz(func(t *testing.T, b []byte, id int32) {
		res, err := probe.Rewrite(b, stubHooks, func(probe.MethodKey) (int32, bool) { return id, true })
		if err != nil {
			if res.Bytes != nil || res.Rewritten != nil {
				t.Fatal("error with a result")
			}
			return
		}
		before, err := classfile.Parse(b)
		if err != nil {
			t.Fatal("rewritten, but does not parse: ", err)
		}
		if len(res.Rewritten)+len(res.Skipped) != len(before.Methods) {
			t.Fatal("methods neither rewritten nor skipped")
		}
		if res.Bytes == nil {
			return
		}
		after, err := classfile.Parse(res.Bytes)
		if err != nil {
			t.Fatal("result does not parse: ", err)
		}
		for i := range after.Methods {
			code, err := after.Code(&after.Methods[i])
			if err != nil || code == nil {
				continue // was so before
			}
			s := classfile.Scan(code.Bytecode)
			for s.Next() {
				continue
			}
		}
	})
}
