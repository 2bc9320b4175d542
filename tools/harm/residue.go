package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

// keepNothing has each collection free what is softly reachable: else a heap with room keeps that for a minute, and with it
// the agents of that minute.
const keepNothing = "-XX:SoftRefLRUPolicyMSPerMB=0"

// warmup is how many cycles come before the first look: what any first attach leaves.
const warmup = 5

// A holding is what a JVM has at a moment; -1 for what its JDK does not say.
type holding struct {
	threads, fds, maps, files int
	metaspace, heap, code     float64 // KB; of the heap what lives after a collection
	resident                  float64 // KB
	rate                      float64 // root calls a second
}

// measureResidue attaches and leaves many times, on each JDK, beside a plain redefinition loop.
func measureResidue(k *bench.Kit, dir string, page *bench.Page) error {
	if err := prepare(k, dir); err != nil {
		return err
	}
	page.Table("Residue", fmt.Sprintf("Rivulet attaches %d times to one process with two busy threads, records for 20 ms with Scheme A, restores and leaves. "+
		"Beside it the same program has an agent that redefines the same classes twice each time, with the bytes that they have. The columns say what was there after the last time, less what was there after the %dth. "+
		"Metaspace, code cache and heap are by the JVM's own counters; the heap after a collection, which also frees softly reachable objects. Anonymous mappings that touch count as one. "+
		"*Speed*: root calls a second at the end, divided by those after the %dth time. A run fails where threads, descriptors, mappings or files have grown by more than 3 over the loop's, "+
		"where metaspace or the heap have grown by more than 1 MB and twice the loop's, or where the program's results are wrong.", *cycles, warmup, warmup),
		"JDK", "process|", "threads", "descriptors", "mappings", "files", "metaspace KB", "heap KB", "code cache KB", "resident KB", "speed")
	for _, j := range k.JDKs {
		ours, err := grown(k, j, dir, attachAndLeave)
		if err != nil {
			return fmt.Errorf("JDK %d: %w", j.Version, err)
		}
		plain, err := grown(k, j, dir, redefine)
		if err != nil {
			return fmt.Errorf("JDK %d: the loop: %w", j.Version, err)
		}
		for _, r := range []struct {
			name  string
			grown holding
		}{{"Rivulet", ours}, {"redefinition loop", plain}} {
			g := r.grown
			page.Row(j.Version, r.name, g.threads, g.fds, g.maps, g.files, kb(g.metaspace), kb(g.heap), kb(g.code), kb(g.resident), g.rate)
		}
		if err := ours.beyond(plain); err != nil {
			page.Failed(fmt.Sprintf("JDK %d", j.Version), err)
		}
	}
	return nil
}

func kb(v float64) string { return fmt.Sprintf("%.0f", v) }

// beyond says what has grown more than it may beside the plain loop.
func (h holding) beyond(plain holding) error {
	var errs []error
	count := func(what string, a, b int) {
		if a > b+3 {
			errs = append(errs, fmt.Errorf("%d more %s, and %d by the loop", a, what, b))
		}
	}
	count("threads", h.threads, plain.threads)
	count("descriptors", h.fds, plain.fds)
	count("mappings", h.maps, plain.maps+10) // the JVM's own heaps and stacks vary
	count("files", h.files, plain.files)
	size := func(what string, a, b float64) {
		if a > 1024 && a > 2*b {
			errs = append(errs, fmt.Errorf("%.0f KB more %s, and %.0f by the loop", a, what, b))
		}
	}
	size("metaspace", h.metaspace, plain.metaspace)
	size("heap", h.heap, plain.heap)
	return errors.Join(errs...)
}

// grown starts the program, does the cycles, and says what has grown.
func grown(k *bench.Kit, j jdk.JDK, dir string, cycle func(*round) error) (holding, error) {
	agent, err := loopJar(j, dir)
	if err != nil {
		return holding{}, err
	}
	r := &round{Kit: k, fault: &fault{name: "residue"}, rng: rand.New(rand.NewPCG(1, 1)), jdk: j, dir: dir, launch: launch{flags: []string{keepNothing, "-javaagent:" + agent}}}
	defer r.close()
	if err := r.start(false, 0); err != nil {
		return holding{}, err
	}
	if err := r.t.Send("go"); err != nil {
		return holding{}, err
	}
	var before holding
	for n := range *cycles {
		if err := cycle(r); err != nil {
			return holding{}, fmt.Errorf("time %d: %w", n+1, err)
		}
		if n+1 == warmup {
			if before, err = r.t.holds(j); err != nil {
				return holding{}, err
			}
		}
		if (n+1)%50 == 0 {
			log.Printf("JDK %d: %d of %d", j.Version, n+1, *cycles)
		}
	}
	if err := r.restore(time.Now(), false); err != nil {
		return holding{}, err
	}
	after, err := r.t.holds(j)
	if err != nil {
		return holding{}, err
	}
	if err := r.t.ask("hold", "HELD"); err != nil {
		return holding{}, err
	}
	if _, _, wrong := r.t.calls(); wrong != 0 {
		return holding{}, fmt.Errorf("%d results of the program are wrong", wrong)
	}
	return after.less(before), r.ends("")
}

