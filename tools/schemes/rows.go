package main

import (
	"cmp"
	"fmt"
	"log"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

// A part is one of the paper's tables, or another; no shop is none of it.
type part struct{ name, title, intro, shop string }

var parts = []part{
	{"whole", "Whole runs", "The root is what the program does in an iteration.", bench.ShopWhole},
	{"partial", "Partial roots", "The root takes about a tenth of the program's time.", bench.ShopPartial},
	{"first", "First runs", "The root is all that javac does, and the program has done nothing before: most of its classes are loaded while it is recorded. *Bare* is the first iteration of a process without a profiler. Calls differ a little, with the same scheme as well; one in 10,000 is let pass.", ""},
}

// programs are small enough for all rows to take some minutes a JDK.
func programs() []bench.Program {
	counts := map[string]int{"sunflow": 1, "h2": 2, "xalan": 10, "javac": 1, "batik": 2}
	var out []bench.Program
	for _, p := range bench.Programs {
		p.Count = counts[p.Name]
		if p.Name == "javac" { // it has sets and tables by identity hashes, whose order decides what it calls
			p.Options = []string{"-XX:+UnlockExperimentalVMOptions", "-XX:hashCode=2"}
		}
		out = append(out, p)
		if p.Name == "xalan" {
			out = append(out, bench.Program{
				Name: "ecj", Count: 1,
				Whole: "wl.EcjW.iteration", Partial: "org.eclipse.jdt.internal.compiler.parser.Parser.dietParse",
			})
		}
	}
	return out
}

var schemes = []string{"A", "B", "C"}

// rows adds those of a JDK.
func (p *part) rows(k *bench.Kit, page *bench.Page, j jdk.JDK) {
	note := func(program string, err error) {
		if err != nil {
			page.Failed(program, err)
		}
	}
	for _, program := range programs() {
		if program.Cold = p.name == "first"; k.Wants(program.Name) && (!program.Cold || program.Name == "javac") {
			note(program.Name, p.program(k, page, j, &program))
		}
	}
	if k.Wants("shop") && p.shop != "" {
		note("shop", p.server(k, page, j))
	}
}

// chance begins the names of methods that ecj calls more often or less by chance:
// it reads files with another thread, for which it waits, or reads them itself.
var chance = []string{
	"java.lang.Object.wait(",
	"java.lang.Thread.yield(",
	"org.eclipse.jdt.internal.compiler.batch.CompilationUnit.getContents(",
	"org.eclipse.jdt.internal.compiler.util.Util.getFileCharContent(",
	"org.eclipse.jdt.internal.compiler.util.Util.getInputStreamAsCharArray(",
}

// determined are a report's calls except for those.
func determined(r *bench.Report) int64 {
	n := r.Calls
	for _, m := range r.Flat {
		if slices.ContainsFunc(chance, func(p string) bool { return strings.HasPrefix(m.Method, p) }) {
			n -= m.Calls
		}
	}
	return n
}

// unlike are the methods of which two reports' calls differ most, by how much.
func unlike(a, b *bench.Report) (out []string) {
	differ := map[string]int64{}
	for _, m := range a.Flat {
		differ[m.Method] += m.Calls
	}
	for _, m := range b.Flat {
		differ[m.Method] -= m.Calls
	}
	names := slices.Sorted(maps.Keys(differ))
	slices.SortStableFunc(names, func(x, y string) int { return cmp.Compare(max(differ[y], -differ[y]), max(differ[x], -differ[x])) })
	for _, n := range names[:min(5, len(names))] {
		out = append(out, fmt.Sprintf("%s %+d", n, differ[n]))
	}
	return out
}

// program measures one that makes iterations. Schemes that don't record the same
// calls, except for those made by chance, are an error.
func (p *part) program(k *bench.Kit, page *bench.Page, j jdk.JDK, program *bench.Program) error {
	log.Printf("JDK %d, %s, %s", j.Version, program.Name, p.name)
	bare, err := k.Bare(j, program)
	if err != nil {
		return err
	}
	root := math.NaN() // of an invocation
	if p.name == "partial" {
		if root, _, err = k.RootTime(j, program, program.Partial); err != nil {
			return err
		}
	}
	var first *bench.Report
	for _, s := range schemes {
		flags := []string{"--root", program.Root(p.name), "--scheme", s}
		if program.Room != "" && p.name != "partial" {
			flags = append(flags, "--memory", program.Room)
		}
		r, err := k.Profile(j, program, bare, flags...)
		if err != nil {
			return fmt.Errorf("scheme %s: %w", s, err)
		}
		if first == nil {
			first = r.Report
		}
		got, want, chance := determined(r.Report), determined(first), int64(0)
		if program.Name == "javac" && p.name != "partial" {
			chance = want / 10_000
		}
		if got < want-chance || got > want+chance {
			return fmt.Errorf("scheme %s recorded %d calls, %s %d: %s", s, got, schemes[0], want, strings.Join(unlike(r.Report, first), ", "))
		}
		wall, total := bench.Sum(bare.Laps), bench.Sum(r.Laps)
		truth := wall
		if p.name == "partial" {
			truth = root * float64(r.Report.Invocations)
		}
		row(page, program.Name, s, r.Report, truth, total, total, 100*(total/wall-1), r.Armed)
	}
	return nil
}

// server measures the shop, with loads of some seconds.
func (p *part) server(k *bench.Kit, page *bench.Page, j jdk.JDK) error {
	short := *k
	short.Short = true
	for _, s := range schemes {
		log.Printf("JDK %d, shop, %s, scheme %s", j.Version, p.name, s)
		r, err := short.Shop(j, "--root", p.shop, "--scheme", s)
		if err != nil {
			return err
		}
		cores := float64(runtime.NumCPU()) * 1e3
		row(page, "shop", s, r.Report, cores/r.Bare, cores/r.During, r.Report.Seconds*1e3, 100*(r.Bare/r.During-1), r.Armed)
	}
	return nil
}

// row writes a row. whole is what the shares are of: the time of the program,
// in ms.
func row(page *bench.Page, program, scheme string, r *bench.Report, bare, total, whole, overhead, armed float64) {
	probes := math.NaN()
	if r.Time.Charged != nil {
		probes = float64(r.Time.Subtracted) / 1e6
	}
	share := func(ms float64) float64 { return 100 * ms / whole }
	page.Row(program, scheme, r.Calls, bare, r.Charged()/1e6, total, overhead,
		share(probes), share(r.Redefinition.MS), share(r.Redefinition.Analysis), share(r.Processing),
		r.Methods.Instrumented, r.Methods.Called, r.Methods.Instrumented-r.Methods.Called,
		r.Redefinition.Batches, r.Redefinition.MS, r.Redefinition.Pause, r.Redefinition.Pauses, r.Redefinition.Wait, armed)
}
