package main

import (
	"os"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// TestNestedModules: a module of tools that stands on Rivulet itself needs what Rivulet needs. Without that it can't be
// built, which only a task of its own would show.
func TestNestedModules(t *testing.T) {
	requires := func(file string) map[string]string {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := modfile.Parse(file, b, nil)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, r := range m.Require {
			out[r.Mod.Path] = r.Mod.Version
		}
		return out
	}
	t.Chdir("../..")
	nested := requires("tools/release/go.mod")
	all, err := modules() // of the binary
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if got := nested[m.Path]; semver.Compare(got, m.Version) < 0 {
			t.Errorf("tools/release/go.mod has %q of %s, the binary has %s: run \"GOWORK=off go mod tidy\" there", got, m.Path, m.Version)
		}
	}
}
