package filter

import (
	"fmt"
	"slices"
	"strings"
)

// A Rule is a pattern that includes or excludes.
type Rule struct {
	Pattern
	Include bool
}

// String returns the rule as a command line has it.
func (r Rule) String() string {
	if r.Include {
		return "--include " + r.text
	}
	return "--exclude " + r.text
}

// A Set decides which methods are instrumented. The zero value includes all of
// the application's and none of the JDK's.
//
// The last rule that matches a method decides. Where none does, a method of the
// application is included, unless the first rule that is about the application
// includes: then it is excluded. A method of the JDK is excluded, unless JDK is
// set. Rules with patterns of the JDK's own names (java.util.*) are about the
// JDK; all others are about the application, and about the JDK only when JDK is
// set or they exclude.
type Set struct {
	Rules []Rule
	JDK   bool // methods of the JDK are included, where no rule says otherwise
}

// Add appends a rule.
func (s *Set) Add(pattern string, include bool) error {
	p, err := Parse(pattern)
	if err != nil {
		return fmt.Errorf("%s: %w", Rule{p, include}, err)
	}
	s.Rules = append(s.Rules, Rule{p, include})
	return nil
}

// Parse appends a rule in the form that String has: "--include PATTERN",
// "--exclude PATTERN" or "--jdk".
func (s *Set) Parse(rule string) error {
	if rule == "--jdk" {
		s.JDK = true
		return nil
	}
	what, pattern, _ := strings.Cut(rule, " ")
	if what != "--include" && what != "--exclude" {
		return fmt.Errorf("rule %q: there are --include PATTERN, --exclude PATTERN and --jdk", rule)
	}
	return s.Add(strings.TrimSpace(pattern), what == "--include")
}

// Empty reports whether the set is as good as none.
func (s *Set) Empty() bool { return len(s.Rules) == 0 && !s.JDK }

// Strings returns the rules as a command line has them.
func (s *Set) Strings() []string {
	var out []string
	if s.JDK {
		out = append(out, "--jdk")
	}
	for _, r := range s.Rules {
		out = append(out, r.String())
	}
	return out
}

// Method reports whether a method is to be instrumented. class is dotted; jdk
// says that a loader of the JDK's own defines it.
func (s *Set) Method(class, name, desc string, jdk bool) bool {
	in := s.otherwise(jdk)
	for i := len(s.Rules) - 1; i >= 0; i-- {
		if r := &s.Rules[i]; s.about(r, jdk) && r.Pattern.Method(class, name, desc) {
			return r.Include
		}
	}
	return in
}

// OpensClass reports whether a method of a class of the JDK may be included.
// class is dotted.
func (s *Set) OpensClass(class string) bool {
	if s.JDK {
		return true
	}
	return slices.ContainsFunc(s.Rules, func(r Rule) bool { return r.Include && r.jdk() && (r.Class(class) || r.within(class)) })
}

// OpensJDK reports whether any method of the JDK can be included.
func (s *Set) OpensJDK() bool {
	return s.JDK || slices.ContainsFunc(s.Rules, func(r Rule) bool { return r.Include && r.jdk() })
}

// about reports whether a rule can decide about a method.
func (s *Set) about(r *Rule, jdk bool) bool {
	return !jdk || s.JDK || !r.Include || r.jdk()
}

func (s *Set) otherwise(jdk bool) bool {
	if jdk {
		return s.JDK
	}
	for i := range s.Rules {
		if !s.Rules[i].jdk() {
			return !s.Rules[i].Include
		}
	}
	return true
}

// Names of the JDK's packages begin like this. Some of javax are other
// people's: such a rule still is about nothing but what it matches.
var jdkNames = []string{"java.", "javax.", "jdk.", "sun.", "com.sun."}

// jdk reports whether all that a pattern can match has a name of the JDK's.
func (p Pattern) jdk() bool {
	if len(p.name) == 0 || p.name[0].kind != literal {
		return false
	}
	return slices.ContainsFunc(jdkNames, func(n string) bool { return strings.HasPrefix(p.name[0].lit, n) })
}
