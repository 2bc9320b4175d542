package classtest

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Compile compiles Java sources (file name to text) with the JDK at home and
// returns the folder with the classes.
func Compile(tb testing.TB, home string, sources map[string]string, flags ...string) string {
	tb.Helper()
	dir := tb.TempDir()
	args := append([]string{"-nowarn", "-g", "-d", filepath.Join(dir, "out")}, flags...)
	if err := os.MkdirAll(filepath.Join(dir, "out"), 0o755); err != nil {
		tb.Fatal(err)
	}
	for name, text := range sources {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
		args = append(args, file)
	}
	run(tb, filepath.Join(home, "bin", "javac"), args...)
	return filepath.Join(dir, "out")
}

// ReadDir returns the classes below a folder.
func ReadDir(tb testing.TB, dir string) []Class {
	tb.Helper()
	var cs []Class
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".class" {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		cs = append(cs, Class{rel[:len(rel)-len(".class")], b})
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return cs
}

// A File is an entry of a jar that is no class.
type File struct{ Name, Text string }

// Jar writes classes and files into a jar, uncompressed.
func Jar(tb testing.TB, file string, cs []Class, files ...File) {
	tb.Helper()
	f, err := os.Create(file)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	put := func(name string, b []byte) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err == nil {
			_, err = w.Write(b)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	for _, f := range files {
		put(f.Name, []byte(f.Text))
	}
	for _, c := range cs {
		put(c.Name+".class", c.Bytes)
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
}

// Java runs java of the JDK at home and returns what it printed on both
// streams. The error says that it did not exit with 0.
func Java(tb testing.TB, home string, args ...string) (string, error) {
	tb.Helper()
	out, err := exec.Command(filepath.Join(home, "bin", "java"), args...).CombinedOutput()
	return string(out), err
}

func run(tb testing.TB, name string, args ...string) {
	tb.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		tb.Fatalf("%s: %v\n%s", name, err, out)
	}
}
