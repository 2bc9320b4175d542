package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/sampler/pcct"
	"github.com/rivulet-profiler/rivulet/controller/sampler/ring"
	"github.com/rivulet-profiler/rivulet/controller/watch"
)

// watchFolders finds what was kept of a process, or in a folder; of all processes if arg is "".
func watchFolders(arg string) ([]*watch.Folder, error) {
	pid, err := strconv.Atoi(arg)
	if arg != "" && err != nil {
		f, err := watch.Read(arg)
		if err != nil {
			return nil, usage("%w; rivulet watch ls shows what there is", err)
		}
		return []*watch.Folder{f}, nil
	}
	root, err := watch.Root()
	if err != nil {
		return nil, err
	}
	found, err := watch.Folders(root, pid)
	if err == nil && arg != "" && len(found) == 0 {
		return nil, usage("process %d: %w; rivulet watch ls shows what there is", pid, watch.ErrNothing)
	}
	return found, err
}

type jsonWatches struct {
	Schema  int         `json:"schema"`
	Kind    string      `json:"kind"` // "watches"
	Watches []jsonWatch `json:"watches"`
}

type jsonWatch struct {
	Dir      string        `json:"dir"`
	Target   jsonJVM       `json:"target"`
	Active   bool          `json:"active"` // it is being watched
	Mode     string        `json:"mode"`
	Hz       int           `json:"hz"`
	Samples  int64         `json:"samples"`
	From     string        `json:"from,omitempty"` // of the samples, RFC 3339
	To       string        `json:"to,omitempty"`
	Bytes    int64         `json:"bytes"`
	Damaged  int64         `json:"damaged"`
	Captures []jsonCapture `json:"captures"`
}

type jsonCapture struct {
	*watch.Capture
	Time string `json:"time"`
	Dir  string `json:"dir"`
}

func (a *app) watchList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ls [PID|DIR]",
		Short: "List what rivulet watch has kept: samples and captures",
		Long: `Lists the processes of which rivulet watch has kept samples, with the time that they are of, and
the captures: what was kept of events.`,
		Example: `  rivulet watch ls
  rivulet watch ls 4711
  rivulet watch ls --json`,
		Args: takes(0, "PID|DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			found, err := watchFolders(strings.Join(args, ""))
			if err != nil {
				return err
			}
			out := jsonWatches{Schema: export.Schema, Kind: "watches", Watches: []jsonWatch{}}
			for _, f := range found {
				w, err := describeWatch(f)
				if err != nil {
					a.say("%s: %s", f.Path, oneLine(err.Error()))
					continue
				}
				out.Watches = append(out.Watches, *w)
			}
			if asJSON {
				return writeJSON(a.stdout, out)
			}
			return a.writeWatches(out.Watches)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

func describeWatch(f *watch.Folder) (*jsonWatch, error) {
	r, err := ring.Open(f.Ring())
	if err != nil {
		return nil, err
	}
	s, err := r.Summary()
	if err != nil {
		return nil, err
	}
	captures, err := f.Captures()
	if err != nil {
		return nil, err
	}
	h := &s.Header
	w := &jsonWatch{
		Dir: f.Path, Target: jsonJVM{h.PID, h.Java, h.VM, h.Main}, Active: f.Active(), Mode: h.Mode, Hz: h.Hz, Samples: s.Samples,
		Bytes: s.Bytes, Damaged: s.Damaged, Captures: []jsonCapture{},
	}
	if s.Samples > 0 {
		w.From, w.To = rfc(h.Clock(s.First)), rfc(h.Clock(s.Last))
	}
	for _, c := range captures {
		w.Captures = append(w.Captures, jsonCapture{c, rfc(c.Wall), c.Dir()})
	}
	return w, nil
}

func rfc(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339) }

