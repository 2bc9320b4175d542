package export

import "testing"

func TestSpark(t *testing.T) {
	for _, c := range []struct {
		values []int64
		width  int
		want   string
		each   int
	}{
		{nil, 5, "", 0},
		{[]int64{1, 2}, 0, "", 0},
		{[]int64{0, 0}, 5, "  ", 1},
		{[]int64{0, 1, 4, 8, 8}, 5, " ▂▅██", 1},
		{[]int64{1, 0, 4, 4, 2}, 3, "▂█▃", 2},
		{[]int64{1, 1, 1, 1, 1, 1, 1}, 3, "██▃", 3},
		{[]int64{-5, 1 << 62, 3}, 3, " █▁", 1},
	} {
		if got, each := Spark(c.values, c.width); got != c.want || each != c.each {
			t.Errorf("%v in %d: %q, %d each", c.values, c.width, got, each)
		}
	}
}
