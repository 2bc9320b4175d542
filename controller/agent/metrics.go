package agent

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// mostSeries bounds the metrics that scripts emit.
const mostSeries = 10_000

var (
	familyName = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)
	labelName  = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)
)

// Metrics are the last values of what scripts emit. Safe for concurrent use.
type Metrics struct {
	mu       sync.Mutex
	families map[string]*family
	series   int
}

type family struct {
	kind, help string
	values     map[string]float64 // by labels, as they are written
}

// label is a label's name and value.
type label struct{ name, value string }

// set takes note of a value. kind is "gauge" or "counter".
func (m *Metrics) set(name, kind, help string, labels []label, value float64) error {
	if !familyName.MatchString(name) {
		return fmt.Errorf("%q can't be a metric's name: letters, digits, _ and :, no digit first", name)
	}
	if export.OpenMetricsOwn(strings.TrimSuffix(name, "_total")) {
		return fmt.Errorf("%s is a metric of Rivulet's own; choose another name", name)
	}
	if kind != "gauge" && kind != "counter" {
		return fmt.Errorf("a metric of kind %q: there are gauge and counter", kind)
	}
	if kind == "counter" {
		name = strings.TrimSuffix(name, "_total")
		if value < 0 || math.IsNaN(value) {
			return fmt.Errorf("%s is a counter, and can't be %v", name, value)
		}
	}
	slices.SortFunc(labels, func(a, b label) int { return cmp.Compare(a.name, b.name) })
	var key strings.Builder
	for i, l := range labels {
		if !labelName.MatchString(l.name) || strings.HasPrefix(l.name, "__") {
			return fmt.Errorf("%q can't be a label's name: letters, digits and _, no digit first", l.name)
		}
		if i > 0 {
			key.WriteByte(',')
		}
		key.WriteString(l.name + `="` + escape(l.value) + `"`)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.families[name]
	if f == nil {
		f = &family{kind: kind, values: map[string]float64{}}
		if m.families == nil {
			m.families = map[string]*family{}
		}
		m.families[name] = f
	}
	if f.kind != kind {
		return fmt.Errorf("%s is a %s already", name, f.kind)
	}
	f.help = cmp.Or(help, f.help)
	if _, ok := f.values[key.String()]; !ok {
		if m.series++; m.series > mostSeries {
			return fmt.Errorf("more than %d metrics", mostSeries)
		}
	}
	f.values[key.String()] = value
	return nil
}

var escaper = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

func escape(s string) string { return escaper.Replace(strings.ToValidUTF8(s, "?")) }

// WriteTo writes the metrics in the OpenMetrics text format, by name. Nothing but its end
// is written of a nil one.
func (m *Metrics) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	if m != nil {
		m.mu.Lock()
		for _, name := range sortedKeys(m.families) {
			f := m.families[name]
			fmt.Fprintf(&b, "# TYPE %s %s\n", name, f.kind)
			if f.help != "" {
				fmt.Fprintf(&b, "# HELP %s %s\n", name, escape(f.help))
			}
			sample := name
			if f.kind == "counter" {
				sample += "_total"
			}
			for _, key := range sortedKeys(f.values) {
				b.WriteString(sample)
				if key != "" {
					b.WriteString("{" + key + "}")
				}
				b.WriteString(" " + number(f.values[key]) + "\n")
			}
		}
		m.mu.Unlock()
	}
	b.WriteString("# EOF\n")
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

// number writes a value as OpenMetrics has it.
func number(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "+Inf"
	case math.IsInf(v, -1):
		return "-Inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
