package event

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// spanWords are a span as the target writes it.
func spanWords(high, low, id uint64, mark int) string {
	var b strings.Builder
	for _, part := range []struct {
		n    uint64
		mark int
	}{{high, wire.MarkTraceHigh}, {low, wire.MarkTraceLow}, {id, mark}} {
		fmt.Fprintf(&b, "belong %d\ncharge %d +%d\n", int64(part.n)>>wire.KindBits, part.mark, part.n&kindMask)
	}
	return b.String()
}

// TestSpanWords: a root invocation has the span that its stream names, each bit of it, and the
// next one has none of that; the words take no time. Only the first span counts.
func TestSpanWords(t *testing.T) {
	high, low, id := uint64(0xfedcba9876543210), uint64(0x8000000000000001), uint64(0xf0f0f0f0f0f0f0ff)
	words, err := Parse("thread 7\nroot 1000\n" + spanWords(high, low, id, wire.MarkSpan) + "enter 1 +0\nenter 2 +5\n" + spanWords(1, 2, 3, wire.MarkSpanWithin) + "exit 2 +10\nexit 1 +5\n" +
		"root 2000\nenter 1 +0\n" + spanWords(1, 2, 3, wire.MarkSpanWithin) + spanWords(4, 5, 6, wire.MarkSpanWithin) + "exit 1 +30\n" +
		"root 3000\nenter 1 +0\nexit 1 +10\n")
	if err != nil {
		t.Fatal(err)
	}
	b := NewBuilder()
	b.Slowest, b.Timeline = NewSlowest(10, 0), NewTimeline(100)
	b.Take(0, words)
	kept, _ := b.SlowestSoFar()
	var got []string
	for _, i := range kept {
		got = append(got, fmt.Sprintf("%d %q %q %t", i.Took, i.Span.TraceID(), i.Span.SpanID(), i.Span.Within))
	}
	want := []string{
		`30 "00000000000000010000000000000002" "0000000000000003" true`,
		`20 "fedcba98765432108000000000000001" "f0f0f0f0f0f0f0ff" false`,
		`10 "" "" false`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || b.Bad() != 0 {
		t.Errorf("%d bad words, and\n%s\nwant\n%s", b.Bad(), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	slices, _, _ := b.Slices()
	of := map[string]int{}
	for _, s := range slices {
		if s.Span != nil {
			of[fmt.Sprint(s.Method, s.Span.SpanID())]++
		}
	}
	if len(of) != 2 || of["1f0f0f0f0f0f0f0ff"] != 1 || of["10000000000000003"] != 1 {
		t.Errorf("spans of slices: %v", of)
	}
}

// TestParseSpan reads what a span says of itself, and nothing else.
func TestParseSpan(t *testing.T) {
	s := Span{Trace: [16]byte{1, 15: 0xff}, ID: [8]byte{7: 9}}
	if got, ok := ParseSpan(s.TraceID(), s.SpanID()); !ok || got != s {
		t.Errorf("read %+v, %t; want %+v", got, ok, s)
	}
	for _, bad := range [][2]string{{"", ""}, {s.TraceID(), ""}, {s.TraceID(), "00"}, {s.TraceID(), "000000000000000g"}, {s.TraceID(), "0000000000000000"}, {s.TraceID()[1:], s.SpanID()}} {
		if got, ok := ParseSpan(bad[0], bad[1]); ok || got.Known() {
			t.Errorf("%q makes %+v", bad, got)
		}
	}
}
