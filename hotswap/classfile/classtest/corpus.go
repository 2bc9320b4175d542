// Package classtest finds real class files and JVMs for the tests of the class
// file packages. It skips nothing silently: what is missing fails the test or
// is logged.
package classtest

import (
	"archive/zip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// A Class is a class file from an archive.
type Class struct {
	Name  string // internal name
	Bytes []byte
}

// Bench returns the folder with further JDKs and jars: RIVULET_BENCH or
// ~/.cache/rivulet-bench.
func Bench() string {
	if dir := os.Getenv("RIVULET_BENCH"); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".cache", "rivulet-bench")
}

// Home returns the home of the JDK on PATH.
func Home(tb testing.TB) string {
	tb.Helper()
	if dir := os.Getenv("JAVA_HOME"); dir != "" {
		return dir
	}
	javac, err := exec.LookPath("javac")
	if err != nil {
		tb.Fatal("no JDK: put javac on PATH or set JAVA_HOME")
	}
	if javac, err = filepath.EvalSymlinks(javac); err != nil {
		tb.Fatal(err)
	}
	return filepath.Dir(filepath.Dir(javac))
}

// Corpora returns the folder that tools/corpora.sh fills: RIVULET_CORPORA or
// ~/.cache/rivulet-corpora.
func Corpora() string {
	if dir := os.Getenv("RIVULET_CORPORA"); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".cache", "rivulet-corpora")
}

// Archives returns the archives with the classes of a JDK: its jmods, or rt.jar
// and its siblings before JDK 9.
func Archives(tb testing.TB, home string) []string {
	tb.Helper()
	mods, _ := filepath.Glob(filepath.Join(home, "jmods", "*.jmod"))
	if len(mods) == 0 {
		mods, _ = filepath.Glob(filepath.Join(home, "jre", "lib", "*.jar"))
		more, _ := filepath.Glob(filepath.Join(home, "jre", "lib", "ext", "*.jar"))
		mods = append(mods, more...)
	}
	if len(mods) == 0 {
		tb.Fatalf("%s: neither jmods nor jre/lib/*.jar", home)
	}
	return mods
}

// Each calls f with every class of an archive, multi-release variants left out. It stops
// at f's first error and returns that, or fails as reading the archive does.
func Each(archive string, f func(Class) error) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer z.Close()
	for _, file := range z.File {
		name, ok := strings.CutSuffix(strings.TrimPrefix(file.Name, "classes/"), ".class")
		if !ok || strings.HasPrefix(name, "META-INF/") {
			continue
		}
		r, err := file.Open()
		if err != nil {
			return err
		}
		b, err := io.ReadAll(r)
		r.Close()
		if err != nil {
			return fmt.Errorf("%s: %s: %w", archive, file.Name, err)
		}
		if err := f(Class{name, b}); err != nil {
			return err
		}
	}
	return nil
}

// Read returns all classes of archives, sorted by name.
func Read(tb testing.TB, archives ...string) []Class {
	tb.Helper()
	var cs []Class
	for _, a := range archives {
		err := Each(a, func(c Class) error {
			cs = append(cs, c)
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	sort.SliceStable(cs, func(i, j int) bool { return cs[i].Name < cs[j].Name })
	return cs
}

// Seed returns RIVULET_SEED, or a number that nobody chose, and logs it.
func Seed(tb testing.TB) uint64 {
	tb.Helper()
	seed, err := strconv.ParseUint(os.Getenv("RIVULET_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	tb.Logf("seed %d (RIVULET_SEED repeats it)", seed)
	return seed
}

// Sample returns n classes chosen with a seed, which it logs.
func Sample(tb testing.TB, cs []Class, n int, seed uint64) []Class {
	tb.Helper()
	if n >= len(cs) {
		return cs
	}
	tb.Logf("sample of %d of %d classes, seed %d", n, len(cs), seed)
	r := rand.New(rand.NewPCG(seed, 0))
	picked := make([]Class, n)
	for i, j := range r.Perm(len(cs))[:n] {
		picked[i] = cs[j]
	}
	return picked
}

// JavaBase returns the archive with java.lang of the JDK at home.
func JavaBase(home string) string {
	if mod := filepath.Join(home, "jmods", "java.base.jmod"); exists(mod) {
		return mod
	}
	return filepath.Join(home, "jre", "lib", "rt.jar")
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// seeds are classes of java.base with something special each.
var seeds = []string{
	"java/lang/Object", "java/util/BitSet", "java/lang/Enum", "java/util/function/Function",
	"java/lang/invoke/MethodHandles", "java/util/HashMap$Node", "java/lang/annotation/RetentionPolicy",
	"java/util/concurrent/locks/ReentrantLock", "java/io/FilterInputStream", "java/lang/Runnable",
	"java/util/Optional", "java/util/zip/Inflater", "java/lang/StackTraceElement", "module-info",
}

// Seeds returns small classes of many kinds for fuzzing.
func Seeds(tb testing.TB) []Class {
	tb.Helper()
	var cs []Class
	want := map[string]bool{}
	for _, s := range seeds {
		want[s] = true
	}
	for _, c := range Read(tb, JavaBase(Home(tb))) {
		if want[c.Name] {
			cs = append(cs, c)
		}
	}
	return cs
}
