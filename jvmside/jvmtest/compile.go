package jvmtest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Compile compiles Java sources, given by file name ("p/Main.java"), with
// that JDK's compiler for the given release (0: the compiler's own) and
// returns the folder with the class files. More options of javac may follow.
// Tests share the folder and must not write to it.
//
// The folder is kept under the user's cache, named after all that goes into
// it, so that the same sources are compiled once and not once a run; folders
// not used for a week are removed.
func Compile(t testing.TB, j JDK, release int, files map[string]string, options ...string) string {
	t.Helper()
	if !j.HasJavac() {
		t.Skipf("JDK %d not installed", j.Version) // a bare runtime is no JDK
	}
	options = slices.Concat([]string{"-encoding", "UTF-8", "-nowarn", "-Xlint:-options"}, level(j, release), options)
	h := sha256.New()
	fmt.Fprintf(h, "%s %s %q\n", j.Home, j.Full, options)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%q %q\n", name, files[name])
	}
	once, _ := compiled.LoadOrStore(hex.EncodeToString(h.Sum(nil))[:24], new(compilation))
	c := once.(*compilation)
	c.Do(func() { c.dir, c.err = compile(j, hex.EncodeToString(h.Sum(nil))[:24], files, options) })
	if c.err != nil {
		t.Fatalf("compile: %v", c.err)
	}
	return c.dir
}

type compilation struct {
	sync.Once
	dir string
	err error
}

var compiled sync.Map // from key to *compilation

// level returns javac's options for a language level.
func level(j JDK, release int) []string {
	switch n := strconv.Itoa(release); {
	case release == 0:
		return nil
	case j.Version < 9:
		return []string{"-source", n, "-target", n}
	default:
		return []string{"--release", n}
	}
}

// keep is how long a folder of class files stays after its last use.
const keep = 7 * 24 * time.Hour

var cacheDir = sync.OnceValues(func() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	base = filepath.Join(base, "rivulet-jvmtest")
	if err := os.MkdirAll(base, 0o755); err != nil {
		return "", err
	}
	old, err := os.ReadDir(base)
	if err != nil {
		return "", err
	}
	for _, e := range old {
		if fi, err := e.Info(); err == nil && time.Since(fi.ModTime()) > keep {
			os.RemoveAll(filepath.Join(base, e.Name())) // it will be tried again
		}
	}
	return base, nil
})

func compile(j JDK, key string, files map[string]string, options []string) (string, error) {
	base, err := cacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, key)
	now := time.Now()
	if os.Chtimes(dir, now, now) == nil {
		return dir, nil
	}
	// Another process may do the same: whoever renames first wins.
	tmp, err := os.MkdirTemp(base, "new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	src, classes := filepath.Join(tmp, "src"), filepath.Join(tmp, "classes")
	if err := os.MkdirAll(classes, 0o755); err != nil {
		return "", err
	}
	args := append(options, "-d", classes)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := filepath.Join(src, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(file, []byte(files[name]), 0o644); err != nil {
			return "", err
		}
		if filepath.Ext(name) == ".java" {
			args = append(args, file)
		}
	}
	// So few classes are compiled before C2 has compiled javac.
	cmd := exec.Command(j.Javac(), append([]string{"-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"}, args...)...)
	cmd.Env = environ()
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("javac of %v: %w\n%s", j, err, text)
	}
	if err := os.Rename(classes, dir); err != nil {
		if _, statErr := os.Stat(dir); statErr != nil {
			return "", err
		}
	}
	return dir, nil
}
