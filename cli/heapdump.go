package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/hprof"
)

// dumpFlags are those of what a running JVM is asked for.
type dumpFlags struct {
	histogram bool
	all       bool
	keep      string
	dir       string
	length    time.Duration
}

func (d *dumpFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.BoolVar(&d.histogram, "histogram", false, "only count the objects of each class")
	fs.BoolVar(&d.all, "all", false, "dead objects, too: without a collection before")
	fs.DurationVar(&d.length, "for", 0, "with --histogram, show what changes in this `time`, such as 30s")
	fs.StringVar(&d.keep, "keep", "", "keep the dump in this `FILE`")
	fs.StringVar(&d.dir, "dump-dir", "", "`DIR` for the dump, as the target sees it (default /tmp)")
}

func (d *dumpFlags) check(cmd *cobra.Command, running bool) error {
	for _, name := range []string{"histogram", "all", "for", "keep", "dump-dir"} {
		if cmd.Flags().Changed(name) && !running {
			return usage("--%s is for running JVMs; give a process id, rivulet ps lists them", name)
		}
	}
	switch {
	case d.histogram && (cmd.Flags().Changed("find") || cmd.Flags().Changed("class")):
		return usage("--histogram only counts; --find and --class look at a dump")
	case cmd.Flags().Changed("for") && !d.histogram:
		return usage("--for goes with --histogram")
	case cmd.Flags().Changed("for") && d.length <= 0:
		return usage("--for %v: give a time above zero, such as 30s", d.length)
	case d.histogram && (d.keep != "" || d.dir != ""):
		return usage("--histogram writes no dump; leave --keep and --dump-dir out")
	case d.keep == "":
		return nil
	}
	if _, err := os.Lstat(d.keep); err == nil {
		return usage("--keep %s: the file exists; choose another name", d.keep)
	}
	f, err := os.OpenFile(d.keep, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		var p *os.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return usage("--keep %s: can't write there: %w; nothing was done", d.keep, err)
	}
	f.Close()
	return os.Remove(d.keep)
}

// heapOfProcess has a JVM write a dump, and analyses it.
func (a *app) heapOfProcess(in *interrupts, out *output, pid int, f *heapFlags, d *dumpFlags) error {
	r, err := a.dumpAndAnalyse(in.first, pid, f, d)
	if err != nil {
		if in.first.Err() != nil && errors.Is(err, context.Canceled) {
			return errors.New("interrupted; the dump was removed, and the JVM goes on as soon as it has written to its end")
		}
		return err
	}
	return writeHeap(out, r, f)
}

func (a *app) dumpAndAnalyse(ctx context.Context, pid int, f *heapFlags, d *dumpFlags) (*answer, error) {
	vm, err := attach.Open(ctx, pid)
	if err != nil {
		return nil, err
	}
	plan, err := vm.PlanDump(d.dir)
	if err != nil {
		return nil, err
	}
	first := "a full collection, then "
	if d.all {
		first = ""
	}
	a.say("the JVM stands still for %sa dump of up to %s into %s; at %d MB/s that is %s at the most",
		first, export.Bytes(plan.Need), plan.Dir, dumpRate, export.Duration(plan.Need*1000/dumpRate))
	m := a.startSteps()
	defer m.stop()
	dump, err := vm.DumpHeap(ctx, plan, d.all, func(n int64) { m.set("dumping", n, 0) })
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := dump.Remove(); err != nil {
			a.say("the dump could not be removed: %v", err)
		}
	}()
	m.stop()
	a.say("%s dumped in %s; %s", export.Bytes(dump.Size), export.Duration(int64(dump.Took)), stood(dump.Stopped))
	if d.keep != "" {
		if err := keepDump(dump, d.keep); err != nil {
			return nil, fmt.Errorf("--keep %s: %w; the dump was removed", d.keep, err)
		}
		a.say("dump kept in %s", d.keep)
	}
	file, err := hprof.NewFile(dump.File)
	if err != nil {
		return nil, heapError(dump.Path, err)
	}
	dump.File = nil // closed by the analysis
	m = a.startSteps()
	defer m.stop()
	r, err := analyseFile(ctx, dump.Path, file, f, m)
	if err == nil && r.report != nil {
		r.report.File = d.keep // the other one is gone
	}
	return r, err
}

// stood says how long a JVM's threads stood still.
func stood(d time.Duration) string {
	if d < 0 {
		return "the JVM doesn't say how long its threads stood still"
	}
	return "its threads stood still for " + export.Duration(int64(d))
}

