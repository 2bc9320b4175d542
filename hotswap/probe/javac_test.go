package probe_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
)

// smallBig stands in for the class with the long methods, which take javac long.
const smallBig = `class Big {
    static int wide(int n) { return n; } static int huge(int n) { return n; }
    static int many(int n) { return n; } static int chain(int n) { return n; } static int near(int n) { return n; }
}`

// TestJavac lets javac compile a program, with every method of the compiler
// probed and a shadow stack that checks the balance. What it compiles must be
// the same to the byte.
func TestJavac(t *testing.T) {
	home := classtest.Home(t)
	mod := filepath.Join(home, "jmods", "jdk.compiler.jmod")
	if _, err := os.Stat(mod); err != nil {
		t.Fatalf("%v: this test needs a JDK of 9 or later on PATH", err)
	}
	const shadow = "java/lang/RivuletShadow" // seen from every module
	var book names
	var compiler []classtest.Class
	for _, c := range without(classtest.Read(t, mod), "module-info") {
		compiler = append(compiler, book.probe(t, c, shadow))
	}
	dir := t.TempDir()
	base, patch := filepath.Join(dir, "base.jar"), filepath.Join(dir, "compiler.jar")
	classtest.Jar(t, base, renamed(t, home, shadow))
	classtest.Jar(t, patch, compiler)

	compile := func(out string, flags ...string) string {
		args := append(flags, "-m", "jdk.compiler/com.sun.tools.javac.Main", "-nowarn", "-g", "-d", out)
		for _, name := range []string{"Behave.java", "Truth.java", "Shadow.java"} {
			args = append(args, filepath.Join("testdata", name))
		}
		big := filepath.Join(dir, "Big.java")
		if err := os.WriteFile(big, []byte(smallBig), 0o644); err != nil {
			t.Fatal(err)
		}
		_, stderr := runProgram(t, home, append(args, big)...)
		return stderr
	}
	bare, probed := filepath.Join(dir, "bare"), filepath.Join(dir, "probed")
	compile(bare)
	books := compile(probed, "-Xverify:all", "-Dids="+book.write(t), "--patch-module", "java.base="+base, "--patch-module", "jdk.compiler="+patch)

	want, got := classtest.ReadDir(t, bare), classtest.ReadDir(t, probed)
	if len(want) != len(got) || len(want) < 15 {
		t.Errorf("%d classes compiled, %d without probes", len(got), len(want))
	}
	for i := range min(len(want), len(got)) {
		if want[i].Name != got[i].Name || !bytes.Equal(want[i].Bytes, got[i].Bytes) {
			t.Errorf("%s differs", got[i].Name)
		}
	}
	var in, ret, thr, left, resyncs, wrong int
	_, sum, _ := strings.Cut(books, "SUM ")
	fmt.Sscanf(sum, "%d %d %d %d %d %d", &in, &ret, &thr, &left, &resyncs, &wrong)
	// main calls System.exit, so what is on its thread's stack then never ends.
	if open := in - ret - thr - left; in < 1_000_000 || open < 0 || open > 10 || wrong != 0 {
		t.Errorf("enters %d, exits %d, thrown %d, left by super() %d, resyncs %d, wrong %d\n%.2000s", in, ret, thr, left, resyncs, wrong, books)
	}
	t.Logf("enters %d, exits %d, thrown %d, left by super() %d, resyncs %d", in, ret, thr, left, resyncs)
}

// renamed returns the shadow stack as a class of another name.
func renamed(t *testing.T, home, name string) (cs []classtest.Class) {
	t.Helper()
	dir := classtest.Compile(t, home, map[string]string{"Shadow.java": readTestdata(t, "Shadow.java")})
	rename := func(s string) string {
		if strings.HasPrefix(s, "Shadow") {
			return name + strings.TrimPrefix(s, "Shadow")
		}
		return strings.ReplaceAll(s, "LShadow", "L"+name)
	}
	for _, c := range classtest.ReadDir(t, dir) {
		b, err := classfile.RenameUTF8(c.Bytes, rename)
		if err != nil {
			t.Fatal(err)
		}
		cs = append(cs, classtest.Class{Name: rename(c.Name), Bytes: b})
	}
	return cs
}
