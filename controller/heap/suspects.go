package heap

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// A Suspect is what probably should not be alive any more.
type Suspect struct {
	// Class is what accumulates, or what keeps it, if that is a class of the JDK's.
	Class    string   `json:"class"`
	Count    int64    `json:"count"` // instances of Class that do
	Retained int64    `json:"retained_bytes"`
	Why      string   `json:"why"`
	Path     []string `json:"path"`  // from a root to one of them
	Parts    []Part   `json:"parts"` // what they retain, by class, that takes most
}

// A step is a group of objects of one class that together retain most of what the step
// before retains.
type step struct {
	class    *class
	places   []uint32
	retained int64
}

const (
	// suspectShare is what a suspect retains at least, of the heap.
	suspectShare = 0.05
	// plainShare is the same for many objects of the JDK's classes alone.
	plainShare = 0.3
	// stepShare is what a step retains at least of what the step before does. A hash
	// table with one entry in four behind another one still goes on with the entries.
	stepShare = 0.6
	// alone is what a single member retains of its group if it is told without it.
	alone       = 0.8
	maxSteps    = 30
	maxSuspects = 10
	// many is how much more often than its owner a class must occur to accumulate.
	many = 8
)

// suspects finds what retains much and why.
func (h *Heap) suspects() []Suspect {
	var out []Suspect
	for _, g := range h.groups([]uint32{0}, nil) {
		if float64(g.retained) < suspectShare*float64(h.Bytes) || len(out) == maxSuspects {
			break
		}
		steps := h.descend(g)
		if len(g.places) > 1 && float64(g.retained) < plainShare*float64(h.Bytes) && !slices.ContainsFunc(steps, func(s step) bool {
			return ours(s.class) || s.class.is(classLoader) || s.class.name == threadLocalMap
		}) {
			continue // many strings or arrays that have nothing to do with each other
		}
		out = append(out, h.suspect(steps))
	}
	slices.SortStableFunc(out, func(a, b Suspect) int { return cmp.Compare(b.Retained, a.Retained) })
	return out
}

// groups puts the children of some places together by class, what retains most first. A
// child of the class same is replaced by its own children: entries of a hash table that
// hang behind others, nodes of a list. At the top classes stay by themselves.
func (h *Heap) groups(places []uint32, same *class) []step {
	by := map[uint32]*step{}
	var order []*step
	classes := h.g.class.u32()
	key := func(p, o uint32) uint32 {
		if p == 0 && classes[o] == h.t.class {
			return uint32(len(h.t.all)) + o
		}
		return h.t.all[classes[o]].alike
	}
	todo := slices.Clone(places)
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for c := range h.tree.children(p) {
			o := h.tree.object(c)
			k := h.t.all[classes[o]]
			if same != nil && k.alike == same.alike {
				todo = append(todo, c)
				continue
			}
			id := key(p, o)
			g := by[id]
			if g == nil {
				g = &step{class: k}
				by[id] = g
				order = append(order, g)
			}
			g.places = append(g.places, c)
			g.retained += h.tree.retained(c)
		}
	}
	out := make([]step, 0, len(order))
	for _, g := range order {
		out = append(out, h.single(*g))
	}
	slices.SortStableFunc(out, func(a, b step) int { return cmp.Compare(b.retained, a.retained) })
	return out
}

// single leaves of a group only the member that retains nearly all.
func (h *Heap) single(g step) step {
	for _, p := range g.places {
		if r := h.tree.retained(p); float64(r) >= alone*float64(g.retained) {
			return step{g.class, []uint32{p}, r}
		}
	}
	return g
}

// descend follows what retains most.
func (h *Heap) descend(g step) []step {
	steps := []step{g}
	for len(steps) < maxSteps {
		below := h.groups(g.places, g.class)
		if len(below) == 0 || float64(below[0].retained) < stepShare*float64(g.retained) {
			break
		}
		if nodes := h.alike(g); len(nodes) > len(g.places) {
			steps[len(steps)-1].places = nodes
		}
		g = below[0]
		steps = append(steps, g)
	}
	if nodes := h.alike(g); len(nodes) > len(g.places) {
		steps[len(steps)-1].places = nodes
	}
	return steps
}

