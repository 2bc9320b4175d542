package cli

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/web"
)

// pageFlags have the page show what was saved.
type pageFlags struct {
	ui     bool
	listen string
}

func (f *pageFlags) add(fs *pflag.FlagSet) {
	fs.BoolVar(&f.ui, "ui", false, "show it on a page in the browser, until Ctrl-C")
	fs.StringVar(&f.listen, "listen", defaultListen, "`ADDRESS:PORT` of the page, with --ui")
}

// check refuses flags that say how something is written where nothing is.
func (f *pageFlags) check(cmd *cobra.Command) error {
	if !f.ui {
		if cmd.Flags().Changed("listen") {
			return usage("--listen is the page's address: give --ui with it")
		}
		return nil
	}
	for _, flag := range []string{"format", "json", "output", "trace", "top", "depth", "sort", "weight"} {
		if cmd.Flags().Changed(flag) {
			return usage("--ui opens a page and writes nothing: leave out --%s, or --ui", flag)
		}
	}
	return nil
}

// showPage opens what was saved on a page: one alone, or the second of two compared
// with the first. It serves until Ctrl-C.
func (a *app) showPage(listen string, packages []string, paths []string, saved []export.Saved, absolute bool) error {
	_, err := a.servePage(web.Config{App: packages}, listen, &liveBackend{app: a}, func(_ context.Context, l *live.Live) (web.Opening, error) {
		o := web.Opening{Absolute: absolute}
		for i, s := range saved {
			name := filepath.Base(paths[i])
			if paths[i] == "-" {
				name = "standard input"
			}
			info, err := l.Open(s, name)
			if err != nil {
				return o, err
			}
			o.Against, o.Source = o.Source, info.ID
		}
		return o, nil
	}, 0)
	return err
}
