package watch

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/filter"
)

// A Kind says what a rule looks at.
type Kind uint8

// The kinds of rules.
const (
	CPU      Kind = iota // the process's time on cores
	Share                // a method's share of the samples
	Quantile             // of a method's times
	Deadlock
)

// A Rule says when something is worth keeping. [ParseRule] makes one.
type Rule struct {
	Text  string // as it was given
	Kind  Kind
	For   time.Duration // over which is averaged; of a deadlock, how often threads are asked
	Over  float64       // what has to be exceeded: a share (1 is all), cores, or a factor
	Cores bool          // Over is in cores
	Times bool          // Over is a factor to what was before
	Name  string        // pattern of methods; the method whose times count
	Rank  float64       // of a Quantile, 0.99
	Limit time.Duration // of a Quantile

	pattern filter.Pattern
}

// Forms are the forms of rules, for help.
const Forms = `  cpu > 80% for 10s            time on cores, of all that the process may use
  cpu > 1.5 cores for 30s
  share(shop.Price.of) > 30%   samples with the method on the stack, of all; * and ** as in --include
  share(shop.**) > 2x for 20s  as much as in the ten minutes before; "doubled" is the same as "> 2x"
  p99(shop.Front.serve) > 200ms   of the method's invocations; loads the agent, which times this method alone
  deadlock every 30s           asks for a thread dump so often`

// Bounds of rules.
const (
	usualFor   = 10 * time.Second
	usualEvery = 30 * time.Second
	leastFor   = 2 * time.Second
	mostFor    = 10 * time.Minute
)

var (
	ruleForm     = regexp.MustCompile(`^(cpu|share|p\d+(?:\.\d+)?)\s*(?:\(\s*(.+?)\s*\))?\s*(?:>\s*(\S+(?:\s+cores?)?)|(doubled))(?:\s+for\s+(\S+))?$`)
	deadlockForm = regexp.MustCompile(`^deadlock(?:\s+every\s+(\S+))?$`)
)

// ParseRule reads a rule. An error says what is wrong with it, and names a right one.
func ParseRule(text string) (Rule, error) {
	r := Rule{Text: strings.Join(strings.Fields(text), " ")}
	wrong := func(why string) (Rule, error) { return r, fmt.Errorf("%q: %s", text, why) }
	if m := deadlockForm.FindStringSubmatch(r.Text); m != nil {
		r.Kind, r.For = Deadlock, usualEvery
		if err := r.span(m[1], "every"); err != nil {
			return wrong(err.Error())
		}
		return r, nil
	}
	m := ruleForm.FindStringSubmatch(r.Text)
	if m == nil {
		return wrong("rules are such as: cpu > 80% for 10s; share(shop.Price.of) > 2x; p99(shop.Front.serve) > 200ms; deadlock every 30s")
	}
	what, name, limit := m[1], m[2], m[3]
	r.For, r.Name = usualFor, name
	if err := r.span(m[5], "for"); err != nil {
		return wrong(err.Error())
	}
	if m[4] != "" {
		limit = "2x"
	}
	switch {
	case what == "cpu" && name != "":
		return wrong("cpu is of the process: for a method, share(" + name + ")")
	case what != "cpu" && name == "":
		return wrong("of which method? " + what + "(pkg.Class.method)")
	case what == "cpu":
		r.Kind = CPU
	case what == "share":
		r.Kind = Share
		var err error
		if r.pattern, err = filter.Parse(name); err != nil {
			return wrong("the pattern of methods: " + err.Error())
		}
	default:
		r.Kind = Quantile
		rank, err := strconv.ParseFloat(what[1:], 64)
		if err != nil || rank <= 0 || rank >= 100 {
			return wrong(what + ": give p50, p90, p99, p99.9 or the like")
		}
		r.Rank = rank / 100
		if filter.Has(name) {
			return wrong("the times of one method: give its name without * and ?")
		}
	}
	if err := r.limit(limit); err != nil {
		return wrong(err.Error())
	}
	return r, nil
}

// span reads the time that a rule is about.
func (r *Rule) span(text, word string) error {
	if text == "" {
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < leastFor || d > mostFor {
		return fmt.Errorf("%s %s: give a time from %v to %v, such as 10s", word, text, leastFor, mostFor)
	}
	r.For = d
	return nil
}

// limit reads what has to be exceeded.
func (r *Rule) limit(text string) error {
	if r.Kind == Quantile {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return fmt.Errorf("%s: give a time, such as 200ms", text)
		}
		r.Limit = d
		return nil
	}
	number, unit := strings.TrimRight(text, "%xcores "), ""
	unit = strings.TrimSpace(text[len(number):])
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || v <= 0 || v > 1e6 {
		return fmt.Errorf("%s: give a number above zero with %%, such as 80%%", text)
	}
	switch {
	case unit == "%" && v < 100:
		r.Over = v / 100
	case unit == "%":
		return errors.New("there is no more than 100 %")
	case unit == "x" && r.Kind == Share && v > 1:
		r.Over, r.Times = v, true
	case (unit == "cores" || unit == "core") && r.Kind == CPU:
		r.Over, r.Cores = v, true
	default:
		return fmt.Errorf("%s: give %% or, of cpu, cores; of a share also a factor above one, such as 2x", text)
	}
	return nil
}
