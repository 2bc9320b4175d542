package docs

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mostLines is how long a source file may be.
const mostLines = 400

var generated = regexp.MustCompile(`(?m)^// (Code generated|Generated from) `)

// TestSizes: no source file is longer than 400 lines, except what is generated and
// the Java programs that tests record.
func TestSizes(t *testing.T) {
	root := filepath.Join("..", "..")
	seen := 0
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		if e.IsDir() {
			if base := e.Name(); base == "testdata" || base == "node_modules" || base == "dist" || strings.HasPrefix(base, ".") && name != "." {
				return fs.SkipDir
			}
			return nil
		}
		switch filepath.Ext(name) {
		case ".go", ".java", ".ts", ".tsx", ".svelte":
		default:
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		seen++
		if lines := bytes.Count(b, []byte("\n")); lines > mostLines && !generated.Match(b) {
			t.Errorf("%s has %d lines: split it by what its parts do; %d are the most", name, lines, mostLines)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 500 {
		t.Errorf("only %d source files were found", seen)
	}
}

// TestLandingPage: README is read at one go.
func TestLandingPage(t *testing.T) {
	b, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(b, []byte("\n")); n > 150 {
		t.Errorf("README.md has %d lines; beyond 150 they belong on a page under docs", n)
	}
}
