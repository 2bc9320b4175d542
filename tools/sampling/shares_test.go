package main

import (
	"encoding/json"
	"maps"
	"testing"
)

// TestSelves takes the innermost Java methods of both sides, by the same names.
func TestSelves(t *testing.T) {
	got := collapsed("java/lang/Thread.run_[j];a/B.main_[0];a/B.work_[i];memcpy 7\na/B.main_[1];read;sys_read_[k] 2\nGCThread;memset 9\na/B$$Lambda+0x00007f20.run_[j] 1\nodd\n")
	want := map[string]int64{"a.B.work": 7, "a.B.main": 2, "a.B$$Lambda.run": 1}
	if !maps.Equal(got, want) {
		t.Errorf("async-profiler: %v", got)
	}
	r := &sampled{}
	if err := json.Unmarshal([]byte(`{"flat":[{"method":"a.B.work(I)V","self_samples":5},{"method":"a.B.work()V","self_samples":2},
		{"method":"(JIT compiler C2)","loader":"sampler","self_samples":4},{"method":"a.B.main()V","self_samples":0}]}`), r); err != nil {
		t.Fatal(err)
	}
	if got := selves(r); !maps.Equal(got, map[string]int64{"a.B.work": 7}) {
		t.Errorf("Rivulet: %v", got)
	}
}

// TestOverlap is 100 % of what is the same, whatever the numbers of samples, and 0 of what has nothing
// in common.
func TestOverlap(t *testing.T) {
	a, b := map[string]int64{"x": 300, "y": 100}, map[string]int64{"x": 75, "y": 25}
	if got := overlap(a, a); got != 100 {
		t.Errorf("%v", got)
	}
	if got := overlap(a, b); got < 85 || got > 100 {
		t.Errorf("%v", got)
	}
	if got := overlap(a, map[string]int64{"z": 9}); got != 0 {
		t.Errorf("%v", got)
	}
	if got := overlap(a, nil); got != 0 {
		t.Errorf("%v", got)
	}
	if got := sum(draw(a, 37)); got != 37 {
		t.Errorf("%d drawn", got)
	}
}
