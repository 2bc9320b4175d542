package export

import "strings"

// levels are what [Spark] draws, the lowest first.
var levels = []rune("▁▂▃▄▅▆▇█")

// Spark draws values of 0 and more as a line of at most width characters, neighbours put
// together where there are more values; a value of 0 is a blank. It returns how many values
// a character stands for.
func Spark(values []int64, width int) (line string, each int) {
	if len(values) == 0 || width <= 0 {
		return "", 0
	}
	each = (len(values) + width - 1) / width
	var sums []int64
	var most int64
	for i := 0; i < len(values); i += each {
		var sum int64
		for _, n := range values[i:min(i+each, len(values))] {
			sum += max(n, 0)
		}
		sums, most = append(sums, sum), max(most, sum)
	}
	var b strings.Builder
	for _, n := range sums {
		if n == 0 {
			b.WriteByte(' ')
			continue
		}
		b.WriteRune(levels[min(int(float64(n)/float64(most)*float64(len(levels))), len(levels)-1)])
	}
	return b.String(), each
}
