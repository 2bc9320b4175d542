package verify_test

import (
	"errors"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/verify"
)

// TestJavaBase verifies java.base, all of which HotSpot accepts.
func TestJavaBase(t *testing.T) {
	var classes []*classfile.Class
	h := verify.Classes{}
	for _, cf := range classtest.Read(t, classtest.JavaBase(classtest.Home(t))) {
		c, err := classfile.Parse(cf.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		classes = append(classes, c)
		h.Add(c)
	}
	start := time.Now()
	methods, old, loose := 0, 0, 0
	for _, c := range classes {
		if err := verify.Format(c); err != nil {
			t.Error(err)
		}
		for i := range c.Methods {
			m := &c.Methods[i]
			sum, err := verify.Method(c, m, h)
			methods++
			if errors.Is(err, verify.ErrSubroutines) {
				old++
				continue
			}
			if err != nil {
				t.Errorf("%v", err)
				continue
			}
			if code, _ := c.Code(m); code != nil && sum.MaxStack < int(code.MaxStack) {
				loose++
			}
		}
	}
	t.Logf("methods %d, for the old verifier %d, max_stack larger than needed %d, %v", methods, old, loose, time.Since(start))
}
