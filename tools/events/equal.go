package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

// A twin is a program that repeats its calls exactly, with so many threads.
type twin struct {
	name, root string
	threads    int
	micro      []string       // arguments of "run.sh micro", where it is one
	real       *bench.Program // otherwise
	until      int            // root calls that are recorded, 0 all
}

// repeats reports whether two processes record the same calls: which root
// invocations are the first ones, threads decide anew each time.
func (t twin) repeats() bool { return t.until == 0 || t.threads == 1 }

// twins are all programs of bench/, as small as they still say something.
func twins() (out []twin) {
	for _, p := range []program{{"fib", "work.Fib.root", 32, 1}, {"medium", "work.Medium.root", 256, 1}, {"acc", "work.Acc.root", 20000, 1}, {"feat", "work.Feat.root", 1000, 1}} {
		out = append(out, twin{fmt.Sprintf("%s %d", p.kind, p.param), p.root, 1, []string{p.kind, "1", "3", "1", strconv.Itoa(p.param)}, nil, 0})
	}
	for _, n := range []int{1, 2, 8} {
		out = append(out, twin{"mt 30", "work.Mt.body", n, []string{"mt", "1", "3", "1", "30"}, nil, 0})
	}
	for _, p := range bench.Programs {
		p.Count = 1
		threads, until := []int{1}, 0
		switch p.Name {
		case "sunflow":
			threads, until = []int{1, 2, 8}, 3000
		case "xalan":
			threads = []int{1, 2, 8}
		case "javac":
			until = 300
		}
		for _, n := range threads {
			q := p
			if len(threads) > 1 {
				q.Args = append([]string{p.Args[0]}, strconv.Itoa(n))
			}
			out = append(out, twin{p.Name, p.Partial, n, nil, &q, until})
		}
	}
	ecj := &bench.Program{Name: "ecj", Count: 1, Partial: "org.eclipse.jdt.internal.compiler.parser.Parser.dietParse"}
	return append(out, twin{"ecj", ecj.Partial, 2, nil, ecj, 0})
}

// equal records each program twice, the tree alone and with events, and
// compares.
func equal(k *bench.Kit, page *bench.Page) error {
	j := k.JDKs[0]
	page.Table("Trees of events and recorded trees, JDK "+strconv.Itoa(j.Version), "Each program once with the tree alone and once, in another process, with events; tick clock; of sunflow the first 3,000 root calls, of javac 300; of the shop, which eight connections ask, 20 s. "+
		"Methods differ: how many methods' calls are not the same in both. (What ecj's two threads read ahead, and how often they yield to each other, depends on time: one to four methods.) "+
		"Contexts differ: in how many contexts calls, exceptions or times of the tree made of the events are not those of the tree that the same process recorded, to the last ns.",
		"program|", "threads", "root calls", "calls", "tree, s", "events, s", "waited %", "dropped", "methods differ", "contexts differ")
	for _, t := range twins() {
		if !k.Wants(t.name) {
			continue
		}
		log.Printf("JDK %d, %s, %d threads", j.Version, t.name, t.threads)
		if err := pair(k, page, j, t); err != nil {
			return fmt.Errorf("%s, %d threads: %w", t.name, t.threads, err)
		}
	}
	for _, n := range []int{1, 2, 8} {
		if !k.Wants("shop") {
			continue
		}
		log.Printf("JDK %d, shop, %d threads", j.Version, n)
		if err := equalShop(k, page, j, n); err != nil {
			return fmt.Errorf("shop, %d threads: %w", n, err)
		}
	}
	return nil
}

// Of the shop's load: what warms it up, and what is recorded.
const (
	equalWarm  = 5 * time.Second
	equalWhile = 20 * time.Second
)

// equalShop records the shop under load, whose requests each run mixes anew:
// there is no other process to compare with.
func equalShop(k *bench.Kit, page *bench.Page, j jdk.JDK, threads int) (err error) {
	pid, url, stop, err := openShop(k, j, threads)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	load := func(length time.Duration) error {
		return forAWhile(length, func(stop <-chan struct{}) error { _, err := loadShop(url, connections, stop); return err })
	}
	if err := load(equalWarm); err != nil {
		return err
	}
	rec, err := k.Record(pid, "--root", bench.ShopPartial, "--scheme", "C", "--record", "events", "--depth", "1")
	if err != nil {
		return err
	}
	defer rec.Kill()
	if err := load(equalWhile); err != nil {
		return err
	}
	if _, err := rec.End(); err != nil {
		return err
	}
	r, err := rec.Read() // a reveal that came too late says nothing of the two trees
	if err != nil {
		return err
	}
	b, err := os.ReadFile(filepath.Join(k.Temp, "report.json"))
	if err != nil {
		return err
	}
	e := &recorded{run: &bench.ProgramRun{Report: r}}
	if err := json.Unmarshal(b, &e.report); err != nil {
		return err
	}
	if e.report.Calls == 0 || e.report.Events == nil {
		return errors.New("nothing was recorded")
	}
	e.row(page, "shop", threads, math.NaN(), equalWhile.Seconds(), math.NaN())
	return nil
}