// keepDump moves a dump to a place of ours, or copies it where that is another file system
// or another mount namespace.
func keepDump(d *attach.HeapDump, to string) error {
	if os.Rename(d.Path, to) == nil {
		ours, err := d.File.Stat()
		moved, err2 := os.Lstat(to)
		if err == nil && err2 == nil && os.SameFile(ours, moved) {
			return errors.Join(d.File.Chown(os.Getuid(), os.Getgid()), d.File.Chmod(0o600))
		}
		// The target's user, who owns the folder, has put something else there.
		if err := os.Remove(to); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, io.NewSectionReader(d.File, 0, d.Size)); err != nil {
		return errors.Join(err, f.Close(), os.Remove(to))
	}
	return f.Close()
}

// A histogramJSON is the JSON form of a histogram, or of what changed between two.
type histogramJSON struct {
	Schema  int              `json:"schema"`
	Kind    string           `json:"kind"` // "histogram"
	PID     int              `json:"pid"`
	All     bool             `json:"all"`
	Objects int64            `json:"objects"`
	Bytes   int64            `json:"bytes"`
	Seconds float64          `json:"seconds"` // between the two; 0 if there is one
	Classes []classCountJSON `json:"classes"`

	Loaders []loaderCountJSON `json:"loaders"` // what classes of each loader have; null if they can't be read
	Notes   []string          `json:"notes"`
}

type classCountJSON struct {
	attach.ClassCount
	Loader      string `json:"loader,omitempty"` // of its class; absent for the JVM's own, and where it is not known
	MoreObjects int64  `json:"more_objects"`
	MoreBytes   int64  `json:"more_bytes"`
}

// histogram counts objects once, or at two moments, and writes what it has counted.
func (a *app) histogram(in *interrupts, out *output, pid int, f *heapFlags, d *dumpFlags) error {
	j, err := a.countObjects(in, pid, d)
	if err != nil {
		return interrupted(in, err)
	}
	return out.write(func(w io.Writer) error {
		if f.format == "json" {
			return writeJSON(w, j)
		}
		return writeHistogram(w, j, f.top, d.length > 0)
	})
}

func (a *app) countObjects(in *interrupts, pid int, d *dumpFlags) (*histogramJSON, error) {
	ctx := in.first
	vm, err := attach.Open(ctx, pid)
	if err != nil {
		return nil, err
	}
	before := &attach.Histogram{}
	if d.length > 0 {
		if before, err = vm.Histogram(ctx, d.all); err != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(d.length):
		}
		ctx = in.second
	}
	h, err := vm.Histogram(ctx, d.all)
	if err != nil {
		return nil, err
	}
	a.say("counted in %s; %s", export.Duration(int64(h.Took)), stood(h.Stopped))
	j := &histogramJSON{Schema: export.Schema, Kind: "histogram", PID: pid, All: d.all, Objects: h.Objects, Bytes: h.Bytes, Seconds: d.length.Seconds()}
	j.Classes = histogramRows(before, h, d.length > 0)
	j.byLoader()
	return j, nil
}

// histogramRows joins two histograms, what grew most first.
func histogramRows(before, after *attach.Histogram, two bool) []classCountJSON {
	rows := make([]classCountJSON, 0, len(after.Classes))
	was := map[string]attach.ClassCount{}
	for _, c := range before.Classes {
		was[c.Class] = c
	}
	for _, c := range after.Classes {
		b := was[c.Class]
		delete(was, c.Class)
		row := classCountJSON{ClassCount: c}
		if two {
			row.MoreObjects, row.MoreBytes = c.Objects-b.Objects, c.Bytes-b.Bytes
		}
		rows = append(rows, row)
	}
	for _, c := range before.Classes {
		if _, gone := was[c.Class]; gone {
			rows = append(rows, classCountJSON{ClassCount: attach.ClassCount{Class: c.Class}, MoreObjects: -c.Objects, MoreBytes: -c.Bytes})
		}
	}
	if two {
		slices.SortStableFunc(rows, func(a, b classCountJSON) int {
			return cmp.Or(cmp.Compare(b.MoreBytes, a.MoreBytes), cmp.Compare(a.Class, b.Class))
		})
	}
	return rows
}

// signed writes a difference with its sign.
func signed(n int64, form func(int64) string) string {
	switch {
	case n > 0:
		return "+" + form(n)
	case n < 0:
		return "-" + form(-n)
	}
	return "0"
}
