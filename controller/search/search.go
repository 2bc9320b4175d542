// Package search finds methods by what people type: parts of their names, in
// any order, or the humps of a camel-case name.
//
// Everything here is a pure function of names. A [Matcher] does not change and
// is safe for concurrent use.
package search

import (
	"cmp"
	"slices"
	"strings"
)

// A Matcher finds names by words: each word must be a part of the name, in
// either case; with capitals it may be a camel-hump abbreviation ("OSp" for
// OrderService.process).
type Matcher struct {
	words []string
	lower []string
}

// New is a Matcher for the words of a query; without words it matches everything.
func New(query string) Matcher {
	m := Matcher{words: strings.Fields(query)}
	for _, w := range m.words {
		m.lower = append(m.lower, strings.ToLower(w))
	}
	return m
}

// All tells whether every word is in the name.
func (m Matcher) All(name string) bool {
	if len(m.words) == 0 {
		return true
	}
	_, ok := m.Score(name)
	return ok
}

// Score rates a name: the higher, the nearer what was meant. A match in the
// method's name counts more than one in the class's, that more than one in
// the package's or the descriptor; a beginning more than a middle; and short
// names more than long ones.
func (m Matcher) Score(name string) (int, bool) {
	head, _, _ := strings.Cut(name, "(")
	dot := strings.LastIndexByte(head, '.')
	class := strings.LastIndexByte(head[:max(dot, 0)], '.') + 1
	low := strings.ToLower(name)
	if len(low) != len(name) { // of other letters than ASCII's: places in it would not be those in the name
		low = name
	}
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

// A Candidate is a name that can be found. Of two that match equally well the
// one with the smaller Handicap comes first.
type Candidate struct {
	Name     string // pkg.Outer$Inner.method(descriptor)return
	Loader   string // orders candidates of one name
	Handicap int    // in points of a score (Matcher.Score)
}

// Best returns the places of the most candidates that match a query best, the
// best first, and how many match at all. n is the number of candidates, and at
// gives each.
func Best(n int, at func(int) Candidate, query string, most int) (places []int, count int) {
	type hit struct {
		Candidate
		place, score int
	}
	match := New(query)
	var hits []hit
	for i := range n {
		c := at(i)
		if s, ok := match.Score(c.Name); ok {
			hits = append(hits, hit{c, i, s - c.Handicap})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Loader, b.Loader))
	})
	for _, h := range hits[:min(most, len(hits))] {
		places = append(places, h.place)
	}
	return places, len(hits)
}
