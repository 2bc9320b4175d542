package export

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// jsonSurvival is what became of the objects of a type that a context has allocated.
type jsonSurvival struct {
	Tracked  int64    `json:"tracked"`
	Survived int64    `json:"tracked_survived"`
	Error    float64  `json:"error_objects"` // 1.96 standard errors of the number that survived
	Live     jsonAged `json:"live"`
	Gone     jsonAged `json:"gone"`
}

// jsonAged are objects by age: 0, 1, 2 to 3, 4 to 7, 8 to 15, 16 and more collections survived.
type jsonAged struct {
	Objects [cct.Ages]int64 `json:"objects"`
	Bytes   [cct.Ages]int64 `json:"bytes"`
}

func (s *jsonSurvival) read() *cct.Survival {
	if s == nil {
		return nil
	}
	return &cct.Survival{Tracked: s.Tracked, Survived: s.Survived, Variance: (s.Error / 1.96) * (s.Error / 1.96), Live: cct.Aged(s.Live), Gone: cct.Aged(s.Gone)}
}

// survival writes what became of objects, where any were followed.
func (w *jsonWriter) survival(s *cct.Survival) {
	if s == nil {
		return
	}
	aged := func(name string, a cct.Aged) string {
		list := func(n [cct.Ages]int64) string { return strings.ReplaceAll(fmt.Sprint(n), " ", ",") }
		return fmt.Sprintf(`,"%s":{"objects":%s,"bytes":%s}`, name, list(a.Objects), list(a.Bytes))
	}
	w.text(fmt.Sprintf(`,"survival":{"tracked":%d,"tracked_survived":%d,"error_objects":%.1f`, s.Tracked, s.Survived, s.Error()) + aged("live", s.Live) + aged("gone", s.Gone) + "}")
}

// survives tells whether a recording with these metrics has estimates of survivors.
func survives(t *metric.Table) bool { return t.Index(metric.SurvivedBytes.Name) >= 0 }

// A survivor is a type, and where it was allocated.
type survivor struct {
	in      string // method; "" for all
	alloc   cct.Alloc
	objects int64 // that survived
	bytes   int64
}

// survivorsOf are what the trees' contexts have allocated that survived, by type and method. The
// most bytes come first.
func (t *textWriter) survivorsOf() (list []survivor) {
	type key struct{ name, method string }
	at := map[key]int{}
	for n := range cct.All(t.snapshot.Roots()) {
		for _, a := range n.Allocs() {
			k := key{a.Type.Name, t.report.Method(n.Method).Name}
			i, ok := at[k]
			if !ok {
				i = len(list)
				at[k] = i
				list = append(list, survivor{in: k.method, alloc: cct.Alloc{Type: a.Type}})
			}
			list[i].alloc = list[i].alloc.Plus(a)
		}
	}
	for i := range list {
		list[i].objects, list[i].bytes = list[i].alloc.Survival.Older()
	}
	list = slices.DeleteFunc(list, func(s survivor) bool { return s.objects == 0 })
	slices.SortFunc(list, func(a, b survivor) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(b.objects, a.objects), cmp.Compare(a.alloc.Type.Name, b.alloc.Type.Name), cmp.Compare(a.in, b.in))
	})
	return list
}

// survivors writes what of the allocations has survived collections.
func (t *textWriter) survivors() {
	if !survives(t.report.metrics()) {
		return
	}
	t.section("Survived a garbage collection, by type and method (estimated)")
	list := t.survivorsOf()
	if len(list) == 0 {
		t.printf("nothing, of what was followed\n")
		return
	}
	shown := list
	if t.o.Top > 0 && len(shown) > t.o.Top {
		shown = shown[:t.o.Top]
	}
	table := table{head: []string{"~survived", "~objects", "of all", "error", "~live", "~objects", "oldest", "type, where it was allocated"}}
	for _, s := range shown {
		left, live := s.alloc.Survival.Remaining()
		bytes, liveBytes := notKnown, notKnown
		if s.bytes > 0 {
			bytes, liveBytes = Bytes(s.bytes), Bytes(live)
		}
		off := "-"
		if e := s.alloc.Survival.Error(); e > 0 {
			off = fmt.Sprintf("%.0f %%", 100*e/float64(s.objects))
		}
		table.add(Clean(s.alloc.Type.Name)+" in "+Clean(s.in), "", bytes, Count(s.objects), share(s.objects, s.alloc.Objects), off, liveBytes, Count(left), oldest(s.alloc.Survival))
	}
	table.write(&t.sink, t.o.Color, t.o.Width)
	if rest := len(list) - len(shown); rest > 0 {
		t.printf("and %s more\n", Plural(int64(rest), "line", "lines"))
	}
	t.printf("of all: of the objects that were allocated there; oldest: the most collections that one has survived\n")
}

// oldest is the age of the objects that have survived the most collections.
func oldest(s *cct.Survival) string {
	for i := cct.Ages - 1; i > 0; i-- {
		if s.Live.Objects[i]+s.Gone.Objects[i] == 0 {
			continue
		}
		switch least, most := cct.AgeRange(i); most {
		case least:
			return fmt.Sprint(least)
		case -1:
			return fmt.Sprintf("%d+", least)
		default:
			return fmt.Sprintf("%d-%d", least, most)
		}
	}
	return "0"
}