// alike adds to a group's places the objects of the same class right below them.
func (h *Heap) alike(g step) []uint32 {
	out := slices.Clone(g.places)
	for i := 0; i < len(out); i++ {
		for c := range h.tree.children(out[i]) {
			if h.class(h.tree.object(c)).alike == g.class.alike {
				out = append(out, c)
			}
		}
	}
	return out
}

// jdk are the beginnings of the names of the JDK's classes.
var jdk = []string{"java.", "javax.", "jdk.", "sun.", "com.sun."}

// ours reports whether a class is the application's own.
func ours(c *class) bool {
	return !c.isArray() && !slices.ContainsFunc(jdk, func(p string) bool { return strings.HasPrefix(c.name, p) })
}

// named is the application's class that an object stands for: its own, or the one that
// a class object is of.
func (h *Heap) named(s step) (*class, bool) {
	if ours(s.class) {
		return s.class, true
	}
	if len(s.places) == 1 && s.class == h.t.all[h.t.class] {
		if n, ok := h.t.byID[h.v.ids.id(h.tree.object(s.places[0]))]; ok && ours(h.t.all[n]) {
			return h.t.all[n], true
		}
	}
	return nil, false
}

// suspect turns steps into a sentence.
func (h *Heap) suspect(steps []step) Suspect {
	// What accumulates is the first class that occurs much more often than what keeps
	// it; entries and arrays of the JDK's collections stand for what is in them.
	pile := slices.IndexFunc(steps, func(s step) bool { return len(s.places) >= many })
	keeper := len(steps) - 1
	if pile >= 0 {
		keeper = pile - 1
		for i := pile; i < len(steps); i++ {
			if ours(steps[i].class) || steps[i].class.is(classLoader) {
				pile = i
				break
			}
		}
	}
	owner := -1
	for i := keeper; i >= 0; i-- {
		if _, ok := h.named(steps[i]); ok {
			owner = i
			break
		}
	}
	var tell step
	var name string
	switch {
	case pile >= 0 && (ours(steps[pile].class) || steps[pile].class.is(classLoader)):
		tell, name = steps[pile], steps[pile].class.name
	case owner >= 0:
		tell = steps[owner]
		c, _ := h.named(tell)
		name = c.name
	case pile >= 0:
		tell, name = steps[pile], steps[pile].class.name
	default:
		tell = steps[0]
		for _, s := range steps[1:] { // the deepest that still retains nearly all
			if float64(s.retained) >= alone*float64(steps[0].retained) && !s.class.isArray() {
				tell = s
			}
		}
		name = tell.class.name
	}
	example := tell.places[0]
	for _, p := range tell.places {
		if h.tree.retained(p) > h.tree.retained(example) {
			example = p
		}
	}
	s := Suspect{Class: name, Count: int64(len(tell.places)), Retained: steps[0].retained, Path: h.path(h.tree.object(example))}
	s.Parts = h.parts(tell.places)
	if len(tell.places) == 1 {
		s.Retained = h.tree.retained(example)
	} else if tell.retained < s.Retained {
		s.Retained = tell.retained
	}
	if why, loader := h.loaderWhy(steps, tell, keeper, owner, s); loader != nil {
		s.Class, s.Why, s.Path = loader.label, why, h.path(loader.ord)
		return s
	}
	s.Why = h.why(steps, pile, keeper, owner, s)
	return s
}

