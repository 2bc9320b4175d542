package export

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// jsonAlloc is what a context has allocated of a type.
type jsonAlloc struct {
	Type     string `json:"type"`
	Objects  int64  `json:"objects"`
	Elements int64  `json:"elements"`
	Bytes    *int64 `json:"bytes"` // nil where they are not known

	Survival *jsonSurvival `json:"survival"`
}

// allocates tells whether a recording with these metrics counts allocations.
func allocates(t *metric.Table) bool { return t.Index(metric.Objects.Name) >= 0 }

// allocs writes what a context or method has allocated itself.
func (w *jsonWriter) allocs(list []cct.Alloc) {
	if !allocates(w.metrics) {
		return
	}
	w.text(`,"allocations":[`)
	for i, a := range cct.ByBytes(list) {
		if i > 0 {
			w.text(",")
		}
		w.text(`{"type":`)
		w.bytes(w.typeName(a.Type))
		w.field("objects", a.Objects)
		w.field("elements", a.Elements)
		if a.Bytes < 0 {
			w.text(`,"bytes":null`)
		} else {
			w.field("bytes", a.Bytes)
		}
		w.survival(a.Survival)
		w.text("}")
	}
	w.text("]")
}

func (w *jsonWriter) typeName(t *cct.Type) []byte {
	q, ok := w.types[t.Name]
	if !ok {
		q = quote(t.Name)
		w.types[t.Name] = q
	}
	return q
}

// allocated gives a node what was read.
func (in *reader) allocated(n *cct.Node, list []jsonAlloc) error {
	for _, a := range list {
		if a.Type == "" || a.Objects <= 0 {
			return fmt.Errorf("an allocation of type %q with %d objects", a.Type, a.Objects)
		}
		t := in.types[a.Type]
		if t == nil {
			t = &cct.Type{Name: a.Type, Array: isArray(a.Type), Size: cct.NotKnown}
			in.types[a.Type] = t
		}
		bytes := int64(cct.NotKnown)
		if a.Bytes != nil {
			bytes = *a.Bytes
		}
		n.Details().Allocs = append(n.Allocs(), cct.Alloc{Type: t, Objects: a.Objects, Elements: a.Elements, Bytes: bytes, Survival: a.Survival.read()})
	}
	return nil
}

// isArray tells whether a type's name in a report is that of an array.
func isArray(name string) bool {
	return strings.HasSuffix(strings.TrimSuffix(name, cct.Estimated), "[]") || name == cct.ReflectedArray
}

// allocations writes the table of types.
func (t *textWriter) allocations() {
	if !allocates(t.report.metrics()) {
		return
	}
	types := cct.TypesOf(t.snapshot.Roots())
	t.section("Allocated, by type")
	var all int64
	for _, s := range types {
		all += max(s.Bytes, 0)
	}
	shown := types
	if t.o.Top > 0 && len(shown) > t.o.Top {
		shown = shown[:t.o.Top]
	}
	heap := map[string]cct.HeapSample(nil)
	if t.report.Heap != nil {
		heap = onHeap(t.snapshot.Roots())
	}
	table := table{head: []string{"bytes", "share", "on the heap", "objects", "elements", "call paths", "type"}}
	for _, s := range shown {
		bytes, elements := notKnown, ""
		if s.Bytes >= 0 {
			bytes = Bytes(s.Bytes)
		}
		if s.Type.Array {
			elements = Count(s.Elements)
		}
		met := ""
		if heap != nil {
			met = estimatedBytes(heap[s.Type.Name])
		}
		table.add(Clean(s.Type.Name), "", bytes, share(max(s.Bytes, 0), all), met, Count(s.Objects), elements, Count(s.Contexts))
	}
	table.write(&t.sink, t.o.Color, t.o.Width)
	if rest := types[len(shown):]; len(rest) > 0 {
		var bytes, objects int64
		for _, s := range rest {
			bytes, objects = bytes+max(s.Bytes, 0), objects+s.Objects
		}
		t.printf("and %s: %s in %s\n", Plural(int64(len(rest)), "type", "types"), Bytes(bytes), Plural(objects, "object", "objects"))
	}
}

// A Density is what is allocated for 1,000 executed bytecodes (W. Binder, "Portable
// Profiling of Memory Allocation in Java", section 3).
type Density struct {
	Objects float64 `json:"objects"` // and arrays
	Bytes   float64 `json:"bytes"`   // as far as the sizes of types are known
}

// text says it in words. Of some types the bytes may not be known.
func (d *Density) text(types []cct.TypeSum) string {
	least := ""
	if slices.ContainsFunc(types, func(s cct.TypeSum) bool { return s.Bytes < 0 }) {
		least = "at least "
	}
	return fmt.Sprintf("%s objects and arrays, %s%s, for 1,000 executed bytecodes", digits(d.Objects), least, Bytes(int64(math.Round(d.Bytes))))
}

// density is that of sums; nil where the metrics have not both.
func density(t *metric.Table, v *metric.Values) *Density {
	executed := own(v, max(t.Bytecodes(), 0))
	if t.Bytecodes() < 0 || !allocates(t) || executed <= 0 {
		return nil
	}
	per := func(m metric.Metric) float64 { return 1000 * float64(own(v, t.Index(m.Name))) / float64(executed) }
	return &Density{per(metric.Objects) + per(metric.Arrays), per(metric.AllocatedBytes)}
}

// notKnown stands for bytes of a type whose size nobody knows.
const notKnown = "?"
