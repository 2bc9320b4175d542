package bench_test

import (
	"math"
	"slices"
	"testing"

	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

func TestMiddle(t *testing.T) {
	values := []float64{9, 1, 4}
	if m := bench.Median(values); m != 4 || values[0] != 9 {
		t.Errorf("median %v of %v", m, values)
	}
	if m := bench.Median([]float64{1, 10, 2, 4}); m != 3 {
		t.Errorf("median %v, want 3", m)
	}
	if m := bench.Min(values); m != 1 {
		t.Errorf("least %v", m)
	}
	if !math.IsNaN(bench.Median(nil)) || !math.IsNaN(bench.Min(nil)) {
		t.Error("a figure out of nothing")
	}
	if l := bench.Late([]float64{1, 2, 3}); !slices.Equal(l, []float64{2, 3}) {
		t.Errorf("late %v", l)
	}
	if m := bench.Medians([][]float64{{1, 5}, {3, 6, 9}, {2, 7}}); !slices.Equal(m, []float64{2, 6}) {
		t.Errorf("columns %v", m)
	}
	if r := bench.Ratios([]float64{2, 9, 1}, []float64{1, 3}); !slices.Equal(r, []float64{2, 3}) {
		t.Errorf("ratios %v", r)
	}
}

func TestSpearman(t *testing.T) {
	if r := bench.Ranks([]float64{5, 7, 5, 1}); !slices.Equal(r, []float64{2.5, 1, 2.5, 4}) {
		t.Errorf("ranks %v", r)
	}
	for _, c := range []struct {
		a, b []float64
		want float64
	}{
		{[]float64{1, 2, 3, 4}, []float64{10, 20, 30, 31}, 1},
		{[]float64{1, 2, 3, 4}, []float64{4, 3, 2, 1}, -1},
		{[]float64{1, 2, 3, 4, 5}, []float64{2, 1, 4, 3, 5}, 0.8}, // 1 - 6*4/(5*24)
	} {
		if got := bench.Spearman(c.a, c.b); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v and %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
	if !math.IsNaN(bench.Spearman([]float64{1, 1}, []float64{1, 2})) {
		t.Error("all alike, yet a correlation")
	}
}
