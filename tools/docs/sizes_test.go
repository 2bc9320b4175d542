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

// longer names the files that may be longer, and why. A line goes when its file is short enough.
var longer = map[string]string{
	"jvmside/src/rivulet/probe/Probe.java":  "the hot path: what the JIT compiler inlines must not change; see bench:calls before splitting it",
	"jvmside/src/rivulet/probe/Events.java": "the hot path of events, as Probe.java",
	"scheme/sim_test.go":                    "an independent model of the schemes, in one piece",
}

var generated = regexp.MustCompile(`(?m)^// (Code generated|Generated from) `)

// TestSizes: no source file is longer than 400 lines, except those named above, what is
// generated, and the Java programs that tests record.
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
		lines, reason := bytes.Count(b, []byte("\n")), longer[filepath.ToSlash(name)]
		switch {
		case generated.Match(b):
		case lines > mostLines && reason == "":
			t.Errorf("%s has %d lines: split it by what its parts do; %d are the most", name, lines, mostLines)
		case lines <= mostLines && reason != "":
			t.Errorf("%s has %d lines: take it off the list", name, lines)
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
