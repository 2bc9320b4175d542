package classpath

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestFiles reads files from an archive and a folder, and leaves to the loader
// what only it can tell.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	jar := filepath.Join(dir, "a b.jar")
	f, err := os.Create(jar)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for name, text := range map[string]string{
		"p/A.class": "A of the jar", "p/B.class": "B", "META-INF/versions/11/p/B.class": "B of 11",
		"p/Large.class": strings.Repeat("x", largestFile+1),
	} {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "p"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "p", "C.class"), []byte("C of the folder"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(dir, "p", "Pipe.class"), 0o644); err != nil {
		t.Fatal(err)
	}
	path := New(os.Getpid(), time.Now().Add(time.Hour))
	defer path.Close()
	for _, c := range []struct{ place, class, want string }{
		{strings.ReplaceAll(jar, " ", "%20"), "p/A", "A of the jar"},
		{strings.ReplaceAll(jar, " ", "%20"), "p/B", ""},
		{strings.ReplaceAll(jar, " ", "%20"), "p/C", ""},
		{strings.ReplaceAll(jar, " ", "%20"), "p/Large", ""},
		{dir + "/", "p/C", "C of the folder"},
		{dir + "/", "p/A", ""},
		{dir + "/", "p/Pipe", ""},
		{"p/", "C", ""},
		{dir + "/none.jar", "p/A", ""},
	} {
		b, err := path.Read(c.place, c.class)
		if string(b) != c.want && c.want != "" || (err == nil) != (c.want != "") {
			t.Errorf("%s of %s: %.20q, %v; want %q", c.class, c.place, b, err, c.want)
		}
	}
	now := New(os.Getpid(), time.Now().Add(-time.Hour))
	defer now.Close()
	if _, err := now.Read(dir+"/", "p/C"); !errors.Is(err, ErrElsewhere) {
		t.Errorf("a file that is newer than its target: %v", err)
	}
}
