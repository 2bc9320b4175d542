package live

import "cmp"

// amounts are the figures that rows and lines can be sorted by; times in ns.
type amounts struct{ total, self, calls, thrown, error, contexts, count int64 }

// sortKeys are what lists can be sorted by, beside the name.
var sortKeys = map[string]func(amounts) int64{
	"total":    func(a amounts) int64 { return a.total },
	"self":     func(a amounts) int64 { return a.self },
	"calls":    func(a amounts) int64 { return a.calls },
	"thrown":   func(a amounts) int64 { return a.thrown },
	"error":    func(a amounts) int64 { return a.error },
	"contexts": func(a amounts) int64 { return a.contexts },
	countKey:   func(a amounts) int64 { return a.count },
}

// order compares by a key, the largest first, unless up turns it round; an
// unknown key is the other one, a key of sortKeys. What is equal is in the order
// of the other key, of calls, and of last.
func order[T any](key, other string, up bool, of func(T) amounts, name func(T) string, last func(a, b T) int) func(a, b T) int {
	otherwise := sortKeys[other]
	by, known := sortKeys[key]
	if !known {
		by = otherwise
	}
	return func(a, b T) int {
		x, y := of(a), of(b)
		c := cmp.Compare(by(y), by(x))
		if key == "name" {
			c = cmp.Compare(name(a), name(b))
		}
		if up {
			c = -c
		}
		return cmp.Or(c, cmp.Compare(otherwise(y), otherwise(x)), cmp.Compare(y.calls, x.calls), last(a, b))
	}
}
