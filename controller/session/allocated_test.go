package session_test

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/metric"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// sized is how many objects and elements there are of a type.
type sized struct{ Objects, Elements int64 }

// allocatedIn is what a report's methods have allocated, by method and type.
func allocatedIn(r *export.Report) map[string]sized {
	got := map[string]sized{}
	for _, f := range cct.FlatOf(r.Tree.Roots()) {
		for _, a := range f.Allocs {
			got[short(r, f.Method)+" "+a.Type.Name] = sized{a.Objects, a.Elements}
		}
	}
	return got
}

// allocatesIn is what n iterations of the root of Allocates.java allocate.
func allocatesIn(n int64) map[string]sized {
	var lengths int64
	for i := range n {
		lengths += i % 100
	}
	objects := n + (n+1)/2
	return map[string]sized{
		"Allocates.arrays int[]":                   {n + 6*n, lengths + 30*n},
		"Allocates.arrays byte[]":                  {n, lengths},
		"Allocates.arrays double[]":                {n, lengths},
		"Allocates.arrays java.lang.String[]":      {n, lengths},
		"Allocates.arrays int[][]":                 {2 * n, 6 * n},
		"Allocates.arrays int[][][]":               {n, 2 * n},
		"Allocates.arrays t.Allocates$Point[][]":   {2 * n, 0},
		"Allocates.arrays t.Allocates$Point[][][]": {n, 2 * n},
		"Allocates.objects t.Allocates$Point":      {objects, 0},
		"Allocates.objects t.Allocates$Large":      {objects, 0},
		"Allocates.objects java.util.ArrayList":    {objects, 0},
		"Allocates$Large.<init> t.Allocates$Point": {objects, 0},
	}
}

// supers are the constructors that those of Allocates.java call first (Binder 2005,
// section 4: the map M).
var supers = map[string]string{"t.Allocates$Large": "t.Allocates$Point"}

// constructedIn is how many objects of the application's types the contexts allocate
// by the calls of constructors, as Binder 2005 works it out (figure 2b).
func constructedIn(r *export.Report) map[string]int64 {
	class := func(n *cct.Node) string {
		name, _, _ := strings.Cut(r.Method(n.Method).Name, ".<init>(")
		if name == r.Method(n.Method).Name {
			return ""
		}
		return name
	}
	objects := map[string]int64{}
	for n := range cct.All(r.Tree.Roots()) {
		for _, c := range n.Children {
			if of := class(c); of != "" {
				objects[of] += c.Calls
			}
		}
		if super := supers[class(n)]; super != "" {
			objects[super] -= n.Calls
		}
	}
	return objects
}

// applicationObjects are those of the application's types that probes have counted.
func applicationObjects(r *export.Report) map[string]int64 {
	objects := map[string]int64{}
	for _, a := range cct.TypesOf(r.Tree.Roots()) {
		if strings.HasPrefix(a.Type.Name, "t.") && !a.Type.Array {
			objects[a.Type.Name] = a.Objects
		}
	}
	return objects
}

// TestAllocations counts what a program allocates, exactly, and compares the bytes
// with what the JVM says of the thread.
func TestAllocations(t *testing.T) {
	t.Parallel()
	const n = 8001
	dir := sources(t, "Allocates")
	want := allocatesIn(n)
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		for i, rec := range []session.Recording{
			{Scheme: "A"},
			{Scheme: "B", Probes: session.ProbesCalled, Count: []string{metric.CountBytecodes}},
			{Scheme: "C", Clock: "precise", Fold: true},
			{Scheme: "B", Slowest: 1},
		} {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				p := program(t, j, dir, "Allocates", nil)
				s := attached(t, p)
				rec.Roots, rec.Count = []string{"t.Allocates.root"}, append(rec.Count, metric.CountAllocations)
				start(t, s, rec)
				bytes := ask(t, p, fmt.Sprint("root ", n), "BYTES ")
				r := closed(t, s)
				if diff := cmp.Diff(want, allocatedIn(r)); diff != "" {
					t.Errorf("allocated, -want +got:\n%s", diff)
				}
				if diff := cmp.Diff(constructedIn(r), applicationObjects(r)); diff != "" {
					t.Errorf("objects of the application, -by constructors +by probes:\n%s", diff)
				}
				v := cct.Sum(r.Tree.Roots()).Counts
				at := v.Table.Index
				if objects, arrays := v.Own[at(metric.Objects.Name)], v.Own[at(metric.Arrays.Name)]; objects != 4*(n+(n+1)/2) || arrays != 16*n {
					t.Errorf("%d objects and %d arrays in all", objects, arrays)
				}
				got := v.Own[at(metric.AllocatedBytes.Name)]
				if math.Abs(float64(got-bytes)) > float64(bytes)/100 {
					t.Errorf("%d bytes, the thread has allocated %d", got, bytes)
				}
			})
		}
	}, 8, 17, 25)
}

