package verify_test

import (
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/verify"
)

// TestUnknown judges without any hierarchy. A class that is not known may be an interface, which takes every object; String
// and the like are none.
func TestUnknown(t *testing.T) {
	t.Parallel()
	for result, want := range map[string]bool{"java/lang/Runnable": true, "shop/Unknown": true, "java/lang/String": false, "java/lang/Throwable": false, "java/lang/Object": true} {
		c, err := classfile.Parse(classtest.Assemble(t, strings.ReplaceAll(`class T extends java/lang/Object version 52
method static m (Ljava/lang/Object;)LRESULT;
stack 1 locals 1
  aload_0
  areturn
end
`, "RESULT", result)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := verify.Method(c, c.Method("m", "(Ljava/lang/Object;)L"+result+";"), verify.Classes{}); (err == nil) != want {
			t.Errorf("an Object as a %s: %v", result, err)
		}
	}
}
