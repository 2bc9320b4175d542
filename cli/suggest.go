package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/sampler/suggest"
)

// suggestFor is how long is sampled for suggestions.
const suggestFor = 10 * time.Second

func (a *app) suggestCommand() *cobra.Command {
	var f sampleFlags
	var length time.Duration
	var most int
	var asJSON bool
	var packages appFlags
	cmd := &cobra.Command{
		Use:   "suggest PID|FILE",
		Short: "Suggest root methods for exact recording, by samples",
		Long: `Samples a JVM from outside for ten seconds, or reads what rivulet sample has written,
and names methods that are worth an exact recording: they hold much of the time, are
entered while one looks, and are the program's own rather than the JDK's. Methods that
are always on the stack, such as a main loop, are none, since only invocations that begin
while recording count. Methods that only wait or poll are none either, and of those with as much
time the application's come before a framework's (--app says what is the application's).

For each it says what its recording would meet. Entries and calls are those that samples
met: a lower bound. The price is judged by how many frames below the method are new at
each sample: low, if most last over several samples; high, if nearly all are new, so
that calls are short and many, and what the root calls may run up to six times slower
while it is recorded.`,
		Example: `  rivulet suggest 4711
  rivulet suggest 4711 --for 30s --json
  rivulet suggest 4711 --app com.acme
  rivulet profile 4711 --root "$(rivulet suggest 4711 --json | jq -r '.roots[0].root')" --for 10s
  rivulet sample 4711 --for 1m -o samples.json && rivulet suggest samples.json`,
		Args: takes(1, "PID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			begun := time.Now()
			o, err := f.options(cmd)
			if most < 1 {
				err = errors.Join(err, usage("--top %d: give a number above zero", most))
			}
			if err := errors.Join(err, checkLength(cmd, length)); err != nil {
				return err
			}
			if err := packages.check(); err != nil {
				return err
			}
			r, err := a.samplesOf(args[0], o, length, begun)
			if err != nil {
				return err
			}
			roots := suggest.Roots(r, most, packages.app...)
			if asJSON {
				return writeJSON(a.stdout, suggestionsJSON(r, roots))
			}
			return a.writeSuggestions(r, roots, args[0])
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.DurationVar(&length, "for", suggestFor, "sample for this `time`")
	fs.IntVar(&most, "top", 8, "`N` suggestions")
	f.add(fs)
	packages.addApp(fs)
	fs.BoolVar(&asJSON, "json", false, "write JSON: what was sampled, and a list of roots")
	return cmd
}

// On the page, suggestions come sooner, by more samples a second.
const (
	pageSuggestFor = 5 * time.Second
	pageSuggestHz  = 199
	mostSuggested  = 12
)

// suggestBySamples are suggestions for the page.
func (a *app) suggestBySamples(ctx context.Context, pid int, packages []string) (*live.Suggestions, error) {
	o := sampleOptions{}
	o.sampler.Hz = pageSuggestHz
	r, err := a.sampleQuietly(ctx, pid, o, pageSuggestFor)
	if err != nil {
		return nil, err
	}
	out := &live.Suggestions{Samples: r.Sampling.Samples, Seconds: r.Time.Seconds(), Threads: len(r.Tree.Threads), Busy: len(r.Tree.Threads), Roots: []live.Suggestion{}, Report: r, Prices: suggest.Prices(r)}
	for _, s := range suggest.Roots(r, mostSuggested, packages...) {
		out.Roots = append(out.Roots, live.Suggestion{
			Root: s.Name(), Share: thousandths(s.Share), Low: thousandths(s.Low), High: thousandths(s.High), Rate: thousandths(s.Rate), Price: string(s.Price),
		})
	}
	return out, nil
}

// samplesOf samples a process, or reads a file of samples.
func (a *app) samplesOf(arg string, o sampleOptions, length time.Duration, begun time.Time) (*export.Report, error) {
	if _, err := strconv.Atoi(arg); err != nil {
		r, err := a.loadReport(arg)
		if err == nil && r.Sampling == nil {
			err = usage("%s: it is no report of samples; rivulet sample writes one", arg)
		}
		return r, err
	}
	pid, err := parsePID(arg)
	if err != nil {
		return nil, err
	}
	return a.sampleFor(pid, o, length, begun)
}

func (a *app) writeSuggestions(r *export.Report, roots []suggest.Root, arg string) error {
	if len(roots) == 0 {
		fmt.Fprintf(a.stdout, "no method of the program's holds much time and was entered within %s (%s)\n",
			export.Duration(int64(r.Time)), export.Plural(r.Sampling.Samples, "sample", "samples"))
		a.say("sample longer with --for, or while the program is at work; --wall sees methods that wait, too")
		return nil
	}
	rows := [][]string{{"SHARE", "95 %", "ENTRIES/S", "CALLS/S", "PRICE", "BELOW", "ROOT"}}
	for _, s := range roots {
		rows = append(rows, []string{
			fmt.Sprintf("%.1f %%", 100*s.Share), fmt.Sprintf("%.1f to %.1f %%", 100*s.Low, 100*s.High),
			"≥ " + rate(s.Rate), "≥ " + rate(s.Calls), string(s.Price),
			fmt.Sprintf("%d methods, %d classes, %d levels", s.Methods, s.Classes, s.Depth), s.Name(),
		})
	}
	if err := writeRows(a.stdout, rows, tableWidth(a.stdout)); err != nil {
		return err
	}
	if _, err := strconv.Atoi(arg); err == nil {
		_, err := io.WriteString(a.stdout, "\nrecord one exactly: rivulet profile "+arg+" --root "+shellWord(roots[0].Name())+" --for 10s\n")
		return err
	}
	return nil
}

// rate writes a number a second.
func rate(v float64) string {
	if v < 10 {
		return fmt.Sprintf("%.1f", v)
	}
	return export.Count(int64(v))
}

type jsonSuggestions struct {
	Schema   int              `json:"schema"`
	Kind     string           `json:"kind"`
	Target   jsonJVM          `json:"target"`
	Sampling *export.Sampling `json:"sampling"`
	Roots    []jsonSuggestion `json:"roots"`
	Notes    []string         `json:"notes"`
}

type jsonJVM struct {
	PID  int    `json:"pid"`
	Java string `json:"java"`
	VM   string `json:"vm"`
	Main string `json:"main"`
}

type jsonSuggestion struct {
	Root    string  `json:"root"`
	Method  string  `json:"method"` // with its descriptor
	Samples int64   `json:"samples"`
	Share   float64 `json:"share"`
	Low     float64 `json:"share_low"`
	High    float64 `json:"share_high"`
	Time    int64   `json:"time_ns"`
	Entries int64   `json:"entries"`
	Rate    float64 `json:"entries_per_second"`
	Calls   float64 `json:"calls_per_second"` // at least
	Fresh   float64 `json:"fresh_share"`
	Price   string  `json:"price"`
	Charge  float64 `json:"core_share"` // at least
	Methods int     `json:"methods"`
	Classes int     `json:"classes"`
	Depth   int     `json:"depth"`
	Own     bool    `json:"own"`
	Library bool    `json:"framework"` // of a framework's, by the documented list or --app
}

func suggestionsJSON(r *export.Report, roots []suggest.Root) jsonSuggestions {
	out := jsonSuggestions{
		Schema: export.Schema, Kind: "suggestions", Target: jsonJVM(r.Target), Sampling: r.Sampling,
		Roots: []jsonSuggestion{}, Notes: append([]string{}, r.Notes...),
	}
	for _, s := range roots {
		out.Roots = append(out.Roots, jsonSuggestion{
			Root: s.Name(), Method: s.Method.Name, Samples: s.Samples, Share: thousandths(s.Share), Low: thousandths(s.Low), High: thousandths(s.High),
			Time: s.Time, Entries: s.Entries, Rate: thousandths(s.Rate), Calls: thousandths(s.Calls), Fresh: thousandths(s.Fresh), Price: string(s.Price),
			Charge: s.Charge(), Methods: s.Methods, Classes: s.Classes, Depth: s.Depth, Own: s.Own, Library: s.Framework,
		})
	}
	return out
}

func thousandths(v float64) float64 { return float64(int64(v*1000+0.5)) / 1000 }

// shellWord quotes a name as shells need it.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-/", r)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
