package spec

import (
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/filter"
)

// A ModeRule gives the methods that match a pattern a mode of their own:
//
//	off      neither counted nor timed; what it calls shows as its caller's
//	counted  counted; its time is its caller's
//	tick     timed by the tick clock
//	precise  timed by System.nanoTime
//
// The pattern is one of package filter's. Of several rules that match, the last
// one holds. Roots are always recorded.
type ModeRule struct {
	Pattern filter.Pattern
	Mode    string
}

// Modes are the values of [ModeRule].Mode.
var Modes = []string{"off", "counted", "tick", "precise"}

// ParseModeRule reads a rule of the form PATTERN=MODE. The error is an [*Error].
func ParseModeRule(text string) (ModeRule, error) {
	pattern, mode, _ := strings.Cut(text, "=")
	if !slices.Contains(Modes, mode) {
		return ModeRule{}, wrong("mode", text, "mode %q: there are %s; give PATTERN=MODE, such as com.acme.util.*=counted", mode, enumerate(Modes))
	}
	p, err := filter.Parse(pattern)
	if err != nil {
		return ModeRule{}, wrong("mode", text, "%v; give PATTERN=MODE, such as com.acme.util.*=counted", err)
	}
	return ModeRule{p, mode}, nil
}

// String is the rule as PATTERN=MODE.
func (m ModeRule) String() string { return m.Pattern.String() + "=" + m.Mode }

// ValidateWithEvents refuses a mode that can't be recorded with events. The error is an
// [*Error].
func (m ModeRule) ValidateWithEvents() error {
	if m.Mode == "counted" {
		return wrong("mode", m.String(), "with events there are off, tick and precise, since an event without its time can't be placed; or leave out what records events")
	}
	return nil
}