// localTime is a time that rfc has written, for people.
func localTime(text string) string {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

func (a *app) writeWatches(all []jsonWatch) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(a.stdout, "nothing is kept; rivulet watch PID begins")
		return err
	}
	rows := [][]string{{"PID", "MAIN", "STATE", "FROM", "TO", "SAMPLES", "SIZE", "CAPTURES"}}
	for _, w := range all {
		state := "kept"
		if w.Active {
			state = "watched"
		}
		rows = append(rows, []string{
			strconv.Itoa(w.Target.PID), export.Clean(w.Target.Main), state, localTime(w.From), localTime(w.To),
			export.Count(w.Samples), export.Bytes(w.Bytes), strconv.Itoa(len(w.Captures)),
		})
	}
	if err := writeRows(a.stdout, rows, tableWidth(a.stdout)); err != nil {
		return err
	}
	rows = [][]string{{"CAPTURE", "PID", "TIME", "SAMPLES", "RULE", "WHAT", "EXACT"}}
	for _, w := range all {
		for _, c := range w.Captures {
			rows = append(rows, []string{
				c.ID, strconv.Itoa(w.Target.PID), localTime(c.Time), export.Count(c.Samples), export.Clean(c.Event.Rule), export.Clean(c.Event.What),
				cmp.Or(export.Clean(c.Exact), export.Clean(c.Note)),
			})
		}
	}
	if len(rows) == 1 {
		return nil
	}
	if _, err := fmt.Fprintln(a.stdout); err != nil {
		return err
	}
	return writeRows(a.stdout, rows, tableWidth(a.stdout))
}

// watchRange says which piece of what was kept is meant.
type watchRange struct {
	from, to string
	last     time.Duration
	capture  string
}

func (a *app) watchShow() *cobra.Command {
	var r watchRange
	var v viewFlags
	var p pageFlags
	var o pcct.Options
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show PID|DIR",
		Short: "Make a report of a piece of the time that rivulet watch has kept, or of a capture",
		Long: `Reads the samples that rivulet watch has kept, of any piece of that time, also while it goes on,
and makes the same report of them as rivulet sample, in all its forms.

TIME is a time of day (14:03, 14:03:20), a date with it (2026-11-24 14:03, or RFC 3339), or counts
from the last sample: -10m. Without a time it shows all.`,
		Example: `  rivulet watch show 4711 --last 5m
  rivulet watch show 4711 --from 14:03 --to 14:05:30 -o flame.html
  rivulet watch show 4711 --capture 20261124T140320Z --ui
  rivulet watch show 4711 --from -20m --to -10m -o before.rivulet
  rivulet view ~/.local/state/rivulet/watch/4711-81523/captures/20261124T140320Z/exact.rivulet`,
		Args: takes(1, "PID|DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if asJSON {
				if v.format != "" && v.format != "json" {
					return usage("--json and --format %s: give one of both", v.format)
				}
				v.format = "json"
			}
			if err := errors.Join(v.check(), p.check(cmd), r.check(cmd)); err != nil {
				return err
			}
			found, err := watchFolders(args[0])
			if err != nil {
				return err
			}
			path, from, until, err := r.find(found[0], time.Now())
			if err != nil {
				return err
			}
			report, err := watch.Report(path, from, until, o)
			if errors.Is(err, watch.ErrNothing) {
				return usage("%s: %w; rivulet watch ls shows what there is", args[0], err)
			}
			if err != nil {
				return err
			}
			if p.ui {
				return a.showPage(p.listen, v.app.app, []string{"samples of " + args[0]}, []export.Saved{{Report: report}}, false)
			}
			return a.writeView(report, &v)
		},
	}
	v.add(cmd)
	fs := cmd.Flags()
	fs.StringVar(&r.from, "from", "", "from this `TIME` on")
	fs.StringVar(&r.to, "to", "", "up to this `TIME`")
	fs.DurationVar(&r.last, "last", 0, "of the last `time`, such as 5m")
	fs.StringVar(&r.capture, "capture", "", "of the capture with this `ID`, or the last one")
	fs.BoolVar(&o.Lines, "lines", false, "count source lines of the innermost frames, for JSON")
	fs.IntVar(&o.Depth, "frames", 0, "look at the innermost `N` frames of a stack only; 0 for all")
	fs.BoolVar(&asJSON, "json", false, "write JSON: the same as --format json")
	p.add(fs)
	return cmd
}

