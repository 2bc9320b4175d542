package probe_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/verify"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// An oddCase is a class of testdata/odd.txt.
type oddCase struct {
	name, want, text string
}

func oddCases(t testing.TB) (cases []oddCase) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "odd.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for i, part := range strings.Split("\n"+string(b), "\n== ") {
		if i == 0 {
			continue // the comment
		}
		head, text, _ := strings.Cut(part, "\n")
		at := strings.LastIndex(head, ": ")
		// Each class gets a name of its own, to be loaded beside the others.
		name := fmt.Sprint("Odd", i)
		text = strings.NewReplacer("class T ", "class "+name+" ", "LT;", "L"+name+";", " T.", " "+name+".").Replace(text)
		cases = append(cases, oddCase{head[:at], head[at+2:], text})
	}
	return cases
}

// TestOdd rewrites the classes of testdata/odd.txt and compares with what they
// say. A JVM links them bare and rewritten.
func TestOdd(t *testing.T) {
	hooks := stubHooks
	hooks.Class = "rivulet/Stub"
	home := classtest.Home(t)
	dir := classtest.Compile(t, home, map[string]string{"Stub.java": stub, "LoadAll.java": loader})
	var bare, rewritten, pointed []classtest.Class
	every := everyPoint(t, hooks)
	for _, c := range oddCases(t) {
		cf := classtest.Assemble(t, c.text)
		res, err := probe.Rewrite(cf, hooks, func(probe.MethodKey) (int32, bool) { return 70000, true })
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := "rewritten"
		if len(res.Skipped) > 0 {
			got = res.Skipped[0].Reason
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if res.Bytes == nil {
			continue
		}
		name := checked(t, c.name, res.Bytes)
		bare = append(bare, classtest.Class{Name: name, Bytes: cf})
		rewritten = append(rewritten, classtest.Class{Name: name, Bytes: res.Bytes})
		res, err = every.Rewrite(cf, func(probe.MethodKey) (int32, bool) { return 1, true })
		if err != nil {
			t.Errorf("%s, with points: %v", c.name, err)
		} else if res.Bytes != nil {
			pointed = append(pointed, classtest.Class{Name: checked(t, c.name+", with points", res.Bytes), Bytes: res.Bytes})
		}
	}
	if len(pointed) < len(bare)-3 {
		t.Errorf("only %d of %d classes have points", len(pointed), len(bare))
	}
	for i, cs := range [][]classtest.Class{bare, rewritten, pointed} {
		jar := filepath.Join(t.TempDir(), "odd.jar")
		classtest.Jar(t, jar, cs)
		out, err := classtest.Java(t, home, "-Xverify:all", "-cp", dir+":"+jar, "LoadAll", nameList(t, cs))
		if err != nil || !strings.Contains(out, fmt.Sprintf("linked %d missing 0", len(cs))) {
			t.Errorf("%s: %v\n%.4000s", []string{"bare", "rewritten", "with points"}[i], err, out)
		}
	}
}

// checked verifies a class and returns its name.
func checked(t *testing.T, what string, b []byte) string {
	t.Helper()
	class, err := classfile.Parse(b)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := verify.Class(class, verify.Classes{}); err != nil && !errors.Is(err, verify.ErrSubroutines) {
		t.Errorf("%s: %v", what, err)
	}
	return class.Name()
}
