package bench

import (
	"math"
	"slices"
)

// Median returns the middle value, or the mean of the two in the middle; NaN
// of nothing. The values stay as they are.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	v := slices.Sorted(slices.Values(values))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// Min returns the least value; NaN of nothing.
func Min(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	return slices.Min(values)
}

// Sum adds up.
func Sum(values []float64) (sum float64) {
	for _, v := range values {
		sum += v
	}
	return sum
}

// Late returns the second half, the longer one of an odd number: what comes
// after the warm-up.
func Late(values []float64) []float64 { return values[len(values)/2:] }

// Ratios divides values with equal indices. The longer list's rest is left out.
func Ratios(above, below []float64) []float64 {
	out := make([]float64, min(len(above), len(below)))
	for i := range out {
		out[i] = above[i] / below[i]
	}
	return out
}

// Medians returns the median of each column. The shortest row says how many
// there are.
func Medians(rows [][]float64) []float64 {
	if len(rows) == 0 {
		return nil
	}
	n := len(rows[0])
	for _, r := range rows {
		n = min(n, len(r))
	}
	out := make([]float64, n)
	for i := range out {
		var column []float64
		for _, r := range rows {
			column = append(column, r[i])
		}
		out[i] = Median(column)
	}
	return out
}

// Ranks returns the rank of each value, 1 for the greatest. Equal values share
// the mean of their ranks.
func Ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case values[a] > values[b]:
			return -1
		case values[a] < values[b]:
			return 1
		}
		return 0
	})
	ranks := make([]float64, len(values))
	for from := 0; from < len(order); {
		to := from
		for to < len(order) && values[order[to]] == values[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			ranks[i] = float64(from+1+to) / 2
		}
		from = to
	}
	return ranks
}

// Spearman returns the rank correlation of two lists of equal length, from -1
// to 1; NaN where one of them is all alike or there are fewer than two values.
func Spearman(a, b []float64) float64 {
	x, y := Ranks(a), Ranks(b)
	n := float64(len(x))
	meanX, meanY := Sum(x)/n, Sum(y)/n
	var xy, xx, yy float64
	for i := range x {
		dx, dy := x[i]-meanX, y[i]-meanY
		xy, xx, yy = xy+dx*dy, xx+dx*dx, yy+dy*dy
	}
	return xy / math.Sqrt(xx*yy)
}
