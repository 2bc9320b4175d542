package session_test

import (
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/filter"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// rules reads "+pattern -pattern".
func rules(t *testing.T, text string) filter.Set {
	t.Helper()
	var s filter.Set
	for w := range strings.FieldsSeq(text) {
		if err := s.Add(w[1:], w[0] == '+'); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestFilters hides methods of a program that counts its own calls: those that
// are left have their counts to the last call, however deep they lie below
// hidden ones, and the others are not there.
func TestFilters(t *testing.T) {
	t.Parallel()
	filters := map[string]string{
		"exclude":  "-t.Truth$Mid -t.Truth.lambdas -t.Truth.callbacks -t.Truth.constructors -t.Truth.nested -**.fact -t.Truth$Round.* -t.Truth$Base.<init>",
		"include":  "+t.Truth$* +t.Truth.even +t.Truth.callback",
		"override": "+t.** -t.Truth.* +t.Truth.odd -t.Truth$*",
	}
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		for _, scheme := range []string{"A", "B", "C"} {
			for name, text := range filters {
				if !jvmtest.Whole() && name != map[string]string{"A": "override", "B": "include", "C": "exclude"}[scheme] {
					continue // package scheme tests each filter with each scheme
				}
				t.Run(name+"-"+scheme, func(t *testing.T) {
					set := rules(t, text)
					p := truthProgram(t, j, "before", "2", "5")
					s := attached(t, p)
					start(t, s, session.Recording{Roots: []string{"t.Truth.root"}, Scheme: scheme, UntilCalls: 10, Filter: set})
					p.Send("go")
					r := finish(t, s)
					want := expectations(t, p, "TOTAL")
					for m := range want {
						class, method := "t.Truth", m
						if i := strings.LastIndexByte(m, '.'); i >= 0 {
							class, method = class+"$"+m[:i], m[i+1:]
						}
						if m != "root" && m != "lambda$" && !set.Method(class, method, "", false) {
							delete(want, m)
						}
					}
					got := recorded(r)
					if !set.Method("t.Truth", "lambda$", "", false) {
						delete(want, "lambda$")
					}
					compare(t, got, want, 1, once)
					checkAccount(t, r)
					p.Send("end")
				})
			}
		}
	}, 8, 17, 25)
}

// checkAccount wants the report to say that the root, of which all callees are
// hidden or not, calls hidden methods.
func checkAccount(t *testing.T, r *export.Report) {
	t.Helper()
	if r.Filter == nil || r.Filter.Hidden == 0 || len(r.Filter.Rules) == 0 {
		t.Fatalf("account: %+v", r.Filter)
	}
	listed := 0
	for _, k := range r.Skipped {
		if k.Reason == "hidden by the filter" {
			listed++
		}
	}
	if listed != r.Filter.Hidden {
		t.Errorf("%d hidden methods listed, %d counted", listed, r.Filter.Hidden)
	}
	for _, f := range cct.FlatOf(r.Tree.Roots()) {
		if m, _ := r.Lookup(f.Method); strings.HasPrefix(m.Name, "t.Truth.root(") && m.Hidden == 0 {
			t.Error("the root calls hidden methods, and nobody says so")
		}
	}
}
