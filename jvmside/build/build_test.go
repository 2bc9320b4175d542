package main

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
)

func TestPick(t *testing.T) {
	with := func(version int) jdk.JDK {
		home := t.TempDir()
		write(t, filepath.Join(home, "bin", "javac"), "")
		return jdk.JDK{Version: version, Home: home}
	}
	bare := jdk.JDK{Version: 17, Home: t.TempDir()}
	j8, j17, j25 := with(8), with(17), with(25)
	for _, c := range []struct {
		found []jdk.JDK
		any   bool
		want  int
		err   string
	}{
		{[]jdk.JDK{j8, j17, j25}, false, 17, ""},
		{[]jdk.JDK{j17, j25}, true, 17, ""},
		{[]jdk.JDK{j25}, false, 0, "found JDK 25"},
		{[]jdk.JDK{j25}, true, 25, ""},
		{[]jdk.JDK{j8}, true, 0, "found no JDK"},
		{[]jdk.JDK{bare}, false, 0, "found no JDK"},
		{nil, true, 0, "found no JDK"},
	} {
		got, err := pick(c.found, c.any)
		if got.Version != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("pick(%v, %v) = %v, %v; want %d, %q", c.found, c.any, got, err, c.want, c.err)
		}
	}
}

// TestBuild builds the same sources twice, in different folders, and wants
// the same bytes, without what is excluded.
func TestBuild(t *testing.T) {
	compiler, err := pick(jdk.All(), true)
	if err != nil {
		t.Skip("no JDK installed")
	}
	var jars [2][]byte
	for i := range jars {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "a", "B.java"), "package a; class B { a.stub.S s; Runnable r = () -> {}; class C {} }\n")
		write(t, filepath.Join(dir, "a", "stub", "S.java"), "package a.stub; public class S {}\n")
		j := jar{
			Sources: dir,
			Out:     filepath.Join(dir, "x.jar"),
			Main:    map[string]string{"Main-Class": "a.B"},
			Exclude: []string{"a/stub/**"},
		}
		for range 2 { // the second time over the first's result
			if err := j.build(compiler); err != nil {
				t.Fatal(err)
			}
		}
		if jars[i], err = os.ReadFile(j.Out); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(jars[0], jars[1]) {
		t.Error("two builds differ")
	}
	r, err := zip.NewReader(bytes.NewReader(jars[0]), int64(len(jars[0])))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range r.File {
		names = append(names, f.Name)
		if f.Method != zip.Store {
			t.Errorf("%s is compressed", f.Name)
		}
	}
	if want := []string{"META-INF/MANIFEST.MF", "a/B$C.class", "a/B.class"}; !slices.Equal(names, want) {
		t.Errorf("jar has %v, want %v", names, want)
	}
}

func TestBuildFails(t *testing.T) {
	compiler, err := pick(jdk.All(), true)
	if err != nil {
		t.Skip("no JDK installed")
	}
	dir := t.TempDir()
	j := jar{Sources: dir, Out: filepath.Join(dir, "x.jar")}
	if err := j.build(compiler); err == nil || !strings.Contains(err.Error(), "no .java file") {
		t.Errorf("empty folder: %v", err)
	}
	write(t, filepath.Join(dir, "B.java"), "class B { C c; }\n")
	if err := j.build(compiler); err == nil || !strings.Contains(err.Error(), "cannot find symbol") {
		t.Errorf("wrong source: %v", err)
	}
	if _, err := os.Stat(j.Out); err == nil {
		t.Error("a jar was written")
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}
