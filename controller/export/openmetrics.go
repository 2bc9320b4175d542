package export

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/history"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// MetricMethods is how many methods [Report.OpenMetrics] has: more would be as many
// series at whoever keeps them.
const MetricMethods = 20

// OpenMetricsOwn tells whether a name is that of a family of [Report.OpenMetrics], or may be one.
func OpenMetricsOwn(name string) bool {
	return slices.Contains([]string{
		"rivulet_recording", "rivulet_seconds", "rivulet_samples", "rivulet_calls", "rivulet_root_calls", "rivulet_open_root_calls", "rivulet_suspended_seconds",
		"rivulet_cpu_seconds", "rivulet_gc_pause_seconds", "rivulet_gcs", "rivulet_redefined_classes",
	}, name) || strings.HasPrefix(name, "rivulet_root_call_") || strings.HasPrefix(name, "rivulet_recent_") || strings.HasPrefix(name, "rivulet_method_")
}

// openMetrics is a text of families.
type openMetrics struct {
	b      strings.Builder
	labels string // of every series: `main="shop.Main",pid="4711"`
}

func (m *openMetrics) family(name, kind, help string) {
	fmt.Fprintf(&m.b, "# TYPE %s %s\n# HELP %s %s\n", name, kind, name, help)
}

// series writes one value; label is "" or `name="value"`, escaped.
func (m *openMetrics) series(name, label string, v float64) {
	labels := m.labels
	if label != "" {
		labels = strings.TrimPrefix(labels+","+label, ",")
	}
	m.b.WriteString(name)
	if labels != "" {
		m.b.WriteString("{" + labels + "}")
	}
	m.b.WriteString(" " + strconv.FormatFloat(v, 'g', -1, 64) + "\n")
}

// counter and gauge are families with one series.
func (m *openMetrics) counter(name, help string, v float64) {
	m.family(name, "counter", help)
	m.series(name+"_total", "", v)
}

func (m *openMetrics) gauge(name, help string, v float64) {
	m.family(name, "gauge", help)
	m.series(name, "", v)
}

func metricLabel(name, value string) string {
	return name + `="` + strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(Clean(strings.ToValidUTF8(value, "?"))) + `"`
}

const perSecond = 1e9 // ns

// OpenMetrics writes rates and percentiles in the OpenMetrics text format, with its end
// where end is true. What is not known is absent. Counters begin at 0 with each recording. The
// error is the writer's.
func (r *Report) OpenMetrics(w io.Writer, end bool) error {
	m := openMetrics{}
	var labels []string
	if r.Target.Main != "" {
		labels = append(labels, metricLabel("main", r.Target.Main))
	}
	if r.Target.PID > 0 {
		labels = append(labels, metricLabel("pid", strconv.Itoa(r.Target.PID)))
	}
	m.labels = strings.Join(labels, ",")
	f := r.figures()
	m.gauge("rivulet_seconds", "How long the JVM has been recorded, or sampled.", r.Time.Seconds())
	if r.Sampling != nil {
		m.counter("rivulet_samples", "Samples that were taken.", float64(r.Sampling.Samples))
	} else {
		m.counter("rivulet_calls", "Calls of recorded methods, the roots included.", float64(f.sums.Calls))
		m.counter("rivulet_root_calls", "Root calls that began.", float64(f.invocations))
		m.gauge("rivulet_open_root_calls", "Root calls that have not ended.", float64(f.open))
		m.counter("rivulet_suspended_seconds", "Time for which Rivulet made threads wait during root calls, in no other figure.", float64(f.suspended)/perSecond)
	}
	m.history(r.History)
	m.methods(r, f.flat)
	if end {
		m.b.WriteString("# EOF\n")
	}
	if _, err := io.WriteString(w, m.b.String()); err != nil {
		return fmt.Errorf("openmetrics: %w", err)
	}
	return nil
}

