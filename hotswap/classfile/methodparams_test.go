package classfile_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
)

const named = `
public class Named {
    public Named(final int first, String second) { }
    public static String names() throws Exception {
        StringBuilder b = new StringBuilder();
        for (java.lang.reflect.Parameter p : Named.class.getDeclaredMethod("m", long.class, Object[].class).getParameters()) b.append(p).append(';');
        for (java.lang.reflect.Parameter p : Named.class.getDeclaredConstructors()[0].getParameters()) b.append(p).append(';');
        return b.toString();
    }
    void m(long wide, final Object... rest) { }
    public static void main(String[] args) throws Exception { System.out.println(names()); }
}`

// TestCarryMethodParameters takes the names of parameters off a class, as JVMs
// before 19 do, brings them back, and asks a JVM for them.
func TestCarryMethodParameters(t *testing.T) {
	home := classtest.Home(t)
	dir := classtest.Compile(t, home, map[string]string{"Named.java": named}, "-parameters")
	want, err := classtest.Java(t, home, "-cp", dir, "Named")
	if err != nil || !strings.Contains(want, "wide") {
		t.Fatalf("%s: %v", want, err)
	}
	src := classtest.ReadDir(t, dir)[0].Bytes
	c, err := classfile.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	if !classfile.HasMethodParameters(c) {
		t.Fatal("no parameters to begin with")
	}
	for i := range c.Methods {
		m := &c.Methods[i]
		var keep []classfile.Attribute
		for _, a := range m.Attributes {
			if a.Name != classfile.AttrMethodParameters {
				keep = append(keep, a)
			}
		}
		m.Attributes = keep
	}
	// The names go too, as in bytes that the JVM has put together itself.
	dst, err := classfile.RenameUTF8(c.Bytes(), func(s string) string {
		for _, gone := range []string{"wide", "first", classfile.AttrMethodParameters} {
			if s == gone {
				return "gone" + s
			}
		}
		return s
	})
	if err != nil {
		t.Fatal(err)
	}
	back, err := classfile.CarryMethodParameters(dst, src)
	if err != nil {
		t.Fatal(err)
	}
	jar := t.TempDir() + "/back.jar"
	classtest.Jar(t, jar, []classtest.Class{{Name: "Named", Bytes: back}})
	got, err := classtest.Java(t, home, "-Xverify:all", "-cp", jar, "Named")
	if err != nil || got != want {
		t.Errorf("parameters %q, want %q: %v", got, want, err)
	}
	again, err := classfile.CarryMethodParameters(back, src)
	if err != nil || !bytes.Equal(again, back) {
		t.Errorf("carried twice: %v", err)
	}
}