// TestAllocationsThrown counts objects whose constructor was never called.
func TestAllocationsThrown(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Allocates")
	p := program(t, jvmtest.Any(t), dir, "Allocates", nil)
	s := attached(t, p)
	start(t, s, session.Recording{Roots: []string{"t.Allocates.throwing()V"}, Count: []string{metric.CountAllocations}})
	ask(t, p, "throwing", "DONE ")
	if diff := cmp.Diff(map[string]sized{"Allocates.throwing t.Allocates$Point": {10, 0}}, allocatedIn(closed(t, s))); diff != "" {
		t.Errorf("allocated, -want +got:\n%s", diff)
	}
}

// TestAllocationsRemoved records what the compiler has removed: it does so with the
// probes, too.
func TestAllocationsRemoved(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Allocates")
	p := program(t, jvmtest.Need(t, 17), dir, "Allocates", []string{"-Xbatch"})
	s := attached(t, p)
	start(t, s, session.Recording{Roots: []string{"t.Allocates.removed"}, Count: []string{metric.CountAllocations}})
	if left := ask(t, p, "removed", "LEFT "); left > 100 {
		t.Errorf("%d bytes are allocated by what needs none", left)
	}
	r := closed(t, s)
	got := allocatedIn(r)
	runs := r.Tree.Roots()[0].Calls
	want := map[string]sized{"Allocates.removed t.Allocates$Point": {100_000 * runs, 0}, "Allocates.removed int[]": {100_000 * runs, 200_000 * runs}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("allocated, -want +got:\n%s", diff)
	}
}

// TestAllocationsOfJDK counts what methods of the JDK allocate for their callers, where
// that is known, and names what isn't.
func TestAllocationsOfJDK(t *testing.T) {
	t.Parallel()
	const n = 400
	dir := sources(t, "Allocates")
	lambda := "Allocates.lambdas t.Allocates$$Lambda"
	want := map[string]sized{
		"Allocates.boxes java.lang.Integer":        {n - 128, 0},
		"Allocates.boxes java.lang.Long":           {n - 128, 0},
		"Allocates.boxes java.lang.Short":          {n - 128, 0},
		"Allocates.boxes java.lang.Character":      {n - 128, 0},
		"Allocates.boxes java.lang.Double":         {n, 0},
		"Allocates.boxes java.lang.Float":          {n, 0},
		lambda:                                     {3 * n, 0},
		"Allocates.jdk t.Allocates$Copied":         {n, 0},
		"Allocates.jdk java.lang.String[]":         {2 * n, 2 * n},
		"Allocates$Copied.<init> int[]":            {2 * n, 4 * n},
		"Allocates$Copied.copy t.Allocates$Copied": {n, 0},
		"Allocates$Copied.copy int[]":              {n, 2 * n},
		"Allocates$Kind.values t.Allocates$Kind[]": {n, 3 * n},
		"Allocates.reflected java.lang.Class[]":    {n, 0},
		"Allocates.reflected java.lang.Object[]":   {n, 0},
		"Allocates.reflected ?[] (by reflection)":  {n, 3 * n},
		"Allocates.reflected t.Allocates$Copied":   {n, 0},

		"Allocates.copies int[]":                        {2 * n, 5 * n},
		"Allocates.copies java.lang.String[]":           {n, 2 * n},
		"Allocates.copies java.lang.Object[]":           {n, n},
		"Allocates.copies java.lang.StringBuilder":      {n, 0},
		"Allocates.copies java.lang.String (estimated)": {n, 0},
	}
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, "Allocates", nil)
		s := attached(t, p)
		start(t, s, session.Recording{Scheme: "B", Roots: []string{"t.Allocates.jdk"}, Count: []string{metric.CountAllocations}})
		ask(t, p, fmt.Sprint("jdk ", n), "DONE ")
		r := closed(t, s)
		want := maps.Clone(want)
		want["Allocates.copies char[]"] = sized{n, 4 * n}
		text := "Allocates.copies byte[] (estimated)"
		if j.Version == 8 {
			text = "Allocates.copies char[] (estimated)"
		}
		want[text] = sized{n, 4 * n}
		if diff := cmp.Diff(want, allocatedIn(r)); diff != "" {
			t.Errorf("allocated, -want +got:\n%s", diff)
		}
		for _, a := range cct.TypesOf(r.Tree.Roots()) {
			if a.Type.Name == "t.Allocates$$Lambda" && a.Bytes != n*(24+32+16) { // fields of 8, 13 and 4 bytes
				t.Errorf("%d bytes of lambdas", a.Bytes)
			}
		}
		if len(r.UncountedMethods) > 0 {
			t.Errorf("not counted: %v", r.UncountedMethods)
		}
		// What is created by reflection is as large as what new has made.
		for _, f := range cct.FlatOf(r.Tree.Roots()) {
			for _, a := range f.Allocs {
				if a.Type.Name == "t.Allocates$Copied" && (a.Bytes != 16*n || a.Type.Size != 16) {
					t.Errorf("%s: %+v of %+v", short(r, f.Method), a, a.Type)
				}
			}
		}
	}, 8, 17, 25)
}
