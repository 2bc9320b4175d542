// Command harm looks for harm that Rivulet does to a target, and writes docs/reliability.md. Run it
// from the repository's root by its tasks, one for each part:
//
// "go tool task soak:faults" injects faults into recordings of a running program: into the
// controller, the target, and what lies between them. The same seed chooses the same JDK, options
// and moments, as far as a moment is a time. What a round that failed says of its seed repeats it,
// with "-rounds 1 -only FAULT".
//
// "go tool task test:matrix" uses all of Rivulet on each JDK, with each collector and with flags that
// change how a JVM works.
//
// "go tool task test:arm64" does the same on machines of arm64 that qemu emulates.
//
// "go tool task test:places" uses Rivulet on a program within limits, such as those of containers.
//
// "go tool task soak:residue" attaches and leaves many times, and compares what has grown with what
// redefining the same classes costs the same JVM without Rivulet.
//
// "go tool task test:company" has other tools work on the same JVM, before, while and after Rivulet does.
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

//go:embed testdata/*.java
var sources embed.FS

var (
	rounds  = flag.Int("rounds", 10, "`rounds` of each fault")
	seed    = flag.Uint64("seed", 0, "`seed` of all that is random; 0 takes one from the clock, and says which")
	limit   = flag.Duration("limit", 0, "begin no round after this `time`; 0 is no limit (SIGINT to this process alone does the same)")
	atOnce  = flag.Int("at-once", 1, "how many `processes` do rounds at the same time, each with temporary files of its own (as root)")
	cycles  = flag.Int("cycles", 200, "`times` to attach and leave, for the residue")
	patient = flag.Duration("patience", time.Minute, "how `long` anything may take that takes a second on a quiet machine")
	keep    = flag.String("keep", "", "add to the outcomes in this `file`, which earlier runs left")
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == filtered {
		log.Fatal(runFiltered(os.Args[2:]))
	}
	bench.Main(1, bench.Reliability, measure)
}

func measure(k *bench.Kit) (*bench.Page, error) {
	page := k.ReliabilityPage()
	// Not below /tmp: many targets have a /tmp of their own.
	dir, err := os.MkdirTemp("/var/tmp", "rivulet-harm")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	switch k.Part {
	case "faults":
		err = measureFaults(k, dir, page)
	case "matrix":
		err = measureMatrix(k, dir, page)
	case "places":
		err = measurePlaces(k, dir, page)
	case "residue":
		err = measureResidue(k, dir, page)
	case "arm64":
		err = measureArm64(k, dir, page)
	case "company":
		err = measureCompany(k, dir, page)
	default:
		err = fmt.Errorf("-part %q: give faults, matrix, arm64, places, residue or company", k.Part)
	}
	return page, err
}

