// Command scale records ten million calling contexts, two thousand threads, fifty
// thousand classes and a hundred thousand virtual threads, and writes docs/figures/scale.md: what both sides' memory grows by and how
// long snapshots take. Run it from the repository's root by "go tool task
// bench:scale".
package main

import (
	"fmt"
	"log"
	"strconv"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

func main() { bench.Main(1, "scale.md", measure) }

// A size is a run of work.Many.
type size struct {
	name                string
	threads, fan, depth int
}

var sizes = []size{
	{"small", 1, 2, 2},
	{"nodes", 1, 10, 7},
	{"threads", 2000, 3, 2},
	{"both", 2000, 8, 4},
}

// contexts is how many calling contexts the program makes.
func (s size) contexts() int64 {
	nodes, level := int64(2), int64(1) // root and its step
	for d := 1; d <= s.depth; d++ {
		level *= int64(s.fan)
		nodes += level
		if d < s.depth {
			nodes += level // a step below each
		}
	}
	return nodes * int64(s.threads)
}

func measure(k *bench.Kit) (*bench.Page, error) {
	page := k.NewPage("bench:scale", "Large trees, many threads, many classes", "Memory of both sides, and the time of a snapshot.")
	if k.Has("crowds") {
		if err := measureCrowds(k, page); err != nil || k.Part == "crowds" {
			return page, err
		}
	}
	if k.Has("long") {
		if err := measureLong(k, page); err != nil || k.Part == "long" {
			return page, err
		}
	}
	page.Table("Memory and snapshots", "A program that makes so many contexts in so many threads, all inside the root at one time; what the report counts is checked against what the program must make. Calls without room came before the data file had grown far enough. "+
		"MB resident: what the target's own memory grew by from before attaching to the end of the recording, threads of its own included; the data file that both sides share; the controller's own, at the most. "+
		"Snapshot is the time from Ctrl-C to the end of `rivulet profile`, one level of the tree in the report: reading the tree, merging, restoring the classes. All is the same with the whole tree as JSON.",
		"JDK|", "run|", "threads", "contexts", "calls without room", "target MB", "shared MB", "controller MB", "snapshot, s", "controller MB, all", "all, s", "JSON MB")
	for _, j := range k.JDKs {
		for _, s := range sizes {
			if !k.Wants(s.name) {
				continue
			}
			if k.Short {
				s.threads, s.depth = min(s.threads, 200), min(s.depth, 4)
			}
			log.Printf("JDK %d, %s", j.Version, s.name)
			brief, err := record(k, j, s, "--depth", "1")
			if err != nil {
				return page, err
			}
			all, err := record(k, j, s)
			if err != nil {
				return page, err
			}
			page.Row(j.Version, s.name, s.threads, brief.contexts, brief.overflow, brief.target.Own, brief.target.Shared, brief.controller.Own, brief.time.Seconds(), all.controller.Own, all.time.Seconds(), float64(all.size)/1e6)
		}
	}
	return page, nil
}

// recorded is what one recording showed.
type recorded struct {
	target, controller bench.Memory
	time               time.Duration
	size               int64 // of the report, in bytes
	contexts, overflow int64
}

func record(k *bench.Kit, j jdk.JDK, s size, flags ...string) (*recorded, error) {
	t, err := k.Java(j, []string{"-Xmx256m"}, "work.Many", strconv.Itoa(s.threads), strconv.Itoa(s.fan), strconv.Itoa(s.depth))
	if err != nil {
		return nil, err
	}
	defer t.Kill()
	before, err := bench.Resident(t.PID)
	if err != nil {
		return nil, err
	}
	rec, err := k.Record(t.PID, append([]string{"--root", "work.Many.root", "--memory", "2047M"}, flags...)...)
	if err != nil {
		return nil, err
	}
	defer rec.Kill()
	if err := t.Work("go"); err != nil {
		return nil, err
	}
	r := &recorded{}
	if r.target, err = bench.Resident(t.PID); err != nil {
		return nil, err
	}
	r.target.Own -= before.Own
	r.target.Shared -= before.Shared
	peak := bench.Peak(strconv.Itoa(rec.Cmd.Process.Pid))
	r.time, err = rec.End()
	r.controller = peak()
	if err != nil {
		return nil, err
	}
	r.size = rec.Size()
	if len(flags) == 0 {
		return r, t.Finish() // gigabytes of JSON: nobody reads them here
	}
	report, err := rec.Read()
	if err != nil {
		return nil, err
	}
	if err := s.check(report); err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	r.contexts, r.overflow = contexts(report.Tree), report.Overflow
	return r, t.Finish()
}

// check holds a report against what the program does: it calls each context
// once, so each call is recorded or owned up to as one that found no room. (It
// is recorded by its method, then, or by an older rivulet not at all.)
func (s size) check(r *bench.Report) error {
	nodes := contexts(r.Tree)
	switch {
	case r.Calls+r.Overflow != s.contexts() && (r.Overflow == 0 || r.Calls != s.contexts()) || r.Incomplete+r.Lost != 0:
		return fmt.Errorf("%d calls and %d that found no room, but the program makes %d (incomplete %d, lost %d)", r.Calls, r.Overflow, s.contexts(), r.Incomplete, r.Lost)
	case r.Overflow == 0 && nodes != s.contexts():
		return fmt.Errorf("%d contexts in the report, but the program makes %d", nodes, s.contexts())
	}
	return nil
}

// contexts counts the nodes of a report with one level.
func contexts(tree []*bench.Node) (sum int64) {
	for _, n := range tree {
		sum += 1 + n.Below.Nodes
	}
	return sum
}