// history writes how root calls and the program went.
func (m *openMetrics) history(h *history.History) {
	if h == nil {
		return
	}
	if t := h.Times; t != nil && t.Count > 0 {
		m.family("rivulet_root_call_seconds", "histogram", "How long root calls took, without what Rivulet made them wait.")
		m.buckets(t)
		m.family("rivulet_root_call_percentile_seconds", "gauge", "How long root calls of the whole recording took, within 6 %.")
		for _, p := range []struct {
			name string
			ns   int64
		}{{"50", t.P50}, {"90", t.P90}, {"99", t.P99}, {"99.9", t.P999}} {
			m.series("rivulet_root_call_percentile_seconds", metricLabel("percentile", p.name), float64(p.ns)/perSecond)
		}
	}
	if n := len(h.Steps); n > 0 && h.Steps[n-1].Took > 0 {
		last := h.Steps[n-1]
		if last.RootCalls >= 0 {
			m.gauge("rivulet_recent_root_calls_per_second", "Root calls that began in the last step of the history.", float64(last.RootCalls)*perSecond/float64(last.Took))
		}
		if last.Ended > 0 && last.P99 >= 0 {
			m.gauge("rivulet_recent_root_call_p99_seconds", "The 99th percentile of root calls that ended in the last step of the history.", float64(last.P99)/perSecond)
		}
	}
	for _, c := range []struct {
		name, help string
		unit       float64
		of         func(history.Step) int64
	}{
		{"rivulet_cpu_seconds", "Time of the program's threads on a core.", perSecond, func(s history.Step) int64 { return s.CPU }},
		{"rivulet_gc_pause_seconds", "Pauses of the garbage collector.", perSecond, func(s history.Step) int64 { return s.GC }},
		{"rivulet_gcs", "Garbage collections.", 1, func(s history.Step) int64 { return s.GCs }},
		{"rivulet_redefined_classes", "Classes that were redefined, by Rivulet.", 1, func(s history.Step) int64 { return s.Classes }},
	} {
		sum, known := int64(0), false
		for _, s := range h.Steps {
			if v := c.of(s); v >= 0 {
				sum, known = sum+v, true
			}
		}
		if known {
			m.counter(c.name, c.help, float64(sum)/c.unit)
		}
	}
}

// buckets writes root calls by their times, with a bound at each power of two ns from 128 on, always the
// same ones.
func (m *openMetrics) buckets(t *history.Times) {
	const first, last = 7, 37
	at, sum := 0, int64(0)
	for power := first; power <= last; power++ {
		for at < len(t.Buckets) && t.Buckets[at][1] > 0 && t.Buckets[at][1] <= 1<<power {
			sum += t.Buckets[at][2]
			at++
		}
		m.series("rivulet_root_call_seconds_bucket", metricLabel("le", strconv.FormatFloat(float64(int64(1)<<power)/perSecond, 'g', -1, 64)), float64(sum))
	}
	m.series("rivulet_root_call_seconds_bucket", `le="+Inf"`, float64(t.Count))
	m.series("rivulet_root_call_seconds_count", "", float64(t.Count))
	m.series("rivulet_root_call_seconds_sum", "", float64(t.Count)*float64(t.Mean)/perSecond)
}

// methods writes those with most self time.
func (m *openMetrics) methods(r *Report, flat []cct.Flat) {
	if len(flat) == 0 {
		return
	}
	flat = slices.Clone(flat)
	slices.SortStableFunc(flat, func(a, b cct.Flat) int { return cmp.Compare(b.Self, a.Self) })
	var labels []string
	var of []cct.Flat
	for _, f := range flat[:min(len(flat), MetricMethods)] {
		k := r.Method(f.Method)
		label := metricLabel("method", k.Name) + "," + metricLabel("loader", k.Loader)
		if !slices.Contains(labels, label) {
			labels, of = append(labels, label), append(of, f)
		}
	}
	m.family("rivulet_method_self_seconds", "counter", fmt.Sprintf("Self time of the %d methods with most of it.", MetricMethods))
	for i, f := range of {
		m.series("rivulet_method_self_seconds_total", labels[i], float64(max(f.Self, 0))/perSecond)
	}
	if r.Sampling != nil {
		return
	}
	m.family("rivulet_method_calls", "counter", "Calls of these methods.")
	for i, f := range of {
		m.series("rivulet_method_calls_total", labels[i], float64(f.Calls))
	}
	for _, row := range r.metrics().All() {
		name, kind, suffix := "rivulet_method_"+row.Name, "counter", "_total"
		if row.Merge != metric.Sum {
			kind, suffix = "gauge", ""
		}
		m.family(name, kind, Clean(row.Title)+", of these methods with all that they call.")
		for i, f := range of {
			if f.Counts == nil {
				continue
			}
			if at := f.Counts.Table.Index(row.Name); at >= 0 {
				m.series(name+suffix, labels[i], float64(f.Counts.Total[at]))
			}
		}
	}
}