func (h holding) less(b holding) holding {
	return holding{
		threads: h.threads - b.threads, fds: h.fds - b.fds, maps: h.maps - b.maps, files: h.files - b.files,
		metaspace: h.metaspace - b.metaspace, heap: h.heap - b.heap, code: h.code - b.code, resident: h.resident - b.resident,
		rate: h.rate / b.rate,
	}
}

// loopJar packs the agent that redefines.
func loopJar(j jdk.JDK, dir string) (string, error) {
	return agentJar(j, dir, "loop", "Premain-Class: f.Loop\nCan-Retransform-Classes: true\n", "f/Loop.class", "f/Loop$1.class")
}

// agentJar packs an agent's compiled classes.
func agentJar(j jdk.JDK, dir, name, manifest string, classes ...string) (string, error) {
	file, text := filepath.Join(dir, name+".jar"), filepath.Join(dir, name+".manifest")
	if err := os.WriteFile(text, []byte(manifest), 0o600); err != nil {
		return "", err
	}
	args := []string{"cfm", file, text}
	for _, c := range classes {
		args = append(args, "-C", dir, c)
	}
	out, err := exec.Command(filepath.Join(j.Home, "bin", "jar"), args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("jar: %w: %s", err, out)
	}
	return file, nil
}

func redefine(r *round) error { return r.t.ask("redefine", "REDEFINED") }

// attachAndLeave is one session.
func attachAndLeave(r *round) error {
	ctx, cancel := context.WithTimeout(context.Background(), *patient)
	defer cancel()
	s, err := session.Attach(ctx, r.t.pid, session.Config{})
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // Finish says it
	if err := s.Start(ctx, session.Recording{Roots: []string{root}, Scheme: "A"}); err != nil {
		return err
	}
	time.Sleep(20 * time.Millisecond)
	_, err = s.Finish(ctx)
	return err
}

// holds looks at the process from outside, and asks the JVM.
func (t *target) holds(j jdk.JDK) (holding, error) {
	dir := fmt.Sprintf("/proc/%d/", t.pid)
	if _, err := jcmd(j, t.pid, "GC.run"); err != nil {
		return holding{}, err
	}
	begun, _, _ := t.calls()
	const look = 2 * time.Second
	time.Sleep(look)
	now, _, _ := t.calls()
	if _, err := jcmd(j, t.pid, "GC.run"); err != nil { // what the two seconds have made
		return holding{}, err
	}
	text, err := jcmd(j, t.pid, "PerfCounter.print")
	if err != nil {
		return holding{}, err
	}
	h := holding{rate: float64(now-begun) / look.Seconds(), files: len(t.files()), code: -1}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			continue
		}
		switch {
		case key == "sun.gc.metaspace.used":
			h.metaspace = n / 1024
		case liveSpace.MatchString(key):
			h.heap += n / 1024
		}
	}
	if text, err = jcmd(j, t.pid, "Compiler.codecache"); err == nil {
		h.code = 0
		for _, m := range usedCode.FindAllStringSubmatch(text, -1) {
			n, _ := strconv.ParseFloat(m[1], 64) //nolint:errcheck // the expression says that it is a number
			h.code += n
		}
	}
	for what, n := range map[string]*int{"task": &h.threads, "fd": &h.fds} {
		names, err := os.ReadDir(dir + what)
		if err != nil {
			return holding{}, err
		}
		*n = len(names)
	}
	maps, err := os.ReadFile(dir + "maps")
	if err != nil {
		return holding{}, err
	}
	h.maps = regions(string(maps))
	status, err := os.ReadFile(dir + "status")
	if err != nil {
		return holding{}, err
	}
	if m := residentSize.FindStringSubmatch(string(status)); m != nil {
		h.resident, err = strconv.ParseFloat(m[1], 64)
	}
	return h, err
}

// regions counts the mappings of a process (proc_pid_maps(5)), anonymous ones that touch as one: a JVM that gives parts of
// its metaspace back turns one mapping into hundreds, by protection alone.
func regions(maps string) (n int) {
	end := "" // of an anonymous mapping
	for line := range strings.Lines(maps) {
		f := strings.Fields(line)
		if len(f) < 5 {
			continue
		}
		from, to, _ := strings.Cut(f[0], "-")
		anonymous := len(f) == 5 && !strings.HasSuffix(f[1], "s")
		if !anonymous || from != end {
			n++
		}
		if end = ""; anonymous {
			end = to
		}
	}
	return n
}

var (
	liveSpace    = regexp.MustCompile(`^sun\.gc\.generation\.\d+\.space\.\d+\.used$`)
	usedCode     = regexp.MustCompile(`size=\d+Kb used=(\d+)Kb`)
	residentSize = regexp.MustCompile(`VmRSS:\s+(\d+) kB`)
)

// jcmd asks the JVM itself.
func jcmd(j jdk.JDK, pid int, command ...string) (string, error) {
	out, err := exec.Command(filepath.Join(j.Home, "bin", "jcmd"), append([]string{strconv.Itoa(pid)}, command...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("jcmd %s: %w: %s", command, err, out)
	}
	return string(out), nil
}
