package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/headroom"
	"github.com/rivulet-profiler/rivulet/controller/heap"
	"github.com/rivulet-profiler/rivulet/controller/hprof"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// heapFlags are those of all that analyses a dump.
type heapFlags struct {
	memory string
	temp   string
	top    int
	format string
	asJSON bool
	file   string
	find   string
	class  string
	sites  string // a report of a recording that counted allocations

	bytes     int64
	allocated heap.Sites // of sites
}

// finds reports whether single objects are asked for.
func (f *heapFlags) finds() bool { return f.find != "" || f.class != "" }

func (f *heapFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.memory, "max-memory", "", "`SIZE` that Rivulet may have in memory, such as 512M (default: a quarter of what is free, 512M at the least, and at the most half of what a container has left); what doesn't fit goes to temporary files")
	fs.StringVar(&f.temp, "temp", "", "`DIR` for temporary files")
	fs.IntVar(&f.top, "top", export.DefaultTop, "`N` rows of each list; 0 for all")
	fs.StringVar(&f.format, "format", "text", "`text`, json or html")
	fs.BoolVar(&f.asJSON, "json", false, "short for --format json")
	fs.StringVarP(&f.file, "output", "o", "", "write the report to this `file`; its name says the form unless --format does")
}

// check makes sense of the flags.
func (f *heapFlags) check(cmd *cobra.Command, forms ...string) error {
	if f.asJSON {
		if cmd.Flags().Changed("format") && f.format != "json" {
			return usage("--json and --format %s contradict each other; give one of them", f.format)
		}
		f.format = "json"
	}
	for _, form := range []string{"json", "html"} {
		if !cmd.Flags().Changed("format") && strings.HasSuffix(f.file, "."+form) {
			f.format = form
		}
	}
	switch {
	case !slices.Contains(forms, f.format):
		return usage("--format %q: there is only %s", f.format, enumerate(forms))
	case f.top < 0:
		return usage("--top %d: give a number above zero, or 0 for all", f.top)
	case f.memory == "":
		f.bytes = defaultMemory()
		return nil
	}
	n, err := spec.ParseSize(f.memory)
	if err != nil || n < leastMemory {
		return usage("--max-memory %q: give a size such as 512M, 64M at the least", f.memory)
	}
	f.bytes = n
	return nil
}

// leastMemory is what an analysis needs, in bytes.
const leastMemory = 64 << 20

// defaultMemory is what an analysis may have in memory, in bytes.
func defaultMemory() int64 {
	n := max(available()/4, 512<<20)
	if m, limited := headroom.Of(os.Getpid()); limited {
		n = max(min(n, m.Left/2), leastMemory)
	}
	return n
}

// available is how much memory is free, in bytes; 0 if that can't be told.
func available() int64 {
	text, _ := os.ReadFile("/proc/meminfo")
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
			kb, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kb << 10
		}
	}
	return 0
}

func (a *app) heap() *cobra.Command {
	var f heapFlags
	var d dumpFlags
	var targets targetFlags
	cmd := &cobra.Command{
		Use:   "heap PID|FILE",
		Short: "Show what fills a JVM's heap, and what keeps it alive",
		Long: `Has a JVM write a heap dump, or reads one (.hprof or .hprof.gz, of HotSpot JVMs 8 to 25), and shows
objects and bytes by class and by loader, what each object retains, what looks like a leak and which
path of references keeps it, duplicate strings, room in collections, boxed values, thread locals and
class loaders.

The dump is written into a private folder of the target's /tmp and removed afterwards. The JVM first
collects its garbage (unless --all is given), and all its threads stand still until the dump is
written: some seconds for each GB. Rivulet looks first whether there is room.

A dump of any size is read in bounded memory (--max-memory). One that is cut off or damaged is read
as far as that goes, and the report says where it ends.

--histogram only counts, which takes a second or so, and writes no dump. It takes several JVMs, and names those that
have three times as much of a class as the median process.`,
		Example: `  rivulet heap 4711
  rivulet heap 4711 --histogram
  rivulet heap 4711 --histogram --for 30s             # what grew meanwhile
  rivulet heap --histogram --match 'main=*Order*'     # of several JVMs, added up
  rivulet heap 4711 --keep dump.hprof                 # and keep the dump
  rivulet heap dump.hprof.gz --json -o heap.json
  rivulet heap dump.hprof -o heap.html                # a page with the dominator tree as a treemap
  rivulet heap dump.hprof --max-memory 512M --temp /var/tmp
  rivulet heap dump.hprof --class '*.Session' --find 'fields.user == nil and retained > 10_000'
  rivulet heap dump.hprof --find 'length > 1_000_000'
  rivulet profile 4711 --root shop.Web.handle --count allocations --for 60s -o rec.json
  rivulet heap 4711 --allocations rec.json            # who allocated what is in the heap
  rivulet heap diff before.hprof after.hprof`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			several, err := d.several(cmd, a.backend, &targets, &args)
			if err != nil {
				return err
			}
			forms := []string{"text", "json", "html"}
			if d.histogram || f.finds() {
				forms = forms[:2]
			}
			if err := f.check(cmd, forms...); err != nil {
				return err
			}
			pid, err := parsePID(args[0])
			_, missing := os.Stat(args[0])
			running := err == nil && (missing != nil || several != nil)
			if err := d.check(cmd, running); err != nil {
				return err
			}
			if f.sites != "" && (d.histogram || f.finds()) {
				return usage("--allocations says who allocated what is in a dump; it doesn't go with --histogram, --class and --find")
			}
			if f.sites != "" {
				if f.allocated, err = a.loadSites(f.sites); err != nil {
					return err
				}
			}
			return a.with(f.file, a.stdout, func(in *interrupts, out *output) error {
				switch {
				case len(several) > 1:
					return a.histogramOfSeveral(in, out, several, &f, d.all)
				case d.histogram:
					return a.histogram(in, out, pid, &f, &d)
				case running:
					return a.heapOfProcess(in, out, pid, &f, &d)
				}
				return a.heapOfFile(in, out, args[0], &f)
			})
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&f.class, "class", "", "list the objects of the classes that match this `PATTERN`, what retains most first")
	cmd.Flags().StringVar(&f.find, "find", "", "list the objects for which this `EXPRESSION` is true, such as 'retained > 1000000 and fields.size == 0'")
	cmd.Flags().StringVar(&f.sites, "allocations", "", "say which contexts allocated the objects, by this `REPORT` of a recording of the same program with --count allocations")
	targets.addSome(cmd.Flags())
	d.add(cmd)
	cmd.AddCommand(a.heapDiff())
	return cmd
}