func pair(k *bench.Kit, page *bench.Page, j jdk.JDK, t twin) error {
	var tree *recorded
	var err error
	if t.repeats() {
		if tree, err = t.record(k, j, nil, "--record", "tree"); err != nil {
			return err
		}
	}
	events, err := t.record(k, j, tree, "--record", "events")
	if err != nil {
		return err
	}
	methods, alone := math.NaN(), math.NaN()
	if tree != nil {
		methods, alone = 0, bench.Sum(tree.run.Laps)/1e3
		a, b := tree.run.Report.PerUnit(1), events.run.Report.PerUnit(1)
		for m := range maps.Keys(union(a, b)) {
			if a[m] != b[m] {
				methods++
				log.Printf("%s: %.0f calls, with events %.0f", m, a[m], b[m])
			}
		}
	}
	events.row(page, t.name, t.threads, alone, bench.Sum(events.run.Laps)/1e3, methods)
	return nil
}

// row writes a run: alone and took are in s, of it without events and with.
func (e *recorded) row(page *bench.Page, name string, threads int, alone, took, methods float64) {
	contexts := math.NaN()
	if d := e.report.Events.Differ; d != nil {
		contexts = float64(*d)
	}
	log.Printf("%s, %d threads: %d calls, %d events dropped, %s contexts differ", name, threads, e.run.Report.Calls, e.report.Events.Dropped+e.report.Events.Muted, whole(contexts))
	page.Row(name, threads, whole(float64(e.run.Report.Invocations)), whole(float64(e.run.Report.Calls)), alone, took,
		100*e.report.Events.Share, whole(float64(e.report.Events.Dropped+e.report.Events.Muted)), whole(methods), whole(contexts))
}

// A recorded is a run with what its report says of events.
type recorded struct {
	run    *bench.ProgramRun
	report report
}

// record records a program; one that says other things than the run before is
// an error.
func (t twin) record(k *bench.Kit, j jdk.JDK, before *recorded, flags ...string) (*recorded, error) {
	flags = append([]string{"--root", t.root}, flags...)
	if t.until > 0 {
		flags = append(flags, "--until-calls", strconv.Itoa(t.until))
	}
	out := &recorded{}
	var err error
	switch {
	case t.real == nil:
		out.run, err = t.small(k, j, flags)
	case before == nil:
		out.run, err = k.Run(j, t.real, job(k, flags))
	default:
		out.run, err = k.Profile(j, t.real, before.run, flags...)
	}
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(filepath.Join(k.Temp, "report.json"))
	if err != nil {
		return nil, err
	}
	return out, json.Unmarshal(b, &out.report)
}

// job records without anything to compare with.
func job(k *bench.Kit, flags []string) bench.Job {
	var rec *bench.Recording
	return bench.Job{
		Begin: func(pid string) (err error) {
			rec, err = k.Record(pid, append([]string{"--depth", "1"}, flags...)...)
			return err
		},
		End: func() (*bench.Report, error) { return rec.Stop() },
	}
}

// small runs one of the micro programs.
func (t twin) small(k *bench.Kit, j jdk.JDK, flags []string) (*bench.ProgramRun, error) {
	cmd := k.Script(j, "run.sh", append([]string{"micro"}, t.micro...)...)
	cmd.Env = append(cmd.Env, fmt.Sprintf("JOPTS=-Dmt.threads=%d", t.threads))
	text, err := micro(k, cmd, flags)
	if err != nil {
		return nil, err
	}
	run := &bench.ProgramRun{}
	if run.Report, err = bench.ReadReport(filepath.Join(k.Temp, "report.json")); err != nil {
		return nil, err
	}
	for _, ns := range bench.Laps(text, "PROF") {
		run.Laps = append(run.Laps, ns/1e6)
	}
	return run, run.Report.Exact()
}

func union(a, b map[string]float64) map[string]float64 {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// whole writes a count with all its digits.
func whole(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