// measureFaults injects faults and writes what came of it.
func measureFaults(k *bench.Kit, dir string, page *bench.Page) error {
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	log.Printf("seed %d", *seed)
	if err := prepare(k, dir); err != nil {
		return err
	}
	var chosen []*fault
	for i := range faults {
		if f := &faults[i]; k.Wants(f.name) {
			chosen = append(chosen, f)
		}
	}
	if len(chosen) == 0 {
		return fmt.Errorf("-only %q names no fault: there are %s", k.Only, strings.Join(names(), ", "))
	}
	all, err := kept(*keep, chosen)
	if err != nil {
		return err
	}
	if *atOnce > 1 {
		if err := runAtOnce(k, dir, all); err != nil {
			return err
		}
		for _, f := range chosen {
			f.outcome = all.Faults[f.name]
			if f.needs != nil {
				f.why = f.needs()
			}
		}
	} else {
		run(k, dir, chosen)
		all.ran(*seed, chosen)
	}
	if err := all.write(*keep); err != nil {
		return err
	}

	page.Table("Faults", "Each round starts a program with two busy threads, attaches with options chosen at random, and injects one fault at a random moment while "+
		"arming or recording. It fails if a process hangs or crashes, or if one of these is not so:\n\n"+
		"* the program's own results are right;\n"+
		"* the report has all root calls that ended before the fault, and none that did not begin, by the program's own count;\n"+
		"* the program's methods have the code of before, read from its memory in another way than the agent's;\n"+
		"* no thread, descriptor, mapping or file of Rivulet's is left;\n"+
		"* if the program lives on, it is recorded once more, and all counts are exact.\n\n"+
		"*Silent*: from the fault until no probe records any more, where the controller is gone. "+
		"*Restored*: from the fault, or from the order to leave, until all code is that of before and nothing is left. "+
		"*Over 2 s*: rounds in which the code of before took longer, and the agent's thread did not say by its name that it is restoring. "+
		seeds(all.Seeds),
		"fault|", "rounds", "while recording", "silent ms, median", "longest", "restored ms, median", "longest", "over 2 s", "reports with all", "exact afterwards", "failed")
	for _, f := range chosen {
		o := f.outcome
		if f.why != nil {
			page.Left(f.name, f.why)
			continue
		}
		if o.Rounds == 0 {
			continue
		}
		page.Row(f.does, o.Rounds, o.Recording, median(o.Silent), longest(o.Silent), median(o.Restored), longest(o.Restored), o.Late, of(o.Reports, o.Reported), of(o.Exact, o.Again), len(o.Failed))
		for _, err := range o.Failed {
			page.Failed(f.name, errors.New(err))
		}
	}
	return nil
}

// prepare compiles the program, and what redefines it without us.
func prepare(k *bench.Kit, dir string) error {
	compiler := k.JDKs[0]
	if j, ok := jdk.Find(17); ok && j.HasJavac() {
		compiler = j
	}
	args := []string{"-nowarn", "-Xlint:none", "--release", "8", "-d", dir}
	if compiler.Version == 8 {
		args = []string{"-nowarn", "-d", dir}
	}
	for _, name := range []string{"Faults.java", "Loop.java", "Mocks.java"} {
		text, err := sources.ReadFile("testdata/" + name)
		if err != nil {
			return err
		}
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return err
		}
		args = append(args, file)
	}
	out, err := exec.Command(compiler.Javac(), args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("javac: %w: %s", err, out)
	}
	return nil
}

// run does the rounds, one of each fault in turn, so that all have as many when time runs out.
func run(k *bench.Kit, dir string, chosen []*fault) {
	ctx, end := signal.NotifyContext(context.Background(), os.Interrupt)
	defer end()
	if *limit > 0 {
		ctx, end = context.WithTimeout(ctx, *limit)
		defer end()
	}
	for n := range *rounds {
		for i, f := range chosen {
			if ctx.Err() != nil {
				return
			}
			if f.why == nil && f.needs != nil {
				f.why = f.needs()
			}
			if f.why != nil {
				continue
			}
			s := *seed + uint64(n) // with -rounds 1 and -only it repeats this one
			h := fnv.New64()
			h.Write([]byte(f.name))
			rng := rand.New(rand.NewPCG(s, h.Sum64()))
			j := k.JDKs[rng.IntN(len(k.JDKs))]
			if f.most != 0 && j.Version > f.most {
				if at := slices.IndexFunc(k.JDKs, func(j jdk.JDK) bool { return j.Version <= f.most }); at >= 0 {
					j = k.JDKs[at]
				} else {
					f.why = fmt.Errorf("only up to JDK %d", f.most)
					continue
				}
			}
			r := &round{Kit: k, fault: f, rng: rng, jdk: j, dir: dir}
			err := r.do()
			f.outcome.add(r)
			if err != nil {
				err = fmt.Errorf("-seed %d, JDK %d, rivulet %s: %w", s, j.Version, strings.Join(r.options, " "), err)
				f.outcome.Failed = append(f.outcome.Failed, err.Error())
			}
			log.Printf("%d/%d %d/%d %s, JDK %d: %s", n+1, *rounds, i+1, len(chosen), f.name, j.Version, r.said(err))
		}
	}
}

func names() (out []string) {
	for _, f := range faults {
		out = append(out, f.name)
	}
	return out
}
