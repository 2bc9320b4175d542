package cli

import (
	"github.com/spf13/pflag"

	"github.com/rivulet-profiler/rivulet/controller/application"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// appFlags say which packages are the application's, and whether the levels of frameworks
// are folded in trees.
type appFlags struct {
	app    []string
	unfold bool
}

// add adds both flags.
func (f *appFlags) add(fs *pflag.FlagSet) {
	f.addApp(fs)
	fs.BoolVar(&f.unfold, "unfold", false, "show all levels of frameworks in the text's trees; without it, those that lead to the application are one line")
}

func (f *appFlags) addApp(fs *pflag.FlagSet) {
	fs.StringArrayVar(&f.app, "app", nil, "the application is this `PACKAGE` and what is below it, such as com.acme, and all else frameworks; may be repeated (default: all but the JDK and frameworks that are known)")
}

func (f *appFlags) check() error {
	if _, err := application.New(f.app, ""); err != nil {
		return usage("--app: %w", err)
	}
	return nil
}

// frameworks is how text reports fold.
func (f *appFlags) frameworks() *export.Frameworks {
	if f.unfold {
		return nil
	}
	return &export.Frameworks{App: f.app, Hint: "--unfold shows them, --app says what is the application's"}
}
