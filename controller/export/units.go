package export

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Duration writes nanoseconds for people: three digits and a unit, "12.3 ms".
func Duration(ns int64) string {
	if ns < 0 {
		if ns == -ns { // the lowest number has no positive twin
			ns++
		}
		return "-" + Duration(-ns)
	}
	switch v := float64(ns); {
	case ns < 1e3:
		return fmt.Sprintf("%d ns", ns)
	case v < 999.5e3:
		return digits(v/1e3) + " µs"
	case v < 999.5e6:
		return digits(v/1e6) + " ms"
	case v < 59.95e9:
		return digits(v/1e9) + " s"
	case v < 3599.5e9:
		s := int64(v/1e9 + 0.5)
		return fmt.Sprintf("%dm %02ds", s/60, s%60)
	default:
		m := int64(v/60e9 + 0.5)
		return fmt.Sprintf("%dh %02dm", m/60, m%60)
	}
}

// digits prints three significant digits of a number below 1000.
func digits(v float64) string {
	switch {
	case v < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 99.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// Count writes a number with commas between thousands.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(s) - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Bytes writes a size for people, in powers of 1024: "12.3 MB".
func Bytes(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	units := []string{"KB", "MB", "GB", "TB", "PB", "EB"}
	v := float64(n) / 1024
	for v >= 999.5 && len(units) > 1 {
		v, units = v/1024, units[1:]
	}
	return digits(v) + " " + units[0]
}

// Plural writes a count with its noun: "1 call", "2,000 calls".
func Plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}

// Clean makes a target's text fit for a terminal: names of threads, classes
// and methods may hold anything, escape sequences included.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unfit(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// unfit is what a terminal obeys, or shows in another order than it was written.
func unfit(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.In(r, unicode.Zl, unicode.Zp)
}

func share(part, whole int64) string {
	if whole <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}
