package roots

import (
	"slices"
	"strings"
)

// suggest names up to three of the candidates that are like name.
func suggest(name string, candidates []string) string {
	slices.Sort(candidates)
	candidates = slices.Compact(candidates)
	type near struct {
		s string
		d int
	}
	var ns []near
	for _, c := range candidates {
		d := distance(strings.ToLower(name), strings.ToLower(c))
		if strings.Contains(strings.ToLower(c), strings.ToLower(name)) {
			d = min(d, 2)
		}
		if d <= 2+len(name)/4 {
			ns = append(ns, near{c, d})
		}
	}
	slices.SortStableFunc(ns, func(a, b near) int { return a.d - b.d })
	if len(ns) == 0 {
		return ""
	}
	var out []string
	for _, n := range ns[:min(3, len(ns))] {
		out = append(out, n.s)
	}
	return "; did you mean " + strings.Join(out, " or ") + "?"
}

// distance is Levenshtein's.
func distance(a, b string) int {
	if len(a) > 200 || len(b) > 200 {
		return 200
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal, row[j] = row[j], min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}

// after is a name behind its last dot.
func after(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
