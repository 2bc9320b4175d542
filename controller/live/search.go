package live

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/search"
)

// find returns the best of the methods for a query, and how many match. What
// can't be a root, and what compilers made, comes late.
func find(methods []Method, query string, most int) (best []Method, count int) {
	places, count := search.Best(len(methods), func(i int) search.Candidate {
		m := &methods[i]
		c := search.Candidate{Name: m.Name, Loader: m.Loader}
		if !m.Root {
			c.Handicap += 200 * 8
		}
		if strings.Contains(m.Flags, "synthetic") {
			c.Handicap += 100 * 8
		}
		return c
	}, query, most)
	best = []Method{}
	for _, i := range places {
		best = append(best, methods[i])
	}
	return best, count
}

// A Branch is an entry of the package tree: a package, a class, or a method.
type Branch struct {
	Name   string  `json:"name"`             // whole
	Kind   string  `json:"kind"`             // "package", "class", "method"
	Count  int     `json:"count"`            // methods in it
	Method *Method `json:"method,omitempty"` // of a method
}

// maxBranches is how many entries of one package or class are listed.
const maxBranches = 2000

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
	return out[:min(len(out), maxBranches)]
}

// listedFor is for how long a list of methods will do: classes are loaded meanwhile.
const listedFor = 3 * time.Second

// knownMethods are the methods that can be searched: while a root is being chosen, with those
// of classes that were loaded since the attach.
func (l *Live) knownMethods(ctx context.Context) []Method {
	l.listing.Lock()
	defer l.listing.Unlock()
	l.mu.Lock()
	s, known, listed := l.session, l.methods, l.listed
	if s == nil || l.phase != Attached || time.Since(listed) < listedFor {
		s = nil
	}
	l.mu.Unlock()
	if s == nil {
		return known
	}
	ctx, done := l.withTimeout(ctx)
	defer done()
	methods, err := s.Methods(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil && listed.Equal(l.listed) { // no other attach
		l.methods, l.listed = methods, time.Now()
	}
	return l.methods
}

// Search returns the methods of the attached JVM that match a query best, at most so many,
// and the number of all that match. Package search says what matches. Until a recording
// begins, methods of classes that are loaded after the attach are found within three
// seconds.
func (l *Live) Search(ctx context.Context, query string, most int) ([]Method, int) {
	return find(l.knownMethods(ctx), query, most)
}

// Packages lists what lies directly in a package ("" for the top) or class of the attached
// JVM, at most 2,000 entries. It knows the same classes as [Live.Search].
func (l *Live) Packages(ctx context.Context, in string) []Branch {
	return branches(l.knownMethods(ctx), in)
}
