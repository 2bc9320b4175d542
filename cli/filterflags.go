package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/rivulet-profiler/rivulet/controller/filter"
)

// filterHelp goes into the help of commands with filters.
const filterHelp = `--include and --exclude say which methods get probes, by patterns: com.acme.* is
the classes of a package, com.acme.** those of packages below it too,
com.acme.Foo a class, com.acme.Foo.get* methods, ** everything. The last pattern
that matches a method decides; where none does, it is in, unless the first
pattern is an --include. Roots are always in. What a hidden method calls is
recorded all the same, below its caller; the time of the hidden method itself is
the caller's, and the report says so. The JDK is out, unless --jdk opens it or an
--include names a part of it, such as 'java.util.*', which restricts nothing else;
the JDK classes that Rivulet needs, java.lang first of all, never get probes.`

// addFilters adds the flags of a filter.
func (f *recordFlags) addFilters(fs *pflag.FlagSet) {
	fs.Var(ruleFlag{&f.rec.Filter, true}, "include", "instrument methods that match this `PATTERN`; may be repeated")
	fs.Var(ruleFlag{&f.rec.Filter, false}, "exclude", "leave methods that match this `PATTERN` without probes; may be repeated")
	fs.BoolVar(&f.rec.Filter.JDK, "jdk", false, "instrument the JDK too, except the classes that Rivulet needs; parts of it by --include 'java.util.*'")
}

// A ruleFlag is --include or --exclude: both append to one list, since their
// order counts.
type ruleFlag struct {
	set     *filter.Set
	include bool
}

func (ruleFlag) Type() string   { return "PATTERN" }
func (ruleFlag) String() string { return "" }

func (r ruleFlag) Set(text string) error {
	p, err := filter.Parse(text)
	if err != nil {
		return fmt.Errorf("%w; patterns are com.acme.*, com.acme.**, com.acme.Foo, com.acme.Foo.get*", err)
	}
	r.set.Rules = append(r.set.Rules, filter.Rule{Pattern: p, Include: r.include})
	return nil
}
