package search_test

import (
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/search"
)

func TestBest(t *testing.T) {
	names := []search.Candidate{
		{Name: "shop.orders.OrderService.process(Lshop/Order;)V"},
		{Name: "shop.orders.OrderService.<init>()V"},
		{Name: "shop.Process.orders()V"},
		{Name: "other.Service.process()V"},
		{Name: "shop.orders.OrderService.process()V", Handicap: 1 << 20},
		{Name: "other.Service.process()V", Loader: "a"},
	}
	for _, test := range []struct {
		query string
		want  int // place of the best
		count int
	}{
		{"", 2, 6}, {"order service process", 0, 2}, {"OSp", 0, 2}, {"init", 1, 1}, {"Process orders", 2, 3}, {"service process", 3, 4}, {"none", -1, 0},
	} {
		got, count := search.Best(len(names), func(i int) search.Candidate { return names[i] }, test.query, 1)
		if len(got) == 0 {
			got = []int{-1}
		}
		if got[0] != test.want || count != test.count {
			t.Errorf("%q: %d of %d, want %d of %d", test.query, got[0], count, test.want, test.count)
		}
	}
	if _, ok := search.New("x").Score("\u0130.x"); !ok { // in small letters it is a byte longer
		t.Error("a name with a letter that grows")
	}
	if !search.New("").All("x") || search.New("a b").All("a") {
		t.Error("All")
	}
}
