package export_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// TestUnlike makes two recordings unlike in one way after the other.
func TestUnlike(t *testing.T) {
	const roots = 100
	recording := func(change func(*export.Report)) *export.Report {
		r := &export.Report{
			Target: export.Target{Main: "/srv/shop-1.0.jar", Java: "17.0.1", VM: "HotSpot"}, Scheme: "D", Clock: "tick", Roots: []string{"shop.Orders.process(I)V", "shop.Orders.cancel()V"},
			Time: time.Minute, Redefinition: export.Redefinition{Classes: 5}, Lookup: lookup,
			Tree: &cct.Snapshot{Threads: []*cct.Thread{{RootEntries: roots, RootReturns: roots, Roots: []*cct.Node{node(0, roots, 0, 1)}}}},
		}
		change(r)
		return r
	}
	same := func(*export.Report) {}
	for _, c := range []struct {
		want   string
		change func(*export.Report)
	}{
		{"[]", same},
		{"[]", func(r *export.Report) { r.Target.Main = "/other/shop-2.11.jar --port 1" }},
		{"[]", func(r *export.Report) { r.Tree.Threads[0].RootReturns -= 4 }},
		{"[]", func(r *export.Report) { r.Time, r.Warmed = time.Second, 20*time.Second }},
		{"[unfinished!]", func(r *export.Report) { r.Tree.Threads[0].RootReturns -= 5 }},
		{"[unfinished!]", func(r *export.Report) { r.Tree.Threads[0].RootEntries, r.Tree.Threads[0].RootReturns = 1, 0 }},
		{"[roots!]", func(r *export.Report) { r.Roots = []string{"shop.Other.of()V"} }},
		{"[roots]", func(r *export.Report) { r.Roots = r.Roots[:1] }},
		{"[program]", func(r *export.Report) { r.Target.Main = "/srv/shipping-1.0.jar" }},
		{"[java]", func(r *export.Report) { r.Target.Java = "21" }},
		{"[scheme]", func(r *export.Report) { r.Scheme = "A" }},
		{"[clock]", func(r *export.Report) { r.Clock = "precise" }},
		{"[filter]", func(r *export.Report) { r.Filter = &export.Filter{Rules: []string{"--exclude shop.log.**"}} }},
		{"[recording]", func(r *export.Report) { r.Fold = true }},
		{"[cold]", func(r *export.Report) { r.Time = 4 * time.Second }},
		{"[roots! program java]", func(r *export.Report) {
			r.Roots, r.Target = []string{"x.Y.z()V"}, export.Target{Main: "x.Y", Java: "8", VM: "HotSpot"}
		}},
	} {
		got := []string{}
		for _, u := range export.UnlikeOf(recording(same), recording(c.change)) {
			if u.Grave {
				u.Kind += "!"
			}
			got = append(got, u.Kind)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%v, want %s", got, c.want)
		}
	}
	_, err := export.GrowthOf(recording(same), recording(func(r *export.Report) { r.Roots = []string{"a.B.c()V"} }), "calls", 1, 1)
	if !errors.Is(err, export.ErrUnlike) {
		t.Errorf("check of other roots: %v", err)
	}
}
