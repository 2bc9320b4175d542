package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// versionJSON is what rivulet version --json writes.
type versionJSON struct {
	Schema   int    `json:"schema"`
	Kind     string `json:"kind"`
	Version  string `json:"version"`            // "(devel)" unless it was built of a tagged version
	Revision string `json:"revision,omitempty"` // commit that it was built from
	Protocol int    `json:"agent_protocol"`
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func (a *app) version() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print Rivulet's version",
		Example: "  rivulet version\n  rivulet version --json",
		Args:    takes(0),
		RunE: func(*cobra.Command, []string) error {
			version, revision := versionOf()
			if asJSON {
				e := json.NewEncoder(a.stdout)
				e.SetIndent("", " ")
				return e.Encode(versionJSON{1, "version", version, revision, wire.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH})
			}
			if revision != "" {
				revision = ", revision " + revision
			}
			_, err := fmt.Fprintf(a.stdout, "rivulet %s%s, agent protocol %d, %s %s/%s\n",
				version, revision, wire.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

// What a release was built from: set by the linker. "" in other builds.
var released, releasedRevision string

// versionOf is what this program was built from.
func versionOf() (version, revision string) {
	if released != "" {
		return released, releasedRevision
	}
	version = "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = s.Value
			}
		}
	}
	return version, revision
}
