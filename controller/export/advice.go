package export

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// A yardstick is what schemes are compared by: less is better. Values are alike
// that are within a share, or within so much, of the best.
type yardstick struct {
	of     func(*Comparison, *SchemeRun) (float64, bool)
	share  float64
	within float64
	write  func(float64) string
	alike  string // "A, B and C ..."
	best   string // "... with it "
}

var yardsticks = []yardstick{
	{
		of: func(c *Comparison, s *SchemeRun) (float64, bool) { o, ok := c.Overhead(s); return 1 + o, ok },
		// Two equal runs of a JVM differ by some percent.
		share: 0.10, write: func(v float64) string { return fmt.Sprintf("%.2f times", v) },
		alike: "slow the program about equally", best: "it slows the program least",
	},
	{
		of:    func(_ *Comparison, s *SchemeRun) (float64, bool) { return float64(s.Stopped()), true },
		share: 0.25, within: float64(20 * time.Millisecond), write: func(v float64) string { return Duration(int64(v)) },
		alike: "stop the target's threads for about as long", best: "the target's threads are stopped for the shortest time in all",
	},
	{
		of:    func(_ *Comparison, s *SchemeRun) (float64, bool) { return float64(s.Useless()), true },
		share: 0.25, within: 10, write: func(v float64) string { return Count(int64(v)) },
		alike: "put about as many probes into methods that are never called", best: "the fewest probes are in methods that are never called",
	},
}

// Advice says in a sentence or two which scheme to use for a root like these,
// and by which figures. Schemes that the figures don't tell apart are said to be
// alike; C, the default, is then as good as any.
func (c *Comparison) Advice() string {
	var left []*SchemeRun
	var out []string
	for i := range c.Runs {
		switch s := &c.Runs[i]; {
		case s.Invocations == 0:
			out = append(out, s.Scheme+" recorded no invocation")
		case !s.Exact:
			out = append(out, s.Scheme+" did not record every call")
		default:
			left = append(left, s)
		}
	}
	if len(left) == 0 {
		if len(c.Runs) == 0 {
			return "Nothing was compared."
		}
		return "No advice: " + strings.Join(out, ", ") + "."
	}
	var ties []string
	reason := ""
	candidates := left
	for i := range yardsticks {
		y := &yardsticks[i]
		values, best, ok := y.values(c, candidates)
		if !ok {
			continue
		}
		var kept []*SchemeRun
		for i, s := range candidates {
			if values[i] <= best*(1+y.share) || values[i] <= best+y.within {
				kept = append(kept, s)
			}
		}
		text := y.figures(candidates, values)
		if len(kept) == len(candidates) {
			if len(kept) > 1 {
				ties = append(ties, fmt.Sprintf("%s %s (%s)", names(kept), y.alike, text))
			}
			continue
		}
		why := fmt.Sprintf("with %s %s (%s)", names(kept), y.best, text)
		candidates = kept
		if reason == "" || len(candidates) == 1 {
			reason = join(reason, why)
		} else {
			ties = append(ties, why)
		}
		if len(candidates) == 1 {
			break
		}
	}
	use := preferred(candidates)
	var b strings.Builder
	fmt.Fprintf(&b, "Use %s", use.Scheme)
	switch {
	case len(left) == 1 && len(out) > 0:
		b.WriteString(": " + strings.Join(out, ", "))
	case len(left) == 1:
		b.WriteString(", the only one that was tried")
	default:
		parts := append(out, ties...)
		if reason != "" {
			parts = append(parts, reason)
		}
		b.WriteString(": " + strings.Join(parts, "; "))
		if len(candidates) > 1 {
			fmt.Fprintf(&b, "; between %s the figures don't decide", names(candidates))
		}
	}
	b.WriteString(".")
	if gentle := gentlest(left); gentle != nil && gentle != use && 2*gentle.longest() < use.longest() && use.longest()-gentle.longest() > 20*time.Millisecond {
		fmt.Fprintf(&b, " If no thread may stop for long, use %s: the longest stop of a thread was %s, with %s %s.",
			gentle.Scheme, Duration(int64(gentle.longest())), use.Scheme, Duration(int64(use.longest())))
	}
	return b.String()
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// values are those of all candidates and the least; not ok where one is unknown.
func (y *yardstick) values(c *Comparison, candidates []*SchemeRun) (values []float64, best float64, ok bool) {
	best = math.Inf(1)
	for _, s := range candidates {
		v, ok := y.of(c, s)
		if !ok {
			return nil, 0, false
		}
		values = append(values, v)
		best = min(best, v)
	}
	return values, best, true
}

func (y *yardstick) figures(candidates []*SchemeRun, values []float64) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = candidates[i].Scheme + " " + y.write(v)
	}
	return strings.Join(parts, ", ")
}

// preferred is D, the default of running JVMs, if it is there, else C, else B, else the first.
func preferred(candidates []*SchemeRun) *SchemeRun {
	for _, name := range []string{"D", "C", "B"} {
		for _, s := range candidates {
			if s.Scheme == name {
				return s
			}
		}
	}
	return candidates[0]
}

// longest is the longest time that a thread stood still: in a pause of all, or
// waiting at its first call of a method.
func (s *SchemeRun) longest() time.Duration {
	var d time.Duration
	for _, p := range []*time.Duration{s.Redefinition.LongestPause, s.Redefinition.LongestWait} {
		if p != nil {
			d = max(d, p.Truncate(time.Microsecond)) // as they are written
		}
	}
	return d
}

func gentlest(runs []*SchemeRun) *SchemeRun {
	var best *SchemeRun
	for _, s := range runs {
		if best == nil || s.longest() < best.longest() {
			best = s
		}
	}
	return best
}

// names lists schemes: "A, B and C".
func names(runs []*SchemeRun) string {
	var list []string
	for _, s := range runs {
		list = append(list, s.Scheme)
	}
	last := len(list) - 1
	if last == 0 {
		return list[0]
	}
	return strings.Join(list[:last], ", ") + " and " + list[last]
}
