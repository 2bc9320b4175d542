package probe_test

import (
	"slices"
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/verify"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// stillVerify makes sure that methods which verified before still do.
func stillVerify(t *testing.T, before, after *classfile.Class, res probe.Result) {
	t.Helper()
	for _, key := range res.Rewritten {
		i := slices.IndexFunc(before.Methods, func(m classfile.Member) bool { return m.Name == key.Name && m.Desc == key.Desc })
		if _, err := verify.Method(before, &before.Methods[i], verify.Classes{}); err != nil {
			continue
		}
		if _, err := verify.Method(after, &after.Methods[i], verify.Classes{}); err != nil {
			t.Fatal("verified before: ", err)
		}
	}
}

// FuzzRewrite rewrites whatever parses, with token probes, with something at
// every point, and with counting: it must not panic, an error means no result, a result is a class
// file with the same methods, and those that verified before still do.
func FuzzRewrite(f *testing.F) {
	for _, c := range classtest.Seeds(f) {
		f.Add(c.Bytes, int32(7))
		f.Add(c.Bytes, int32(70000))
	}
	for _, c := range oddCases(f) {
		if b := classtest.Assemble(f, c.text); len(b) < 8000 {
			f.Add(b, int32(500))
		}
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
		for what, in := range map[string]*probe.Injector{"points": everyPoint(t, stubHooks), "counting": counting(t, stubHooks.Class)} {
			with, err := in.Rewrite(b, func(probe.MethodKey) (int32, bool) { return id, true })
			if err != nil || len(with.Rewritten)+len(with.Skipped) != len(before.Methods) {
				t.Fatalf("with %s: %v", what, err)
			}
			if with.Bytes == nil {
				continue
			}
			c, err := classfile.Parse(with.Bytes)
			if err != nil {
				t.Fatalf("result with %s does not parse: %v", what, err)
			}
			stillVerify(t, before, c, with)
		}
		if res.Bytes == nil {
			return
		}
		after, err := classfile.Parse(res.Bytes)
		if err != nil {
			t.Fatal("result does not parse: ", err)
		}
		stillVerify(t, before, after, res)
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