// heapOfFile analyses a dump and writes the report.
func (a *app) heapOfFile(in *interrupts, out *output, path string, f *heapFlags) error {
	r, err := a.analyse(in.first, path, f)
	if err != nil {
		return interrupted(in, err)
	}
	return writeHeap(out, r, f)
}

// An answer is a report, or the objects that were asked for.
type answer struct {
	report *heap.Report
	found  *heap.FoundObjects
}

func writeHeap(out *output, r *answer, f *heapFlags) error {
	if f.allocated != nil {
		r.report.Join(f.sites, f.allocated)
	}
	return out.write(func(w io.Writer) error {
		o := heap.TextOptions{Top: f.top, Width: textOptions(out.w).Width}
		if o.Top == 0 {
			o.Top = 1 << 30
		}
		switch {
		case f.format == "json" && r.found != nil:
			return writeJSON(w, r.found)
		case r.found != nil:
			return r.found.Text(w, o)
		case f.format == "json":
			return writeJSON(w, r.report)
		case f.format == "html":
			return r.report.HTML(w)
		}
		return r.report.Text(w, o)
	})
}

// analyse reads a dump, showing how far it is.
func (a *app) analyse(ctx context.Context, path string, f *heapFlags) (*answer, error) {
	m := a.startSteps()
	defer m.stop()
	file, err := hprof.Open(ctx, path, f.temp, func(n int64) { m.set("unpacking", n, 0) })
	if err != nil {
		return nil, heapError(path, err)
	}
	return analyseFile(ctx, path, file, f, m)
}

// analyseFile analyses an open dump, and closes it.
func analyseFile(ctx context.Context, path string, file *hprof.File, f *heapFlags, m *steps) (*answer, error) {
	// What the collector of this process lets grow counts as much as what is in use.
	defer debug.SetGCPercent(debug.SetGCPercent(30))
	defer file.Close()
	o := heap.Options{MaxMemory: f.bytes, Temp: f.temp, Progress: m.set}
	h, err := heap.Open(ctx, file, o)
	if err != nil {
		return nil, heapError(path, err)
	}
	defer h.Close()
	top := f.top
	if top == 0 {
		top = 1000
	}
	if f.finds() {
		found, err := h.Find(ctx, f.class, f.find, top, o)
		if err != nil {
			return nil, heapError(path, err)
		}
		found.File = path
		return &answer{found: found}, nil
	}
	m.set("writing the report", 0, 0)
	r := h.Report(heap.ReportOptions{Top: top})
	r.File = path
	return &answer{report: r}, nil
}

// heapError says which file and what to do.
func heapError(path string, err error) error {
	var p *os.PathError
	switch {
	case errors.As(err, &p) && errors.Is(err, os.ErrNotExist):
		return usage("%s: there is no such file, and it is no process id; rivulet ps lists the JVMs", path)
	case errors.Is(err, heap.ErrQuery):
		return usage("%w; expressions are those of expr-lang.org, over class, address, shallow, retained, length and fields", err)
	case errors.Is(err, hprof.ErrNotHprof):
		return usage("%s: %w; jcmd PID GC.heap_dump FILE writes one", path, err)
	case errors.Is(err, heap.ErrMemory):
		return fmt.Errorf("%s: %w", path, err)
	case errors.Is(err, unix.ENOSPC):
		return fmt.Errorf("%s: %w; choose another folder with --temp, or give more with --max-memory", path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}
