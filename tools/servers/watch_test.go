//go:build servers

package servers

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
)

// A watch dumps the server's threads every 100 ms while a request has been waiting for
// half a second, and sums up what its threads wait for.
type watch struct {
	file  string
	pid   int
	load  *load
	begin time.Time

	took    int
	reasons map[string]*waiting
}

// waiting is how often threads were seen in one kind of wait.
type waiting struct {
	n           int
	first, last float64 // seconds
}

// start begins to watch; the function that it returns ends that.
func (w *watch) start(ctx context.Context, t *testing.T) (stop func()) {
	vm, err := attach.Open(ctx, w.pid)
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(w.file)
	if err != nil {
		t.Fatal(err)
	}
	w.reasons = map[string]*waiting{}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(100 * time.Millisecond):
			}
			const limit = 500 * time.Millisecond
			longest, n := w.load.hanging(limit)
			if n == 0 {
				continue
			}
			asked := time.Since(w.begin).Seconds()
			dump, err := vm.ThreadDump(ctx)
			if err != nil {
				fmt.Fprintf(out, "%8.3f %v\n", asked, err)
				continue
			}
			fmt.Fprintf(out, "\n%8.3f to %.3f: %d requests hang, the longest for %v\n", asked, time.Since(w.begin).Seconds(), n, longest)
			w.took++
			w.add(out, asked, dump)
		}
	}()
	return func() { cancel(); <-done; out.Close() }
}

// add looks at one dump, at all threads that are not idle: a class may also be loaded
// before the root begins, and after it has ended.
func (w *watch) add(out *os.File, at float64, dump string) {
	for stack := range strings.SplitSeq(dump, "\n\n") {
		if !strings.HasPrefix(stack, `"http-`) && !strings.HasPrefix(stack, `"rivulet`) {
			continue
		}
		if !strings.Contains(stack, "\tat ") || idle(stack) {
			continue
		}
		kind := reason(stack)
		lines := strings.Split(stack, "\n")
		fmt.Fprintf(out, "%s\n%s\n", kind, strings.Join(lines[:min(len(lines), 45)], "\n"))
		r := w.reasons[kind]
		if r == nil {
			r = &waiting{first: at}
			w.reasons[kind] = r
		}
		r.n++
		r.last = at
	}
}

// idle reports whether a thread waits for a task of its pool, or for connections.
func idle(stack string) bool {
	for _, s := range []string{".TaskQueue.poll(", ".TaskQueue.take(", ".Poller.run(", "NioEndpoint$Poller", ".Acceptor.run("} {
		if strings.Contains(stack, s) && !strings.Contains(stack, "rivulet") {
			return true
		}
	}
	return false
}

// reason names what a thread does, by its innermost frames of Rivulet's and of class
// loading.
func reason(stack string) string {
	var frames []string
	for line := range strings.Lines(stack) {
		if f, ok := strings.CutPrefix(strings.TrimSpace(line), "at "); ok {
			f, _, _ = strings.Cut(f, "(")
			frames = append(frames, f[strings.LastIndexByte(f, '/')+1:])
		}
	}
	var ours []string
	loading := ""
	for _, f := range frames {
		if strings.HasPrefix(f, "rivulet.") {
			parts := strings.Split(f, ".")
			ours = append(ours, strings.Join(parts[max(0, len(parts)-2):], "."))
		}
		if loading == "" && (strings.Contains(f, ".loadClass") || strings.Contains(f, ".defineClass") || strings.HasSuffix(f, ".findClass")) {
			loading = f
		}
	}
	thread := "http"
	if strings.HasPrefix(stack, `"rivulet`) {
		thread = "agent"
	}
	ours = slices.Compact(ours)
	switch {
	case len(ours) > 0:
		kind := thread + ": " + strings.Join(ours[:min(len(ours), 7)], " < ")
		if loading != "" {
			kind += " [in class loading]"
		}
		return kind
	case loading != "":
		return thread + ": class loading, " + state(stack) + ": " + loading
	default:
		return thread + ": " + state(stack)
	}
}

// state is what the JVM says of a thread: runnable, waiting to lock, ...
func state(stack string) string {
	for line := range strings.Lines(stack) {
		if s, ok := strings.CutPrefix(strings.TrimSpace(line), "java.lang.Thread.State: "); ok {
			if s == "RUNNABLE" {
				return "runnable in the program's code"
			}
			_, rest, found := strings.Cut(stack, "\tat ")
			if !found {
				return s
			}
			frame, _, _ := strings.Cut(rest, "(")
			return s + " " + frame
		}
	}
	return "no state"
}

// summary has the kinds of waits, the most frequent first.
func (w *watch) summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %d thread dumps while requests hung for over 500 ms; threads of requests and of the agent:\n", w.took)
	kinds := slices.SortedFunc(maps.Keys(w.reasons), func(x, y string) int {
		return cmp.Or(cmp.Compare(w.reasons[y].n, w.reasons[x].n), cmp.Compare(x, y))
	})
	for _, k := range kinds {
		fmt.Fprintf(&b, "  %5d  %6.1f to %6.1f s  %s\n", w.reasons[k].n, w.reasons[k].first, w.reasons[k].last, k)
	}
	return b.String()
}