func (r *watchRange) check(cmd *cobra.Command) error {
	timed := r.from != "" || r.to != ""
	switch {
	case cmd.Flags().Changed("last") && r.last <= 0:
		return usage("--last %v: give a time above zero, such as 5m", r.last)
	case r.last > 0 && (timed || r.capture != "") || timed && r.capture != "":
		return usage("give --from and --to, or --last, or --capture")
	}
	return nil
}

// find is where the samples are, and which of them are meant, CLOCK_MONOTONIC ns.
func (r *watchRange) find(f *watch.Folder, now time.Time) (path string, from, until int64, err error) {
	if r.capture != "" {
		c, err := findCapture(f, r.capture)
		if err != nil {
			return "", 0, 0, err
		}
		if _, err := os.Stat(c.Ring()); err != nil {
			return "", 0, 0, usage("capture %s has no samples", c.ID)
		}
		return c.Ring(), c.From, c.Until, nil
	}
	ringed, err := ring.Open(f.Ring())
	if err != nil {
		return "", 0, 0, err
	}
	s, err := ringed.Summary()
	if err != nil {
		return "", 0, 0, err
	}
	if s.Samples == 0 {
		return "", 0, 0, usage("%s: %w; rivulet watch ls shows what there is", f.Path, watch.ErrNothing)
	}
	from, until = s.First, s.Last
	if r.last > 0 {
		return f.Ring(), until - int64(r.last), until, nil
	}
	for _, p := range []struct {
		flag, text string
		to         *int64
	}{{"from", r.from, &from}, {"to", r.to, &until}} {
		if p.text == "" {
			continue
		}
		if *p.to, err = timeOf(p.text, &s, now); err != nil {
			return "", 0, 0, usage("--%s %w", p.flag, err)
		}
	}
	if from > until {
		return "", 0, 0, usage("--from is later than --to")
	}
	return f.Ring(), from, until, nil
}

func findCapture(f *watch.Folder, id string) (*watch.Capture, error) {
	all, err := f.Captures()
	if err != nil {
		return nil, err
	}
	if id == "last" && len(all) > 0 {
		return all[len(all)-1], nil
	}
	if i := slices.IndexFunc(all, func(c *watch.Capture) bool { return c.ID == id }); i >= 0 {
		return all[i], nil
	}
	return nil, usage("there is no capture %q in %s; rivulet watch ls shows them, \"last\" is the newest", id, filepath.Base(f.Path))
}

// timeOf reads a time, CLOCK_MONOTONIC ns. One without a date is the last such before now.
func timeOf(text string, s *ring.Summary, now time.Time) (int64, error) {
	if rest, ok := strings.CutPrefix(text, "-"); ok {
		d, err := time.ParseDuration(rest)
		if err != nil {
			return 0, fmt.Errorf("%s: give a time before the last sample, such as -10m", text)
		}
		return s.Last - int64(d), nil
	}
	for _, form := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05"} {
		if t, err := time.ParseInLocation(form, text, now.Location()); err == nil {
			return t.UnixNano() - s.Header.Clock(0), nil
		}
	}
	for _, form := range []string{time.TimeOnly, "15:04"} {
		t, err := time.ParseInLocation(form, text, now.Location())
		if err != nil {
			continue
		}
		at := time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), t.Second(), 0, now.Location())
		if at.After(now) {
			at = at.AddDate(0, 0, -1)
		}
		return at.UnixNano() - s.Header.Clock(0), nil
	}
	return 0, fmt.Errorf("%s: give a time such as 14:03, 2026-11-24 14:03:20, or -10m", text)
}
