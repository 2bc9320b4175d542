package cli

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/session"
)

// TestPageRecording has the page ask for what the command line can, and for what
// makes no sense.
func TestPageRecording(t *testing.T) {
	s := liveSession{base: session.Recording{Natives: "off", Probes: "inlined", Fold: true, Warmup: time.Second}}
	got, err := s.recording(live.Recording{
		Roots: []string{"shop.Price::of"}, Scheme: "A", Clock: "precise", UntilCalls: 3, Wait: true, Natives: "all", Recursion: "expand", Probes: "called",
		Filter: []string{"--jdk", "--exclude shop.log.**"}, Warmup: "500", Slowest: 20, Over: "50ms", Follow: true,
	})
	rules := got.Filter.Strings()
	got.Filter.Rules, got.Filter.JDK = nil, false
	want := session.Recording{
		Roots: []string{"shop.Price.of"}, Scheme: "A", Clock: "precise", UntilCalls: 3, Wait: true, Natives: "all", Probes: "called",
		WarmupCalls: 500, Slowest: 20, Over: 50 * time.Millisecond, Follow: true,
	}
	if err != nil || !reflect.DeepEqual(got, want) || !reflect.DeepEqual(rules, []string{"--jdk", "--exclude shop.log.**"}) {
		t.Errorf("%+v with %q, %v", got, rules, err)
	}
	if got, err := s.recording(live.Recording{Roots: []string{"a.B.c"}}); err != nil || !got.Fold || got.Natives != "off" || got.Probes != "inlined" || got.Warmup != time.Second {
		t.Errorf("what the command line said: %+v, %v", got, err)
	}
	for _, r := range []live.Recording{
		{Roots: []string{"Price"}},
		{Filter: []string{"--exclude shop.[x"}},
		{Filter: []string{"shop.*"}},
		{Natives: "some"},
		{Recursion: "flat"},
		{Probes: "copied"},
		{Warmup: "soon"},
		{Slowest: 100_000},
		{Over: "50ms"},
		{Slowest: 1, Over: "-1s"},
		{Slowest: 1}, // folded by the command line
	} {
		if got, err := s.recording(r); !errors.Is(err, live.ErrInput) {
			t.Errorf("%+v: %+v, %v", r, got, err)
		}
	}
}
