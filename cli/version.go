package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print Rivulet's version",
		Example: "  rivulet version",
		Args:    takes(0),
		RunE: func(*cobra.Command, []string) error {
			version, revision := versionOf()
			_, err := fmt.Fprintf(a.stdout, "rivulet %s%s, agent protocol %d, %s %s/%s\n",
				version, revision, wire.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// versionOf is what this program was built from.
func versionOf() (version, revision string) {
	version = "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = ", revision " + s.Value
			}
		}
	}
	return version, revision
}
