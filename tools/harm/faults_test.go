package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

// TestFaults carries out a round of one fault, after which the program lives.
func TestFaults(t *testing.T) {
	j := jvmtest.Any(t)
	t.Chdir("../..")
	k, err := bench.NewKit(&bench.Options{JDK: "17"})
	if err != nil {
		t.Skipf("no JDK 17 with a compiler: %v", err)
	}
	defer k.Close()
	k.JDKs[0] = j
	dir, err := os.MkdirTemp("/var/tmp", "rivulet-harm") // not below /tmp: some targets have one of their own
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := prepare(k, dir); err != nil {
		t.Fatal(err)
	}
	*rounds, *seed = 1, 1
	chosen := []*fault{named("kill")}
	run(k, dir, chosen)
	for _, f := range chosen {
		if f.outcome.Rounds != 1 || len(f.outcome.Failed) > 0 {
			t.Errorf("%s: %d rounds, failed: %v", f.name, f.outcome.Rounds, f.outcome.Failed)
		}
	}
}

func named(name string) *fault {
	for i := range faults {
		if faults[i].name == name {
			return &faults[i]
		}
	}
	return nil
}

// TestWrong gives reports that can't be true of a program, each of which has to be found.
func TestWrong(t *testing.T) {
	const good = `{"root_invocations": 10, "exact": true, "flat": [{"method": "f.Faults.half(int)", "calls": 10}, {"method": "f.Faults.fib(int)", "calls": 720},
		{"method": "f.Faults.step(int, int)", "calls": 80}, {"method": "f.Faults$Shape.twice(int)", "calls": 80}]}`
	for _, c := range []struct {
		report, found string
		ended         int64
	}{
		{good, "", 9},
		{good, "10 root calls, and there were", 11},
		{strings.Replace(good, "720", "719", 1), "719 calls of f.Faults.fib", 9},
		{strings.Replace(good, ": 10,", ": 9000,", 1), "9000 root calls", 9},
		{"{", "report", 9},
		{"", "no report", 9},
	} {
		dir := t.TempDir()
		r := &round{fault: named("kill"), recording: true, ended: c.ended, t: &target{counters: filepath.Join(dir, "counters")}, c: &controller{report: filepath.Join(dir, "report.json")}}
		counters := make([]byte, 4096)
		counters[16], counters[24] = 20, 20 // calls begun and ended
		if err := os.WriteFile(r.t.counters, counters, 0o600); err != nil {
			t.Fatal(err)
		}
		if c.report != "" {
			if err := os.WriteFile(r.c.report, []byte(c.report), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		switch err := r.check(); {
		case (err == nil) != (c.found == ""):
			t.Errorf("%q, ended %d: %v", c.report, c.ended, err)
		case err != nil && !strings.Contains(err.Error(), c.found):
			t.Errorf("%v instead of %q", err, c.found)
		}
	}
}

// TestRegions counts mappings, and takes what the JVM has split by protection for one.
func TestRegions(t *testing.T) {
	const maps = `5600000-5700000 r-xp 00000000 08:01 77 /usr/bin/java
7f00000-7f10000 rw-p 00000000 00:00 0
7f10000-7f30000 ---p 00000000 00:00 0
7f30000-7f40000 rw-p 00000000 00:00 0
7f50000-7f60000 rw-p 00000000 00:00 0
7f60000-7f70000 rw-s 00000000 00:19 5 /dev/shm/x (deleted)
7f70000-7f80000 rw-s 00000000 00:00 0
7f80000-7f90000 rw-p 00000000 00:00 0 [stack]
`
	if n := regions(maps); n != 6 {
		t.Errorf("%d regions, want 6", n)
	}
}

// TestSection takes a part of a page that has two of the same rows.
func TestSection(t *testing.T) {
	const page = "# P\n\n## JVMs\n\n| a | 1 |\n\n## arm64\n\n| a | 2 |\n"
	for title, want := range map[string]string{"JVMs": "1", "arm64": "2", "arm": ""} {
		if got := earlier(section(page, title), "a", []int{8}); got[8] != want {
			t.Errorf("%s: %q, want %q", title, got[8], want)
		}
	}
}

// TestEarlier: a run with one JDK keeps what the page says of the others.
func TestEarlier(t *testing.T) {
	const page = "| JVM | 8 | 17 |\n|---|---|---|\n| G1 | exact | not tried |\n| G1, too | - | refused |\n| G1 | exact |\n"
	if got := earlier(page, "G1", []int{8, 17}); len(got) != 1 || got[8] != "exact" {
		t.Errorf("of G1: %v", got)
	}
	if got := earlier(page, "G1, too", []int{8, 17}); got[8] != "-" || got[17] != "refused" {
		t.Errorf("of the other row: %v", got)
	}
	if got := earlier("", "G1", []int{8, 17}); len(got) != 0 {
		t.Errorf("of no page: %v", got)
	}
}

// TestAtOnce adds up what several processes found.
func TestAtOnce(t *testing.T) {
	all := &outcomes{Faults: map[string]outcome{}}
	all.add(&outcomes{Seeds: []uint64{1}, Faults: map[string]outcome{"kill": {Rounds: 2, Recording: 1, Silent: []time.Duration{5}, Reports: 1, Reported: 2, Failed: []string{"x"}}}})
	all.add(&outcomes{Seeds: []uint64{9}, Faults: map[string]outcome{"kill": {Rounds: 3, Silent: []time.Duration{7}, Restored: []time.Duration{1}, Exact: 3, Again: 3, Late: 1}, "halt": {Rounds: 1}}})
	want := &outcomes{Seeds: []uint64{1, 9}, Faults: map[string]outcome{
		"kill": {Rounds: 5, Recording: 1, Silent: []time.Duration{5, 7}, Restored: []time.Duration{1}, Reports: 1, Reported: 2, Exact: 3, Again: 3, Late: 1, Failed: []string{"x"}},
		"halt": {Rounds: 1},
	}}
	if !reflect.DeepEqual(all, want) {
		t.Errorf("%+v, want %+v", all, want)
	}
}
