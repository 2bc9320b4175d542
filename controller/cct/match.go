package cct

import (
	"cmp"
	"slices"
	"strings"
)

// A Matcher gives numbers to the methods of recordings, the same one to what is
// the same method in several. A loader is named by its class and its identity
// hash, and each JVM has other hashes: where the names are not the same, a
// method is that of the same name whose loader has the same class. If there are
// several in one recording, as with two applications in a server, they stay
// apart; they are then matched by how many methods their loaders have in common,
// and else by order. The zero Matcher is ready; it is not for concurrent use.
type Matcher struct {
	known map[MethodKey]int32   // under every name that was matched
	alike map[MethodKey][]int32 // by names without hashes
	first []MethodKey           // of each number
}

// mostRivals is how many methods of one name, in loaders of one class, are matched
// by what their loaders have in common: each is held against each, and a server of
// pages may have a loader for each version of a page.
const mostRivals = 64

// Add gives numbers, from 0 on, to all methods of a recording, given in order. No
// two methods of it have the same number.
func (m *Matcher) Add(methods []Method) []int32 {
	if m.known == nil {
		m.known, m.alike = map[MethodKey]int32{}, map[MethodKey][]int32{}
	}
	out := make([]int32, len(methods))
	place := map[MethodKey]int{} // where it is first
	taken := map[int32]bool{}
	rest := map[MethodKey][]MethodKey{} // whose names are not known, by names without hashes
	var order []MethodKey               // of rest
	for i, method := range methods {
		k := method.Key()
		if _, again := place[k]; again {
			continue
		}
		place[k] = i
		if n, ok := m.known[k]; ok && !taken[n] {
			out[i], taken[n] = n, true
			continue
		}
		bare := k.unhashed()
		if rest[bare] == nil {
			order = append(order, bare)
		}
		rest[bare] = append(rest[bare], k)
	}
	free := func(bare MethodKey) []int32 {
		return slices.DeleteFunc(slices.Clone(m.alike[bare]), func(n int32) bool { return taken[n] })
	}
	type loaders struct{ here, there string }
	common := map[loaders]int{}
	for _, bare := range order {
		there := free(bare)
		if len(rest[bare]) > mostRivals || len(there) > mostRivals {
			continue // by order
		}
		for _, k := range rest[bare] {
			for _, n := range there {
				common[loaders{k.Loader, m.first[n].Loader}]++
			}
		}
	}
	type pair struct{ here, there, common int }
	for _, bare := range order {
		here, there := rest[bare], free(bare)
		var pairs []pair
		for i, k := range here {
			for j, n := range there {
				if i == j || max(len(here), len(there)) <= mostRivals {
					pairs = append(pairs, pair{i, j, common[loaders{k.Loader, m.first[n].Loader}]})
				}
			}
		}
		slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.common, a.common) })
		matched := make([]bool, len(here))
		for _, p := range pairs {
			if n := there[p.there]; !matched[p.here] && !taken[n] {
				matched[p.here], taken[n] = true, true
				out[place[here[p.here]]] = n
				if _, other := m.known[here[p.here]]; !other {
					m.known[here[p.here]] = n
				}
			}
		}
		for i, k := range here {
			if matched[i] {
				continue
			}
			n := int32(len(m.first))
			m.first = append(m.first, k)
			m.alike[bare] = append(m.alike[bare], n)
			if _, other := m.known[k]; !other {
				m.known[k] = n
			}
			out[place[k]], taken[n] = n, true
		}
	}
	for i, method := range methods {
		out[i] = out[place[method.Key()]]
	}
	return out
}

// unhashed is the key without the identity hash in the loader's name.
func (k MethodKey) unhashed() MethodKey {
	if at := strings.LastIndexByte(k.Loader, '@'); at > 0 && at+1 < len(k.Loader) && strings.Trim(k.Loader[at+1:], "0123456789abcdef") == "" {
		k.Loader = k.Loader[:at]
	}
	return k
}
