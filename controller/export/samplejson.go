package export

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// sampleHead is everything before "flat" and "tree" in a report of samples.
type sampleHead struct {
	Schema   int        `json:"schema"`
	Kind     string     `json:"kind"`
	Target   jsonTarget `json:"target"`
	Seconds  float64    `json:"seconds"`
	Ended    string     `json:"ended"`
	Sampling *Sampling  `json:"sampling"`
	Notes    []string   `json:"notes"`

	Processes []Process      `json:"processes,omitempty"`
	Outliers  []Outlier      `json:"outliers,omitempty"`
	Threads   []sampleThread `json:"threads"`
}

// A sampleThread has as many entries of "tree" as Trees says, in order.
type sampleThread struct {
	Name    string `json:"thread"`
	ID      int64  `json:"thread_id"`
	Shared  bool   `json:"shared,omitempty"`
	Samples int64  `json:"samples"`
	Total   int64  `json:"total_ns"`
	Trees   int    `json:"trees"`
}

// sampleJSON is [Report.JSON] of a report that is made of samples.
func (r *Report) sampleJSON(w io.Writer, o JSONOptions) error {
	f := r.figures()
	h := r.sampleHead(f)
	begin, err := marshal(h, " ")
	if err != nil {
		return fmt.Errorf("json report: %w", err)
	}
	out := sampleWriter{jsonWriter: jsonWriter{sink: sink{w: w}, depth: o.Depth, names: map[int32][]byte{}, loaders: r.ambiguous(f.flat), report: r}}
	roots := f.snapshot.Roots()
	out.sums, out.all, out.time = cct.SampleTotals(roots), f.sums.Samples, f.sums.Self
	out.bytes(bytes.TrimSuffix(begin, []byte("\n}")))
	totals := totalSamples(roots)
	out.lists(f, func(e cct.Flat) { out.flat(e, totals[e.Method]) }, out.tree)
	out.text("\n}\n")
	if err := out.flush(); err != nil {
		return fmt.Errorf("json report: %w", err)
	}
	return nil
}

// sampleHead is everything before the methods and trees.
func (r *Report) sampleHead(f figures) sampleHead {
	h := sampleHead{
		Schema: Schema, Kind: sampleKind, Target: jsonTarget(r.Target), Seconds: r.Time.Seconds(), Ended: r.Ended,
		Sampling: r.Sampling, Notes: some(r.Notes), Processes: r.Processes, Outliers: r.Outliers(), Threads: []sampleThread{},
	}
	for _, t := range f.threads {
		sum := cct.Sum(t.Roots)
		h.Threads = append(h.Threads, sampleThread{t.Name, t.ID, t.Shared, sum.Samples, sum.Self, len(t.Roots)})
	}
	return h
}

type sampleWriter struct {
	jsonWriter
	sums map[*cct.Node]cct.Sample
	all  int64 // samples
	time int64 // ns that they stand for
}

func (w *sampleWriter) flat(e cct.Flat, total int64) {
	w.text(`{"method":`)
	w.bytes(w.name(e.Method))
	w.text(`,"loader":`)
	w.bytes(quote(w.report.Method(e.Method).Loader))
	w.figures(e.Sample, total, e.Calls, e.Self, e.Total)
	w.share("self", e.Self)
	w.share("total", e.Total)
	w.source(e.Method)
	w.processes(e.Method)
	w.text("}")
}

// figures are those that methods and contexts have.
func (w *sampleWriter) figures(s cct.Sample, total, entries, self, totalTime int64) {
	w.field("self_samples", s.Count)
	w.field("total_samples", total)
	w.field("entries", entries)
	if s.Unsure > 0 {
		w.field("entries_unsure", s.Unsure)
	}
	w.field("self_ns", self)
	w.field("total_ns", totalTime)
	if s.Ran != self {
		w.field("ran_ns", s.Ran)
	}
	w.statesAndLines(&s)
}

// statesAndLines writes what was kept of them.
func (w *jsonWriter) statesAndLines(s *cct.Sample) {
	if len(s.States) > 0 {
		w.text(`,"states":{`)
		first := true
		for i, n := range s.States {
			if n > 0 && i < len(StateNames) {
				if !first {
					w.text(",")
				}
				first = false
				w.bytes(quote(StateNames[i]))
				w.text(":")
				w.number(n)
			}
		}
		w.text("}")
	}
	if len(s.Lines) > 0 {
		w.text(`,"lines":[`)
		for i, l := range s.Lines {
			if i > 0 {
				w.text(",")
			}
			w.text("[")
			w.number(int64(l.Line))
			w.text(",")
			w.number(l.Count)
			w.text("]")
		}
		w.text("]")
	}
}

// share writes a share of the time with its interval.
func (w *sampleWriter) share(of string, ns int64) {
	if w.all == 0 || w.time == 0 {
		return
	}
	low, high := shareOf(ns, w.time, w.all)
	w.text(fmt.Sprintf(`,"%s_share":%v,"%s_share_low":%v,"%s_share_high":%v`, of, short(float64(ns)/float64(w.time)), of, short(low), of, short(high)))
}

func short(share float64) float64 { return math.Round(share*1e5) / 1e5 }

func (w *sampleWriter) tree(t *cct.Thread, root *cct.Node) {
	sibling := false // whether the next node has one before it
	cct.Walk([]*cct.Node{root}, func(n *cct.Node, depth int) bool {
		if sibling {
			w.text(",")
		}
		sibling = false
		w.text(`{"method":`)
		w.bytes(w.name(n.Method))
		if loader := w.report.Method(n.Method).Loader; w.loaders[n.Method] && loader != "" {
			w.text(`,"loader":`)
			w.bytes(quote(loader))
		}
		if depth == 0 {
			w.text(`,"thread":`)
			w.bytes(quote(t.Name))
			w.field("thread_id", t.ID)
			w.flag("shared", t.Shared)
		}
		var s cct.Sample
		if n.Sample() != nil {
			s = *n.Sample()
		}
		w.figures(s, w.sums[n].Count, n.Calls, n.Self, n.Total)
		w.parts(n)
		cut := w.depth > 0 && depth+1 >= w.depth && len(n.Children) > 0
		if cut {
			sum := cct.Sum(n.Children)
			w.text(`,"below":{"nodes":`)
			w.number(sum.Nodes)
			w.field("calls", sum.Calls)
			w.field("self_ns", sum.Self)
			w.field("samples", w.sums[n].Count-s.Count)
			w.text("}")
		}
		w.text(`,"children":[`)
		return !cut
	}, func(*cct.Node, int) {
		w.text("]}")
		sibling = true
	})
}

// readStates reads the field "states".
func readStates(of map[string]int64) []int64 {
	if len(of) == 0 {
		return nil
	}
	out := make([]int64, len(StateNames))
	for i, name := range StateNames {
		out[i] = of[name]
	}
	return out
}

// readLines reads the field "lines".
func readLines(pairs [][2]int64) []cct.Line {
	var out []cct.Line
	for _, p := range pairs {
		if p[0] > 0 && p[0] <= math.MaxInt32 && p[1] > 0 {
			out = append(out, cct.Line{Line: int32(p[0]), Count: p[1]})
		}
	}
	cct.SortLines(out)
	return out
}
