package cli

import (
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
)

func addSnapshots(fs *pflag.FlagSet, to *string) {
	fs.StringVar(to, "snapshots", "", "`folder` that the page keeps snapshots in (default: rivulet/snapshots in XDG_DATA_HOME, or in ~/.local/share)")
}

// snapshotFolder is where the page keeps snapshots: the one asked for, which is
// made, or the user's own by the XDG Base Directory rules, which is made with
// the first snapshot; "" where the user has no home.
func snapshotFolder(asked string) (string, error) {
	if asked != "" {
		if err := os.MkdirAll(asked, 0o700); err != nil {
			return "", usage("--snapshots: %w", err)
		}
		return filepath.Abs(asked)
	}
	data := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(data) { // such are to be ignored
		home, err := os.UserHomeDir()
		if err != nil || !filepath.IsAbs(home) {
			return "", nil
		}
		data = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(data, "rivulet", "snapshots"), nil
}
