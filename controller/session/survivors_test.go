package session_test

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/metric"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// lives is what became of the objects of a type: allocated, survived a collection, still there, and gone.
type lives struct{ Made, Survived, Left, Gone int64 }

// livesIn are those by method and type.
func livesIn(r *export.Report) map[string]lives {
	got := map[string]lives{}
	for _, f := range cct.FlatOf(r.Tree.Roots()) {
		for _, a := range f.Allocs {
			l := lives{Made: a.Objects}
			l.Survived, _ = a.Survival.Older()
			l.Left, _ = a.Survival.Remaining()
			if s := a.Survival; s != nil {
				for _, n := range s.Gone.Objects {
					l.Gone += n
				}
			}
			got[short(r, f.Method)+" "+a.Type.Name] = l
		}
	}
	return got
}

// livesOf is what becomes of n calls of the root of Survivors.java, left of which are still kept.
func livesOf(n, left int64) map[string]lives {
	kept, gone := lives{n, n, left, n - left}, lives{n, 0, 0, n}
	return map[string]lives{
		"Survivors.keep t.Survivors$Kept":                           kept,
		"Survivors.keep byte[]":                                     kept,
		"Survivors.keep int[][]":                                    kept,
		"Survivors.keep int[]":                                      {Made: n}, // within another
		"Survivors.keep java.lang.Integer":                          kept,
		"Survivors.keep t.Survivors$$Lambda":                        kept,
		"Survivors.waste t.Survivors$Garbage":                       gone,
		"Survivors.waste long[]":                                    gone,
		"Survivors.waste t.Survivors$Fails":                         {Made: n}, // never initialised
		"Survivors$Fails.<init> java.lang.IllegalArgumentException": gone,
	}
}

var survivors = session.Recording{Roots: []string{"t.Survivors.root", "t.Survivors.full"}, Count: []string{metric.CountSurvivors}}

// collected has the program collect garbage until a recording says what is wanted.
func collected(t *testing.T, p *jvmtest.Proc, s *session.Session, want map[string]lives) {
	t.Helper()
	var got map[string]lives
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(250 * time.Millisecond) {
		ask(t, p, "gc", "COLLECTED ")
		r, err := s.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got = livesIn(r); maps.Equal(got, want) {
			return
		}
	}
	t.Fatalf("survivors, -want +got:\n%s", cmp.Diff(want, got))
}

// TestSurvivors follows objects of a program that keeps some, until it drops them: with so few, all are
// followed. It resets the recording between, and leaves nothing behind.
func TestSurvivors(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Survivors")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		collectors := map[int][]string{8: {"-XX:+UseParallelGC"}, 17: nil, 21: {"-XX:+UseSerialGC"}, 25: {"-XX:+UseZGC"}}
		p := program(t, j, dir, "Survivors", append([]string{"-Xmx256m", "-XX:MetaspaceSize=128m"}, collectors[j.Version]...))
		s := attached(t, p)
		start(t, s, survivors)
		ask(t, p, "make 30", "MADE ")
		collected(t, p, s, livesOf(30, 30))
		ask(t, p, "drop", "DROPPED ")
		collected(t, p, s, livesOf(30, 0))
		must(t, "reset", s.Reset)
		ask(t, p, "make 20", "MADE ")
		collected(t, p, s, livesOf(20, 20))
		r := closed(t, s)
		if diff := cmp.Diff(livesOf(20, 20), livesIn(r)); diff != "" {
			t.Errorf("in the last report, -want +got:\n%s", diff)
		}
		if !r.Exact() || len(r.UncountedMethods) > 0 {
			t.Errorf("gaps %v, uncounted %v", r.Gaps, r.UncountedMethods)
		}
		var survived int64
		for _, a := range cct.TypesOf(r.Tree.Roots()) {
			_, bytes := a.Survival.Older()
			survived += bytes
		}
		root := r.Tree.Roots()[0].Counts
		if got := root.Total[root.Table.Index(metric.SurvivedBytes.Name)]; got != survived || got < 20*(16+112+24+16) {
			t.Errorf("%d bytes survived in all, %d by type", got, survived)
		}
		gone(t, p.PID(), patient)
		if left := ours(t, p.PID()); len(left) > 0 {
			t.Errorf("objects of ours after a collection: %q", left)
		}
	}, 8, 17, 21, 25)
}

// TestSurvivorsThinned follows objects in a heap so small that there is no place for all that would be followed: what
// survived is told by the others.
func TestSurvivorsThinned(t *testing.T) {
	t.Parallel()
	const n = 20_000
	dir := sources(t, "Survivors")
	p := program(t, jvmtest.Need(t, 17), dir, "Survivors", []string{"-Xmx16m", "-XX:+UseSerialGC"})
	s := attached(t, p)
	rec := survivors
	rec.Roots = []string{"t.Survivors.keep"}
	start(t, s, rec)
	ask(t, p, "make 20000", "MADE ")
	kept := lives{n, n, n, 0}
	collected(t, p, s, map[string]lives{
		"Survivors.keep t.Survivors$Kept":    kept,
		"Survivors.keep byte[]":              kept,
		"Survivors.keep int[][]":             kept,
		"Survivors.keep int[]":               {Made: n},
		"Survivors.keep java.lang.Integer":   kept,
		"Survivors.keep t.Survivors$$Lambda": kept,
	})
	for _, a := range cct.TypesOf(closed(t, s).Tree.Roots()) {
		if v := a.Survival; v != nil && (v.Tracked > n/10 || v.Error() <= 0) {
			t.Errorf("%s: %d were followed, error %v", a.Type.Name, v.Tracked, v.Error())
		}
	}
}

// TestSurvivorsFull follows objects while the heap is full: the program sees its own errors alone, and what it
// allocates is counted.
func TestSurvivorsFull(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Survivors")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, "Survivors", []string{"-Xmx32m"})
		s := attached(t, p)
		start(t, s, survivors)
		made := ask(t, p, "fill", "FULL ")
		ask(t, p, "make 10", "MADE ")
		r := closed(t, s)
		var got int64
		for _, f := range cct.FlatOf(r.Tree.Roots()) {
			for _, a := range f.Allocs {
				if short(r, f.Method) == "Survivors.full" {
					got += a.Objects
				}
			}
		}
		if made >= 0 && r.Ended == "stopped" && got != made { // the agent may have found no memory, either
			t.Errorf("%d objects, the program knows of %d", got, made)
		}
		p.Send("end")
		if code := p.Wait(); code != 0 {
			t.Errorf("exit code %d: %s", code, p.Stderr())
		}
	}, 8, 17, 25)
}
