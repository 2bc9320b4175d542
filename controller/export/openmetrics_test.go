package export_test

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/history"
)

// measured is a report with a history: 3 root calls of 100 ns, 200 ns and 200 s.
func measured() *export.Report {
	r := withEvents()
	r.Target.Main = `a "main"`
	r.History = &history.History{
		Steps: []history.Step{
			{Took: 5e8, RootCalls: 1, Ended: 1, P99: 200, CPU: 3e8, GC: -1, GCs: 2, Classes: 7},
			{From: 5e8, Took: 5e8, RootCalls: 2, Ended: 1, P99: 4e8, CPU: 1e8, GC: 1e6, GCs: 1},
		},
		Times: &history.Times{Count: 3, Of: 3, Mean: 100, P50: 200, P90: 3e9, P99: 4e9, P999: 5e9, Buckets: [][3]int64{{0, 128, 1}, {192, 208, 1}, {1 << 37, 0, 1}}},
	}
	return r
}

// sample is a line of the format: name, labels, value.
var sample = regexp.MustCompile(`^([a-z_0-9]+)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)+)\})? (\S+)$`)

// families reads the format strictly: each family's samples follow its type, by the names that
// its kind has, no series is there twice, and the end is where it should be.
func families(t *testing.T, text string) map[string]float64 {
	t.Helper()
	suffixes := map[string][]string{"counter": {"_total"}, "gauge": {""}, "histogram": {"_bucket", "_count", "_sum"}}
	out, seen := map[string]float64{}, map[string]bool{}
	name, kind := "", ""
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		f := strings.Fields(line)
		switch {
		case line == "# EOF":
			if i != len(lines)-1 {
				t.Error("an end in the middle")
			}
		case strings.HasPrefix(line, "# TYPE "):
			if name, kind = f[2], f[3]; seen[name] {
				t.Errorf("family %s is there twice", name)
			}
			seen[name] = true
		case strings.HasPrefix(line, "# HELP "):
			if f[2] != name {
				t.Errorf("help of %s after the type of %s", f[2], name)
			}
		default:
			m := sample.FindStringSubmatch(line)
			if m == nil {
				t.Errorf("no sample: %q", line)
				continue
			}
			ok := false
			for _, s := range suffixes[kind] {
				ok = ok || m[1] == name+s
			}
			v, err := strconv.ParseFloat(m[3], 64)
			key := m[1] + "{" + m[2] + "}"
			if _, twice := out[key]; !ok || err != nil || twice {
				t.Errorf("%q in %s %s: %v, twice %t", line, kind, name, err, twice)
			}
			out[key] = v
		}
	}
	return out
}

// TestOpenMetrics has a report's figures in the format.
func TestOpenMetrics(t *testing.T) {
	var b bytes.Buffer
	r := measured()
	if err := r.OpenMetrics(&b, true); err != nil {
		t.Fatal(err)
	}
	got := families(t, b.String())
	if !strings.HasSuffix(b.String(), "\n# EOF\n") {
		t.Error("no end")
	}
	jvm := `main="a \"main\"",pid="4711"`
	for key, want := range map[string]float64{
		"rivulet_root_call_seconds_bucket{" + jvm + `,le="1.28e-07"}`:       1,
		"rivulet_root_call_seconds_bucket{" + jvm + `,le="2.56e-07"}`:       2,
		"rivulet_root_call_seconds_bucket{" + jvm + `,le="137.438953472"}`:  2,
		"rivulet_root_call_seconds_bucket{" + jvm + `,le="+Inf"}`:           3,
		"rivulet_root_call_seconds_count{" + jvm + "}":                      3,
		"rivulet_root_call_seconds_sum{" + jvm + "}":                        300e-9,
		"rivulet_root_call_percentile_seconds{" + jvm + `,percentile="99"}`: 4,
		"rivulet_recent_root_calls_per_second{" + jvm + "}":                 4,
		"rivulet_recent_root_call_p99_seconds{" + jvm + "}":                 0.4,
		"rivulet_cpu_seconds_total{" + jvm + "}":                            0.4,
		"rivulet_gc_pause_seconds_total{" + jvm + "}":                       0.001,
		"rivulet_gcs_total{" + jvm + "}":                                    3,
		"rivulet_redefined_classes_total{" + jvm + "}":                      7,
	} {
		if v, ok := got[key]; !ok || v != want {
			t.Errorf("%s is %v, %t; want %v", key, v, ok, want)
		}
	}
	methods := 0
	for key := range got {
		if name, _, _ := strings.Cut(key, "{"); !export.OpenMetricsOwn(strings.NewReplacer("_total", "", "_bucket", "_", "_sum", "_", "_count", "_").Replace(name)) {
			t.Errorf("scripts could emit %s, too", key)
		}
		if strings.HasPrefix(key, "rivulet_method_calls_total{") {
			methods++
		}
	}
	if methods == 0 || methods > export.MetricMethods {
		t.Errorf("%d methods", methods)
	}
	b.Reset()
	if err := (&export.Report{}).OpenMetrics(&b, false); err != nil || strings.Contains(b.String(), "EOF") || strings.Contains(b.String(), "percentile") {
		t.Errorf("%v of an empty report: %s", err, b.String())
	}
	families(t, b.String())
}
