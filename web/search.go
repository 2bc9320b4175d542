package web

import (
	"cmp"
	"slices"
	"strings"
)

// A matcher finds names by words: each word must be a part of the name, in
// either case; with capitals it may be a camel-hump abbreviation ("OSp" for
// OrderService.process).
type matcher struct {
	words []string
	lower []string
}

func newMatcher(query string) matcher {
	m := matcher{words: strings.Fields(query)}
	for _, w := range m.words {
		m.lower = append(m.lower, strings.ToLower(w))
	}
	return m
}

// all tells whether every word is in the name.
func (m matcher) all(name string) bool {
	if len(m.words) == 0 {
		return true
	}
	_, ok := m.score(name)
	return ok
}

// score rates a name: the higher, the nearer what was meant. A match in the
// method's name counts more than one in the class's, that more than one in
// the package's or the descriptor; a beginning more than a middle; and short
// names more than long ones.
func (m matcher) score(name string) (int, bool) {
	head, _, _ := strings.Cut(name, "(")
	dot := strings.LastIndexByte(head, '.')
	class := strings.LastIndexByte(head[:max(dot, 0)], '.') + 1
	low := strings.ToLower(name)
	sum, last := 0, -1
	for i, w := range m.words {
		best, place, from := -1, 0, 0
		for from <= len(low) {
			at := strings.Index(low[from:], m.lower[i])
			if at < 0 {
				break
			}
			at += from
			s := 10
			switch {
			case at > len(head):
				s = 1
			case at > dot:
				s = 40
			case at >= class:
				s = 30
			}
			if at == 0 || isBoundary(name, at) {
				s += 15
			}
			if at > dot && at+len(w) == len(head) || at >= class && at+len(w) == dot {
				s += 10 // up to the end of the name
			}
			if at > last {
				s += 5 // in the order of the words
			}
			if s > best {
				best, place = s, at
			}
			from = at + 1
		}
		if best < 0 {
			if !humps(w, name[class:len(head)]) {
				return 0, false
			}
			best = 12
		}
		sum, last = sum+best, place
	}
	return sum*64 - min(len(head), 400), true
}

func isBoundary(name string, at int) bool {
	c := name[at-1]
	return c == '.' || c == '$' || c == '_' || c == '(' || name[at] >= 'A' && name[at] <= 'Z'
}

// humps tells whether the letters of w can be found in order, each at the
// place where the last was found or at the beginning of a hump.
func humps(w, name string) bool {
	if len(w) < 2 {
		return false
	}
	i, begin := 0, true
	running := false
	for k := 0; k < len(name) && i < len(w); k++ {
		c := name[k]
		start := begin || c >= 'A' && c <= 'Z'
		begin = c == '.' || c == '$' || c == '_'
		if lower(c) == lower(w[i]) && (start || running) {
			i, running = i+1, true
		} else {
			running = false
		}
	}
	return i == len(w)
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// search returns the best of the methods for a query, and how many match.
func search(methods []Method, query string, most int) (best []Method, count int) {
	type hit struct {
		m     *Method
		score int
	}
	match := newMatcher(query)
	var hits []hit
	for i := range methods {
		m := &methods[i]
		s, ok := match.score(m.Name)
		if !ok {
			continue
		}
		if !m.Root {
			s -= 200 * 8
		}
		if strings.Contains(m.Flags, "synthetic") {
			s -= 100 * 8
		}
		hits = append(hits, hit{m, s})
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.m.Name, b.m.Name), cmp.Compare(a.m.Loader, b.m.Loader))
	})
	best = []Method{}
	for _, h := range hits[:min(most, len(hits))] {
		best = append(best, *h.m)
	}
	return best, len(hits)
}

// A Branch is a step of the package tree: a package, a class, or a method.
type Branch struct {
	Name   string  `json:"name"`             // whole
	Kind   string  `json:"kind"`             // "package", "class", "method"
	Count  int     `json:"count"`            // methods in it
	Method *Method `json:"method,omitempty"` // of a method
}

// branches lists what lies directly in a package ("" for the top), or the
// methods of a class.
func branches(methods []Method, in string) []Branch {
	at := map[string]int{}
	out := []Branch{}
	add := func(b Branch) {
		key := b.Kind + b.Name
		if b.Method != nil {
			key += "\x00" + b.Method.Loader
		}
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, b)
		}
		out[i].Count++
	}
	for i := range methods {
		class := groupOf(methods[i].Name, byClass)
		if class == in {
			add(Branch{Name: methods[i].Name, Kind: "method", Method: &methods[i]})
			continue
		}
		rest := class
		if in != "" {
			var ok bool
			if rest, ok = strings.CutPrefix(class, in+"."); !ok {
				continue
			}
		}
		kind, name := "class", class
		if dot := strings.IndexByte(rest, '.'); dot >= 0 {
			kind, name = "package", class[:len(class)-len(rest)+dot]
		}
		add(Branch{Name: name, Kind: kind})
	}
	order := map[string]int{"package": 0, "class": 1, "method": 2}
	slices.SortFunc(out, func(a, b Branch) int {
		return cmp.Or(cmp.Compare(order[a.Kind], order[b.Kind]), cmp.Compare(a.Name, b.Name))
	})
	return out[:min(len(out), 2000)]
}
