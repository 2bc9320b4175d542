package export

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// ClassLoads say which classes came while it was recorded. Their contexts are in the tree (cct.Node Loads).
type ClassLoads struct {
	Inside   int64 `json:"inside"`                    // by threads inside a root call
	Left     int64 `json:"left,omitempty"`            // of these, not kept for want of room
	Unplaced int64 `json:"without_context,omitempty"` // hidden classes whose stacks Flight Recorder has cut off: not in Inside
	Outside  int64 `json:"outside"`                   // by other threads, hidden classes left out
	Timed    bool  `json:"timed"`                     // Flight Recorder was asked how long they took
}

// plus adds those of another JVM, or of another recording.
func (c *ClassLoads) plus(o *ClassLoads) *ClassLoads {
	if c == nil || o == nil {
		return cmp.Or(c, o)
	}
	return &ClassLoads{c.Inside + o.Inside, c.Left + o.Left, c.Unplaced + o.Unplaced, c.Outside + o.Outside, c.Timed && o.Timed}
}

// jsonLoad is a class that a context has caused to be loaded.
type jsonLoad struct {
	Class  string `json:"class"`
	Loader string `json:"loader"`
	From   string `json:"from,omitempty"`
	At     int64  `json:"at_ns"`
	Took   *int64 `json:"took_ns,omitempty"` // absent where nobody timed it
	Own    *int64 `json:"self_ns,omitempty"`
}

// loads writes the classes that a context has caused to be loaded, if there are any.
func (w *jsonWriter) loads(l *cct.Loads) {
	if l == nil {
		return
	}
	list := make([]jsonLoad, 0, len(l.List))
	for i := range l.List {
		k := &l.List[i]
		j := jsonLoad{Class: k.Class, Loader: k.Loader, From: k.From, At: k.At}
		if k.Took >= 0 {
			j.Took, j.Own = &k.Took, &k.Own
		}
		list = append(list, j)
	}
	text, err := marshal(list, "")
	if err != nil {
		return // texts and numbers can't fail
	}
	w.text(`,"class_loads":`)
	w.bytes(text)
}

// loadedOf gives a node what was read.
func loadedOf(n *cct.Node, list []jsonLoad) error {
	if len(list) == 0 {
		return nil
	}
	n.Details().Loads = &cct.Loads{}
	for _, j := range list {
		if j.Class == "" {
			return errors.New("a class load without a class")
		}
		k := cct.Load{Class: j.Class, Loader: j.Loader, From: j.From, At: j.At, Took: cct.NotKnown, Own: cct.NotKnown}
		if j.Took != nil && j.Own != nil {
			k.Took, k.Own = max(*j.Took, 0), max(*j.Own, 0)
		}
		n.Loads().List = append(n.Loads().List, k)
	}
	return nil
}

// A LoadCause is a method that has caused classes to be loaded, over all its contexts.
type LoadCause struct {
	Method  int32
	Loads   []cct.Load
	Own     int64 // ns, of those that were timed
	Untimed int64
}

// LoadCauses are the methods of a tree that have caused classes to be loaded: those with the most time first, then
// with the most loads.
func (r *Report) LoadCauses() (out []LoadCause) {
	if r.Tree == nil {
		return nil
	}
	at := map[int32]int{}
	for n := range cct.All(r.Tree.Roots()) {
		if n.Loads() == nil {
			continue
		}
		i, ok := at[n.Method]
		if !ok {
			i = len(out)
			at[n.Method] = i
			out = append(out, LoadCause{Method: n.Method})
		}
		c := &out[i]
		for _, l := range n.Loads().List {
			c.Loads = append(c.Loads, l)
			if l.Own < 0 {
				c.Untimed++
			}
			c.Own += max(l.Own, 0)
		}
	}
	slices.SortStableFunc(out, func(a, b LoadCause) int {
		return cmp.Or(cmp.Compare(b.Own, a.Own), cmp.Compare(len(b.Loads), len(a.Loads)), cmp.Compare(r.Method(a.Method).Name, r.Method(b.Method).Name))
	})
	return out
}

// LoadLine sums up the class loads in a sentence; "" where there were none.
func (r *Report) LoadLine() string {
	causes := r.LoadCauses()
	var n, own, untimed, total int64
	for _, c := range causes {
		n += int64(len(c.Loads))
		own += c.Own
		untimed += c.Untimed
	}
	if n == 0 {
		return ""
	}
	for _, root := range r.Tree.Roots() {
		total += root.Total
	}
	line := Plural(n, "class was", "classes were") + " loaded below the roots"
	if untimed < n {
		line += fmt.Sprintf("; loading took %s, %s of their time", Duration(own), share(own, total))
		if untimed > 0 {
			line += fmt.Sprintf(", and %s that nobody timed", Plural(untimed, "load", "loads"))
		}
	}
	return line
}

// classLoads writes which methods have caused classes to be loaded.
func (t *textWriter) classLoads() {
	causes := t.report.LoadCauses()
	if len(causes) == 0 {
		return
	}
	t.section("Classes loaded, by the method that needed them")
	shown := causes
	if t.o.Top > 0 && len(shown) > t.o.Top {
		shown = shown[:t.o.Top]
	}
	table := table{head: []string{"loads", "loading", "classes", "method"}}
	for _, c := range shown {
		took := "?"
		if c.Untimed < int64(len(c.Loads)) {
			took = Duration(c.Own)
		}
		table.add(t.labels[c.Method], "", Count(int64(len(c.Loads))), took, someClasses(c.Loads))
	}
	table.write(&t.sink, t.o.Color, t.o.Width)
	if rest := causes[len(shown):]; len(rest) > 0 {
		n := 0
		for _, c := range rest {
			n += len(c.Loads)
		}
		t.printf("and %s with %s\n", Plural(int64(len(rest)), "method", "methods"), Plural(int64(n), "load", "loads"))
	}
	t.printf("%s\n", t.report.LoadLine())
}

// someClasses names the first of a list of loads, without its package.
func someClasses(list []cct.Load) string {
	first := list[0].Class
	first = Clean(first[strings.LastIndexByte(first, '.')+1:])
	if len(list) > 1 {
		return fmt.Sprintf("%s + %d", first, len(list)-1)
	}
	return first
}
