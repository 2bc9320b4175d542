package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/web"
)

// mostUnheaded is how many files are read as a whole to be listed: those that the page has not
// written say nothing of themselves at their beginning.
const mostUnheaded = 50

// viewFolder lists the recordings of a folder, in the terminal or on the page.
func (a *app) viewFolder(cmd *cobra.Command, folder string, f *viewFlags, p *pageFlags) error {
	for _, flag := range []string{"output", "top", "depth", "sort", "weight", "trace", "span", "unfold"} {
		if cmd.Flags().Changed(flag) {
			return usage("%s is a folder, whose recordings are listed: leave out --%s, or name one of its files", folder, flag)
		}
	}
	if p.ui {
		_, err := a.servePage(web.Config{App: f.app.app, Snapshots: folder}, p.listen, &liveBackend{app: a}, func(_ context.Context, l *live.Live) (web.Opening, error) {
			found, err := a.recordings(l, folder)
			if err != nil {
				return web.Opening{}, err
			}
			return web.Opening{Source: found[len(found)-1].ID, List: true}, nil
		}, 0)
		return err
	}
	if f.format != "" && f.format != "text" && f.format != "json" {
		return usage("--format %q: the list of a folder is written as text and json", f.format)
	}
	found, err := a.recordings(live.New(live.Config{Snapshots: folder}), folder)
	if err != nil {
		return err
	}
	if f.format == "json" {
		return writeJSON(a.stdout, found)
	}
	rows := [][]string{{"FILE", "NAME", "WHEN", "SECONDS", "CALLS", "PROGRAM"}}
	for _, k := range found {
		seconds, calls := fmt.Sprintf("%.1f", k.Seconds), export.Count(k.Calls)
		if k.Broken != "" {
			seconds, calls = "-", "can't be read: "+k.Broken
		}
		rows = append(rows, []string{k.File, k.Name, k.When.Local().Format(time.DateTime), seconds, calls, k.Target})
	}
	return writeRows(a.stdout, rows, tableWidth(a.stdout))
}

// recordings are those of the folder that l lists, the oldest first; at least one.
func (a *app) recordings(l *live.Live, folder string) ([]live.SnapshotInfo, error) {
	all := l.State().Snapshots
	if len(all) == 0 {
		return nil, usage("%s: there is no recording in it, which would be a file NAME.rivulet: write one with rivulet profile -o NAME.rivulet", folder)
	}
	read := 0
	for _, k := range all {
		if k.Scheme == "" && k.Nodes == 0 && read < mostUnheaded {
			if read == 0 {
				a.say("reading what %s has", folder)
			}
			read++
			_, _ = l.SnapshotReport(k.ID) // what can't be read says so in the list
		}
	}
	return l.State().Snapshots, nil
}
