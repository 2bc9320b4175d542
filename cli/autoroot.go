package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/sampler/suggest"
)

// autoWord is the root that samples choose.
const autoWord = "auto"

// An autoRoot is the flag --root of a command that can choose one itself.
type autoRoot struct {
	optionFlag
	auto *bool
}

// Set implements pflag.Value.
func (f autoRoot) Set(text string) error {
	if text == autoWord {
		*f.auto = true
		return nil
	}
	return f.optionFlag.Set(text)
}

// allowAuto has --root take "auto".
func (f *recordFlags) allowAuto(cmd *cobra.Command) {
	flag := cmd.Flags().Lookup("root")
	old, ok := flag.Value.(optionFlag)
	if !ok {
		panic("--root is another kind of flag")
	}
	flag.Value = autoRoot{old, &f.auto}
	flag.Usage += "; auto: the one that rivulet suggest puts first"
}

// errNoRootFound is what --root auto fails by.
var errNoRootFound = errors.New("--root auto: samples show no method of the program's that takes time and is entered again and again; give a root, or try while the program is at work")

// chooseRoot samples for a while, and adds the root that suggests itself.
func (a *app) chooseRoot(pid int, f *recordFlags) error {
	o := sampleOptions{}
	o.sampler.Hz = usualHz
	r, err := a.sampleFor(pid, o, suggestFor, time.Now())
	if err != nil {
		return fmt.Errorf("--root auto: %w", err)
	}
	found := suggest.Roots(r, 1, f.app.app...)
	if len(found) == 0 {
		return errNoRootFound
	}
	s := &found[0]
	a.say("the root is %s: %.0f %% of the time, entered %s times a second at least, price %s", oneLine(s.Name()), 100*s.Share, rate(s.Rate), s.Price)
	return f.rec.AddRoot(s.Method.Name)
}
