// Command stacks samples a JVM and prints its stacks as collapsed lines, and on stderr what
// the sampler has to say of itself. It is for trying the sampler: "go run ./tools/stacks PID".
package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/sampler"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// save writes a core as the tests of the unwinder have them.
func save(t sampler.Trace, file string) {
	w, c := t.Core()
	if !w.Complete {
		log.Print("the thread went on meanwhile: ", w.Broken)
	}
	f, err := os.Create(file)
	if err != nil {
		log.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if err := errors.Join(json.NewEncoder(z).Encode(c), z.Close(), f.Close()); err != nil {
		log.Fatal(err)
	}
}

func main() {
	hz := flag.Int("hz", 1000, "samples a second")
	long := flag.Duration("for", 5*time.Second, "how long")
	wall := flag.Bool("wall", false, "threads that wait as well")
	native := flag.Bool("native", false, "native frames as well")
	lines := flag.Bool("lines", false, "with kinds and lines")
	self := flag.Bool("self", false, "innermost frames only")
	bottom := flag.Bool("bottom", false, "outermost frames only")
	onlyBroken := flag.Bool("broken", false, "stacks that are not complete only")
	explain := flag.Bool("explain", false, "tell of each that is not complete, on stderr")
	core := flag.String("core", "", "file for all that the walk of one sample needs (see -top), to do it again in a test")
	top := flag.String("top", "", "name of that sample's innermost method")
	flag.Parse()
	pid, err := strconv.Atoi(flag.Arg(0))
	if err != nil {
		log.Fatal("name a process: ", err)
	}
	o := sampler.Options{Hz: *hz, Wall: *wall, Native: *native}
	o.Trace = func(t sampler.Trace) {
		broken := t.Java && !t.Walk.Complete && t.Walk.Broken != ""
		if *explain && broken {
			fmt.Fprintln(os.Stderr, t.Explain())
		}
		if *core != "" && t.Java && len(t.Walk.Frames) > 0 && t.Walk.Complete == !*onlyBroken && t.Walk.Frames[0].Method.Name == *top {
			save(t, *core)
			*core = ""
		}
	}
	s, err := sampler.Open(pid, o)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), *long)
	defer cancel()
	counts := map[string]int64{}
	err = s.Run(ctx, func(batch []stack.Stack) {
		for _, b := range batch {
			if *onlyBroken && (b.Complete || !b.Java) {
				continue
			}
			frames := b.Frames
			if *self && len(frames) > 0 {
				frames = frames[:1]
			}
			if *bottom && len(frames) > 0 {
				frames = frames[len(frames)-1:]
			}
			var w strings.Builder
			w.WriteString(b.Thread)
			if *wall {
				fmt.Fprintf(&w, ";[%d]", b.State)
			}
			for _, f := range slices.Backward(frames) {
				fmt.Fprintf(&w, ";%s.%s", f.Method.Class, f.Method.Name)
				if *lines {
					fmt.Fprintf(&w, ":%d_[%d@%d]", f.Line, f.Kind, f.BCI)
				}
			}
			if b.Broken != "" {
				fmt.Fprintf(&w, ";[%s]", b.Broken)
			}
			counts[w.String()] += b.Weight
		}
	})
	keys := make([]string, 0, len(counts))
	for k := range counts {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return int(counts[b] - counts[a]) })
	for _, k := range keys {
		fmt.Printf("%s %d\n", k, counts[k]/1000)
	}
	st := s.Stats()
	fmt.Fprintf(os.Stderr, "%+v\n", st)
	if st.Java > 0 {
		fmt.Fprintf(os.Stderr, "complete %.2f %%, heuristic %.2f %%, %.2f %% of a core\n", 100*float64(st.Complete)/float64(st.Java), 100*float64(st.Heuristic)/float64(st.Java), 100*st.CPU.Seconds()/st.Elapsed.Seconds())
	}
	if err != nil {
		log.Fatal(err)
	}
}
