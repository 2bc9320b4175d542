package foreign

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Counts are what a program says of itself at its end.
type counts struct {
	roots   int64
	methods []count // as printed
}

// A count is how often a method was called below all roots. Its pattern is of the
// form that testdata/README describes.
type count struct {
	pattern string
	calls   int64
}

// parseCounts reads the lines "COUNT pattern n" and "ROOTS n".
func parseCounts(lines []string) (c counts, err error) {
	for _, line := range lines {
		kind, rest, _ := strings.Cut(line, " ")
		if kind != "COUNT" && kind != "ROOTS" {
			continue
		}
		at := strings.LastIndexByte(rest, ' ') + 1
		n, err := strconv.ParseInt(rest[at:], 10, 64)
		switch {
		case err != nil:
			return c, fmt.Errorf("%q: %w", line, err)
		case kind == "ROOTS":
			c.roots = n
		case at == 0:
			return c, fmt.Errorf("%q names no method", line)
		default:
			c.methods = append(c.methods, count{rest[:at-1], n})
		}
	}
	if c.roots == 0 || len(c.methods) == 0 {
		return c, fmt.Errorf("the program printed %d counts of %d roots", len(c.methods), c.roots)
	}
	return c, nil
}

// per returns the counts of that many root invocations. It is an error if the
// program's own invocations were not all alike.
func (c counts) per(roots int64) ([]count, error) {
	var out []count
	for _, m := range c.methods {
		if m.calls%c.roots != 0 {
			return nil, fmt.Errorf("%s: %d calls in %d roots, which are not all alike", m.pattern, m.calls, c.roots)
		}
		out = append(out, count{m.pattern, m.calls / c.roots * roots})
	}
	return out, nil
}

// A recorded is what the test reads of a report.
type recorded struct {
	Gaps []struct {
		Reason string
		Count  int64
		Where  []string
	}
	Roots      int64 `json:"root_invocations"`
	Incomplete int64
	Exact      *bool // absent in reports of old versions
	Notes      []string
	Late       []struct{ Method string } // of scheme D, and where a thread's patience ran out
	Flat       []struct {
		Method string
		Calls  int64
	}
}

// calls sums what the report has of the methods that a pattern matches.
func (r *recorded) calls(pattern string) (sum int64) {
	for _, row := range r.Flat {
		if matches(pattern, row.Method) {
			sum += row.Calls
		}
	}
	return sum
}

// late reports whether a method that a pattern matches was recorded from some moment on
// only, as the report says.
func (r *recorded) late(pattern string) bool {
	for _, m := range r.Late {
		if matches(pattern, m.Method) {
			return true
		}
	}
	return false
}

// wrong returns a line for each count that the report has otherwise. Of a method that
// was recorded late some calls may be missing.
func (r *recorded) wrong(want []count) (lines []string) {
	for _, w := range want {
		got := r.calls(w.pattern)
		if r.late(w.pattern) && got < w.calls {
			continue
		}
		if got != w.calls {
			lines = append(lines, fmt.Sprintf("%-60s %10d %10d", w.pattern, w.calls, got))
		}
	}
	if lines == nil {
		return nil
	}
	return slices.Insert(lines, 0, fmt.Sprintf("%-60s %10s %10s", "method", "expected", "got"))
}

// matches reports whether a method of a report, with its descriptor, is one that a
// pattern means.
func matches(pattern, method string) bool {
	name, _, _ := strings.Cut(method, "(")
	for p := range strings.SplitSeq(pattern, "|") {
		if strings.Contains(p, "(") && glob(p, method) || glob(p, name) {
			return true
		}
	}
	return false
}

// glob matches with * for anything and # for digits.
func glob(pattern, s string) bool {
	expr := strings.NewReplacer(`\*`, ".*", "#", `\d+`).Replace(regexp.QuoteMeta(pattern))
	return regexp.MustCompile("^(?:" + expr + ")$").MatchString(s)
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, method string
		want            bool
	}{
		{"a.B.c", "a.B.c(I)V", true},
		{"a.B.c", "a.B.cd(I)V", false},
		{"a.B.c(I)*", "a.B.c(I)V", true},
		{"a.B.c(I)*", "a.B.c(J)V", false},
		{"a.B.c|a.B.d", "a.B.d()V", true},
		{"work$_closure*.doCall", "work$_closure12.doCall()V", true},
		{"work$_closure*.doCall", "work$_order_closure1.doCall()V", false},
		{"a*b*c", "a1bc(J)V", true},
		{"a*b*c", "ac", false},
		{"ab*ba", "aba", false},
		{"a$b$#", "a$b$12()V", true},
		{"a$b$#", "a$b$12$c()V", false},
	} {
		if got := matches(c.pattern, c.method); got != c.want {
			t.Errorf("matches(%q, %q) = %v", c.pattern, c.method, got)
		}
	}
}

func TestCounts(t *testing.T) {
	c, err := parseCounts([]string{"PID 1", "COUNT a.B.<init> 20", "COUNT a.B.c(L A;)V 10", "ROOTS 5"})
	if err != nil {
		t.Fatal(err)
	}
	want, err := c.per(3)
	if err != nil || !slices.Equal(want, []count{{"a.B.<init>", 12}, {"a.B.c(L A;)V", 6}}) {
		t.Errorf("%v, %v", want, err)
	}
	c.roots = 3
	if _, err := c.per(3); err == nil {
		t.Error("20 calls in 3 roots are no error")
	}
	for _, lines := range [][]string{nil, {"ROOTS 3"}, {"COUNT 3", "ROOTS 1"}, {"COUNT a x", "ROOTS 1"}} {
		if _, err := parseCounts(lines); err == nil {
			t.Errorf("%q is no error", lines)
		}
	}
	r := recorded{Flat: []struct {
		Method string
		Calls  int64
	}{{"a.B.<init>()V", 12}, {"a.B.c()V", 5}}}
	if lines := r.wrong(want); len(lines) != 2 || !strings.HasPrefix(lines[1], "a.B.c(L A;)V") {
		t.Errorf("%q", lines)
	}
	r.Late = []struct{ Method string }{{"a.B.c(L A;)V"}}
	if lines := r.wrong(want); lines != nil {
		t.Errorf("of a late method calls may be missing: %q", lines)
	}
}
