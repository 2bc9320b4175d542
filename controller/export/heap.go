package export

import (
	"fmt"
	"math"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// A HeapSampling says how allocations were sampled beside a recording, by the JVM itself
// (jdk.ObjectAllocationSample).
type HeapSampling struct {
	Samples  int64 `json:"samples"`  // inside, that contexts have
	Bytes    int64 `json:"bytes"`    // that these stand for
	Outside  int64 `json:"outside"`  // not below the roots
	Unplaced int64 `json:"unplaced"` // whose outermost frames JFR had cut off, and that fit several contexts
}

func (h *HeapSampling) plus(o *HeapSampling) *HeapSampling {
	if h == nil || o == nil {
		if h == nil {
			h = o
		}
		return h
	}
	return &HeapSampling{h.Samples + o.Samples, h.Bytes + o.Bytes, h.Outside + o.Outside, h.Unplaced + o.Unplaced}
}

// jsonHeap is a sample of the heap in a report.
type jsonHeap struct {
	Type    string `json:"type"`
	Via     string `json:"via"`
	Samples int64  `json:"samples"`
	Bytes   int64  `json:"bytes"`
}

// heap writes what samples of the heap have met in a context or method.
func (w *jsonWriter) heap(list []cct.HeapSample) {
	if w.report.Heap == nil || len(list) == 0 {
		return
	}
	w.text(`,"heap_samples":[`)
	for i, s := range cct.SortedHeap(list) {
		if i > 0 {
			w.text(",")
		}
		w.text(`{"type":`)
		w.bytes(quote(s.Type))
		if s.Via != "" {
			w.text(`,"via":`)
			w.bytes(quote(s.Via))
		}
		w.field("samples", s.Samples)
		w.field("bytes", s.Bytes)
		w.text("}")
	}
	w.text("]")
}

// readHeap gives a node what was read.
func readHeap(n *cct.Node, list []jsonHeap) {
	for _, s := range list {
		if s.Type != "" && s.Samples > 0 && s.Bytes >= 0 {
			n.Details().Heap = cct.AddHeap(n.Heap(), cct.HeapSample(s))
		}
	}
}

// onHeap adds up by type what the contexts' own code has on the heap.
func onHeap(roots []*cct.Node) map[string]cct.HeapSample {
	sums := map[string]cct.HeapSample{}
	for _, s := range cct.HeapOf(roots) {
		if s.Via == "" {
			sums[s.Type] = s.HeapSample
		}
	}
	return sums
}

// estimatedBytes are bytes with the share by which they may be off, with a probability of 95 %
// (1.96 by the square root of the samples).
func estimatedBytes(s cct.HeapSample) string {
	if s.Samples == 0 {
		return "~0"
	}
	off := math.Ceil(196 / math.Sqrt(float64(s.Samples)))
	if off > 100 {
		return "~" + Bytes(s.Bytes) + " ± > 100 %"
	}
	return fmt.Sprintf("~%s ±%.0f %%", Bytes(s.Bytes), off)
}

// heap writes the table of what methods without probes have allocated for the contexts.
func (t *textWriter) heap() {
	h := t.report.Heap
	if h == nil {
		return
	}
	t.section("On the heap for callees without probes, estimated")
	var all, below int64
	var rows []cct.HeapSum
	for _, s := range cct.HeapOf(t.snapshot.Roots()) {
		if all += s.Bytes; s.Via != "" {
			below += s.Bytes
			rows = append(rows, s)
		}
	}
	shown := rows
	if t.o.Top > 0 && len(shown) > t.o.Top {
		shown = shown[:t.o.Top]
	}
	table := table{head: []string{"bytes", "share", "call paths", "type, and who allocates it"}}
	for _, s := range shown {
		table.add(Clean(s.Type)+"  by "+Clean(shortName(s.Via)), "", estimatedBytes(s.HeapSample), share(s.Bytes, all), Count(s.Contexts))
	}
	table.write(&t.sink, t.o.Color, t.o.Width)
	t.printf("~ estimated by %s of the heap inside (%s); shares are of all that they stand for, %s by callees without probes. What is allocated and not on the heap, the compiler has removed\n",
		Plural(h.Samples, "sample", "samples"), Bytes(h.Bytes), Bytes(below))
	if h.Unplaced > 0 {
		t.printf("%s left out: Flight Recorder had cut off the outer frames (-XX:FlightRecorderOptions=stackdepth=256)\n", Plural(h.Unplaced, "sample is", "samples are"))
	}
}