// why tells what retains how much, and what there is to see about it.
func (h *Heap) why(steps []step, pile, keeper, owner int, s Suspect) string {
	var b strings.Builder
	share := fmt.Sprintf("%s, %.0f %% of the heap", export.Bytes(s.Retained), 100*float64(s.Retained)/float64(max(h.Bytes, 1)))
	var told int
	if pile >= 0 && steps[pile].class.name == s.Class {
		told = pile
		fmt.Fprintf(&b, "%s instances of %s retain %s", export.Count(s.Count), s.Class, share)
	} else {
		told = owner
		fmt.Fprintf(&b, "%s retains %s", h.subject(steps, owner, s), share)
		if by := h.byField(steps, owner); by != "" {
			b.WriteString(", " + by)
		}
		if pile >= 0 {
			content := pile // entries of the JDK's collections stand for what is in them
			for i := pile; i < len(steps); i++ {
				if len(steps[i].places) >= many {
					content = i
				}
			}
			fmt.Fprintf(&b, ", in %s instances of %s", export.Count(int64(len(steps[content].places))), steps[content].class.name)
		}
	}
	if keeper >= 0 && keeper < len(steps) && told == pile {
		fmt.Fprintf(&b, "; they are kept by %s", h.keeper(steps[:keeper+1], owner))
	}
	b.WriteString(".")
	for _, note := range h.notes(steps, told) {
		b.WriteString(" " + note)
	}
	return b.String()
}

// subject is what a sentence about a single object begins with.
func (h *Heap) subject(steps []step, owner int, s Suspect) string {
	if owner < 0 {
		if s.Count > 1 {
			return export.Count(s.Count) + " instances of " + s.Class
		}
		return "one " + s.Class
	}
	st := steps[owner]
	if len(st.places) == 1 {
		return h.describe(h.tree.object(st.places[0]))
	}
	return fmt.Sprintf("%s instances of %s", export.Count(int64(len(st.places))), st.class.name)
}

// byField names the field by which an owner keeps most, and how much that is if it is not
// nearly all.
func (h *Heap) byField(steps []step, owner int) string {
	if owner < 0 || owner+1 >= len(steps) || len(steps[owner].places) != 1 || len(steps[owner+1].places) != 1 {
		return ""
	}
	next := steps[owner+1]
	e := h.edge(h.tree.object(steps[owner].places[0]), h.tree.object(next.places[0]))
	if e == "" {
		return ""
	}
	if float64(next.retained) < 0.9*float64(steps[owner].retained) {
		return fmt.Sprintf("%s of it by %s (%s)", export.Bytes(next.retained), e, next.class.name)
	}
	return fmt.Sprintf("by %s (%s)", e, next.class.name)
}

// keeper says what keeps a pile.
func (h *Heap) keeper(steps []step, owner int) string {
	last := steps[len(steps)-1]
	text := fmt.Sprintf("%s %s", export.Count(int64(len(last.places))), last.class.name)
	if len(last.places) == 1 {
		text = h.describe(h.tree.object(last.places[0]))
	}
	if owner >= 0 && owner < len(steps)-1 {
		o := steps[owner]
		from := h.describe(h.tree.object(o.places[0]))
		if e := h.edge(h.tree.object(o.places[0]), h.tree.object(steps[owner+1].places[0])); e != "" {
			from += ", by " + e
		}
		text += " below " + from
	}
	return text
}

// notes tell what kind of leak it looks like.
func (h *Heap) notes(steps []step, told int) []string {
	var out []string
	for _, s := range steps {
		if s.class.name == threadLocalMap {
			out = append(out, "They are values of thread locals, which live as long as their threads unless somebody calls remove().")
			break
		}
	}
	if told < 0 {
		return out
	}
	c := steps[told].class
	if outer, _, ok := cutLast(c.name, "$"); ok {
		for _, s := range steps[told+1:] {
			if s.class.name == outer {
				out = append(out, fmt.Sprintf("%s is an inner class: each instance keeps its %s alive by the field this$0.", c.name, outer))
				break
			}
		}
	}
	for _, word := range []string{"Listener", "Observer", "Subscriber", "Callback"} {
		if strings.Contains(c.name, word) {
			out = append(out, "They look like listeners that nobody has removed.")
			break
		}
	}
	for _, s := range steps[:told] {
		if strings.HasPrefix(s.class.name, "java.util.") && strings.Contains(s.class.name, "Map") {
			out = append(out, "They are in a map, which grows until somebody removes entries.")
			break
		}
	}
	return out
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i > 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
