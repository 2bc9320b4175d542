package verify_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/verify"
)

// TestVerdicts asks HotSpot and us about the classes of testdata/verdicts.txt,
// which say what the answer is.
func TestVerdicts(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "verdicts.txt"))
	if err != nil {
		t.Fatal(err)
	}
	home := classtest.Home(t)
	h := verify.Classes{}
	for _, cf := range classtest.Read(t, classtest.JavaBase(home)) {
		if c, err := classfile.Parse(cf.Bytes); err == nil {
			h.Add(c)
		}
	}
	var cases []mutant
	for i, part := range strings.Split("\n"+string(text), "\n== ")[1:] {
		head, body, _ := strings.Cut(part, "\n")
		b := classtest.Assemble(t, strings.Replace(body, "class T ", fmt.Sprintf("class T%d ", i), 1))
		c, err := classfile.Parse(b)
		if err != nil {
			t.Fatalf("%s: %v", head, err)
		}
		cases = append(cases, mutant{class: c, at: -1, bytes: b, what: head})
	}
	for i, verdict := range hotspot(t, home, "", cases) {
		m := &cases[i]
		name, want, _ := strings.Cut(m.what, ": ")
		if theirs := map[byte]string{'A': "accepted", 'R': "refused"}[verdict[0]]; theirs != want {
			t.Errorf("%s: %s, HotSpot says %s", name, want, verdict)
		}
		ours := "accepted"
		err := ourVerdict(m, judged{h, m.class.Name()})
		if err != nil {
			ours = "refused"
		}
		if ours != want {
			t.Errorf("%s: %s, we say %s: %v", name, want, ours, err)
		}
	}
}
