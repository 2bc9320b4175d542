package jvmtest

import (
	"bytes"
	"flag"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write what the tests got into their golden files")

// Updating reports whether the test was started with -update.
func Updating() bool { return *update }

// Cases returns the files that a pattern matches, and fails the test if there
// is none, as after a renaming.
func Cases(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no case matches %s (%v)", pattern, err)
	}
	return files
}

// An Archive is a test case: a txtar file whose members are Java sources,
// questions and answers. One goroutine uses it.
type Archive struct {
	File string
	ar   *txtar.Archive
}

// Open reads an archive.
func Open(t testing.TB, file string) *Archive {
	t.Helper()
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return &Archive{File: file, ar: ar}
}

func (a *Archive) member(name string) *txtar.File {
	for i := range a.ar.Files {
		if a.ar.Files[i].Name == name {
			return &a.ar.Files[i]
		}
	}
	return nil
}

// Has reports whether there is a member of that name.
func (a *Archive) Has(name string) bool { return a.member(name) != nil }

// Text returns a member, which must be there.
func (a *Archive) Text(t testing.TB, name string) string {
	t.Helper()
	f := a.member(name)
	if f == nil {
		t.Fatalf("%s has no member %q", a.File, name)
	}
	return string(f.Data)
}

// Lines returns a member's lines without empty ones and comments ("# ..."),
// nil if there is no such member.
func (a *Archive) Lines(name string) []string {
	f := a.member(name)
	if f == nil {
		return nil
	}
	var lines []string
	for line := range strings.Lines(string(f.Data)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

// Java returns the archive's Java sources by name.
func (a *Archive) Java() map[string]string {
	files := map[string]string{}
	for _, f := range a.ar.Files {
		if path.Ext(f.Name) == ".java" {
			files[f.Name] = string(f.Data)
		}
	}
	return files
}

// Compile compiles the archive's Java sources, as [Compile] does.
func (a *Archive) Compile(t testing.TB, j JDK, release int, options ...string) string {
	t.Helper()
	return Compile(t, j, release, a.Java(), options...)
}

// Golden compares lines with a member, in order; with -update it writes them
// there instead.
func (a *Archive) Golden(t testing.TB, name string, got []string) {
	t.Helper()
	var text string
	if len(got) > 0 {
		text = strings.Join(got, "\n") + "\n"
	}
	f := a.member(name)
	if *update {
		if f == nil {
			a.ar.Files = append(a.ar.Files, txtar.File{Name: name})
			f = &a.ar.Files[len(a.ar.Files)-1]
		}
		if bytes.Equal(f.Data, []byte(text)) {
			return
		}
		f.Data = []byte(text)
		if err := os.WriteFile(a.File, txtar.Format(a.ar), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if f == nil {
		t.Fatalf("%s has no member %q: run with -update to write it; got\n%s", a.File, name, text)
	}
	if want := string(f.Data); want != text {
		t.Errorf("%s: %s differs (run with -update to accept):\n%s", a.File, name, diff(want, text))
	}
}

// diff marks the lines that only one side has, by their longest common
// subsequence.
func diff(want, got string) string {
	a, b := strings.SplitAfter(want, "\n"), strings.SplitAfter(got, "\n")
	common := make([][]int, len(a)+1) // common[i][j]: of a[i:] and b[j:]
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out strings.Builder
	line := func(mark, s string) {
		if s != "" { // what SplitAfter leaves behind the last newline
			out.WriteString(mark + strings.TrimSuffix(s, "\n") + "\n")
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			line("  ", a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			line("- ", a[i])
			i++
		default:
			line("+ ", b[j])
			j++
		}
	}
	return out.String()
}
