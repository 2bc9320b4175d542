package cha_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestLikely has a compiler lay out code whose calls say by their names whether
// most invocations make them.
func TestLikely(t *testing.T) {
	code := `
		yes1(); if (x > 0) no1(); else no2();
		for (int i = 0; i < x; i++) { yes2(); if (i == 7) no3(); }
		if (x < 0) return;
		yes3();
		try { yes4(); } catch (RuntimeException e) { no4(); }
		switch (x) { case 1: no5(); break; case 2: no6(); default: no7(); }
		yes5();
		if (x == 5) throw new Error("" + no8());
		while (true) { if (x-- < 0) break; yes6(); }
		int y = x > 3 ? no9() : no10();
		do yes7(); while (x-- > 0);
		yes8();`
	source := "class L {\n static void m(int x) {" + code + "\n}\n"
	for _, name := range regexp.MustCompile(`(yes|no)\d+`).FindAllString(code, -1) {
		source += "static int " + name + "() { return 0; }\n"
	}
	dir := jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"L.java": source + "}"})
	b, err := os.ReadFile(filepath.Join(dir, "L.class"))
	if err != nil {
		t.Fatal(err)
	}
	cf, err := classfile.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	c, err := cha.NewMirror(cha.ClassID{Loader: 1, Name: "L"}, cf)
	if err != nil {
		t.Fatal(err)
	}
	m := c.Methods[slices.IndexFunc(c.Methods, func(m cha.Method) bool { return m.Name == "m" })]
	calls := 0
	for i, call := range m.Calls {
		yes := strings.HasPrefix(call.Name, "yes")
		if call.Owner != "L" {
			continue
		}
		if calls++; m.Likely[i] != yes {
			t.Errorf("%s: likely %t", call.Name, m.Likely[i])
		}
	}
	if calls != 18 || len(m.Likely) != len(m.Calls) {
		t.Errorf("%d calls, %d guesses", calls, len(m.Likely))
	}
}
