package cct_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// TestMatcher has recordings, each a list of name/loader, and the numbers that
// their methods get.
func TestMatcher(t *testing.T) {
	for _, test := range []struct {
		what       string
		recordings []string
		want       string
	}{
		{"the same JVM", []string{"a/app b/L@1", "b/L@1 a/app"}, "[0 1] [1 0]"},
		{"another JVM", []string{"a/app b/L@1f c/L@1f", "c/L@2 d/L@2 b/L@2"}, "[0 1 2] [2 3 1]"},
		{"three JVMs", []string{"b/L@1", "b/L@2", "b/L@3 b/L@3"}, "[0] [0] [0 0]"},
		{"loaders of different classes", []string{"b/L@1 b/K@1", "b/K@2 b/app"}, "[0 1] [1 2]"},
		{"two applications, by order", []string{"b/L@1 b/L@2", "b/L@3 b/L@4"}, "[0 1] [0 1]"},
		{"one application more", []string{"b/L@1", "b/L@3 b/L@4"}, "[0] [0 1]"},
		{"two applications, by what else they have", []string{"b/L@1 b/L@2 c/L@1 d/L@2", "b/L@4 b/L@3 c/L@3 d/L@4"}, "[0 1 2 3] [1 0 2 3]"},
		{"one of two goes on", []string{"b/L@1 b/L@2", "b/L@3 b/L@2"}, "[0 1] [0 1]"},
		{"a hash that another loader had", []string{"b/L@1 b/L@2", "b/L@2 b/L@1"}, "[0 1] [1 0]"},
		{"known by two names, both there", []string{"b/L@1", "b/L@2", "b/L@1 b/L@2"}, "[0] [0] [0 1]"},
		{"no hash", []string{"b/L@x b/@1 b/L@", "b/L@y b/@2 b/L"}, "[0 1 2] [3 4 5]"},
	} {
		var m cct.Matcher
		var got []string
		for _, r := range test.recordings {
			var methods []cct.Method
			for _, text := range strings.Fields(r) {
				name, loader, _ := strings.Cut(text, "/")
				methods = append(methods, cct.Method{Name: name, Loader: loader})
			}
			got = append(got, fmt.Sprint(m.Add(methods)))
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s: %s, want %s", test.what, got, test.want)
		}
	}
}

// TestMatcherMany has as many loaders as a server of pages that are compiled again
// and again.
func TestMatcherMany(t *testing.T) {
	side := func(hash int) []cct.Method {
		var out []cct.Method
		for l := range 2000 {
			for k := range 20 {
				out = append(out, cct.Method{Name: fmt.Sprint("page_jsp.m", k), Loader: fmt.Sprintf("Jasper@%x", hash+l)})
			}
		}
		return out
	}
	var m cct.Matcher
	before, after := m.Add(side(1)), m.Add(side(1<<20))
	seen := map[int32]bool{}
	both := 0
	for _, n := range after {
		seen[n] = true
	}
	for _, n := range before {
		if seen[n] {
			both++
		}
	}
	if len(seen) != len(after) || both != len(before) {
		t.Errorf("%d numbers for %d methods, %d matched", len(seen), len(after), both)
	}
}
