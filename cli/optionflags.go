package cli

import (
	"github.com/spf13/pflag"

	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// An optionFlag is the flag of an option of a recording.
type optionFlag struct {
	option *spec.Option
	rec    *spec.Recording
}

// Type implements pflag.Value.
func (f optionFlag) Type() string {
	if f.option.IsFlag() {
		return "bool"
	}
	return f.option.Arg
}

// String implements pflag.Value. It is the default that the help shows.
func (f optionFlag) String() string {
	switch {
	case f.rec == nil || f.option.IsList():
		return ""
	case f.option.IsFlag():
		return "false"
	}
	if value := f.option.Get(f.rec); value != "0" {
		return value
	}
	return ""
}

// Set implements pflag.Value.
func (f optionFlag) Set(text string) error { return f.option.Set(f.rec, text) }

// addOptions adds the flags of options.
func (f *recordFlags) addOptions(fs *pflag.FlagSet, names ...string) {
	for _, name := range names {
		o := spec.Find(name)
		flag := fs.VarPF(optionFlag{o, &f.rec}, name, "", o.Help)
		if o.IsFlag() {
			flag.NoOptDefVal = "true"
		}
	}
}
