package export_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// timing makes a report with a method of a thousand invocations, 1 to 1000 µs,
// one of which nothing was recorded, and two of one name.
func timing() *export.Timing {
	times := map[int64]int64{}
	total := int64(0)
	for us := int64(1); us <= 1000; us++ {
		times[us*1000] = 1
		total += us * 1000
	}
	process := export.Timed{Method: "shop.Orders.process(Lshop/Order;)V", Loader: "app", Count: 1000, Thrown: 3, Measured: total}
	process.Fill(1000, 1000000, 24.6, maps.All(times))
	short := export.Timed{Method: "shop.Price.of(I)J", Loader: "app", Count: 4, Measured: 90}
	short.Fill(20, 30, 24.6, maps.All(map[int64]int64{20: 3, 30: 1}))
	other := export.Timed{Method: "shop.Price.of(J)J", Loader: "app", Count: 1, Measured: math.MaxInt64 / 2}
	other.Fill(math.MaxInt64/2, math.MaxInt64/2, 24.6, maps.All(map[int64]int64{math.MaxInt64 / 2: 1}))
	pause := 9100 * time.Microsecond
	return &export.Timing{
		Target: export.Target{PID: 4711, Java: "17.0.15", VM: "OpenJDK 64-Bit Server VM", Main: "shop.Main"},
		Time:   10 * time.Second, Ended: "stopped", Notes: []string{"A note\x1b."},
		Timer:   &export.Timer{Inner: 24.6, Call: 48.5, Spread: 0.4, Batches: 60},
		Methods: []export.Timed{short, process, other, {Method: "shop.Idle.run()V", Loader: "app"}},
		Refused: 7, Skipped: []export.Skipped{{Method: "shop.Native.sync()V", Reason: "native"}},
		Redefinition: export.Redefinition{Batches: 1, Classes: 3, Time: 12345678, LongestPause: &pause},
	}
}

func TestTimingForms(t *testing.T) {
	for name, form := range map[string]func(*bytes.Buffer) error{
		"timing.json": func(b *bytes.Buffer) error { return timing().JSON(b) },
		"timing.txt":  func(b *bytes.Buffer) error { return timing().Text(b, false) },
		"timing-empty.json": func(b *bytes.Buffer) error {
			return (&export.Timing{}).JSON(b)
		},
		"timing-empty.txt": func(b *bytes.Buffer) error { return (&export.Timing{}).Text(b, true) },
	} {
		var b bytes.Buffer
		if err := form(&b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), b.String()); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
	if err := timing().JSON(full{}); !errors.Is(err, errFull) {
		t.Error(err)
	}
	if err := timing().Text(full{}, false); !errors.Is(err, errFull) {
		t.Error(err)
	}
}

// TestHDR reads the histogram that the JSON form carries as other tools do.
func TestHDR(t *testing.T) {
	var b bytes.Buffer
	if err := timing().JSON(&b); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Methods []struct {
			Count int64
			P90   int64 `json:"p90_ns"`
			HDR   *string
		}
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	for _, m := range doc.Methods {
		if m.Count == 0 {
			if m.HDR != nil {
				t.Error("a histogram of nothing")
			}
			continue
		}
		h, err := hdrhistogram.Decode([]byte(*m.HDR))
		if err != nil {
			t.Fatal(err)
		}
		if got := h.ValueAtPercentile(90); h.TotalCount() != m.Count || math.Abs(float64(got-m.P90)) > 0.001*float64(m.P90)+1 {
			t.Errorf("%d values, p90 %d; want %d, %d", h.TotalCount(), got, m.Count, m.P90)
		}
	}
}
