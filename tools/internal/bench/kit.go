// Package bench is what the measuring tasks share: the product's binary, the
// JDKs, programs that say where they are by lines, recordings of them, the
// arithmetic, and the pages of docs/figures.
//
// All of it is for one goroutine at a time: nothing may run beside what is
// being measured.
package bench

import (
	"embed"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
)

//go:embed testdata
var sources embed.FS

// Options are the flags of all measuring tasks. With Only a run replaces the rows of
// these programs; with Short or Rivulet it prints and writes no page.
type Options struct {
	Part, Only, JDK, Clock, Rivulet string
	Short                           bool
	Reps                            int // processes measured for each figure
}

// Parse reads the command line. reps is how often a full run repeats.
func Parse(reps int) *Options {
	o := &Options{}
	flag.StringVar(&o.Part, "part", "", "only this `part` of the page")
	flag.StringVar(&o.Only, "only", "", "only these `programs`, comma-separated")
	flag.StringVar(&o.JDK, "jdk", "17,25", "feature `versions`, comma-separated")
	flag.StringVar(&o.Clock, "clock", "tick,precise", "`clocks`, comma-separated")
	flag.StringVar(&o.Rivulet, "rivulet", "", "measure this `binary` instead of one built from the checkout")
	flag.BoolVar(&o.Short, "short", false, "few repetitions, to see whether it works")
	flag.IntVar(&o.Reps, "reps", reps, "`processes` measured for each figure")
	flag.Parse()
	if o.Short && !given("reps") {
		o.Reps = 1
	}
	return o
}

func given(name string) (found bool) {
	flag.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

// Full reports whether nothing was left out that a section of a page doesn't
// name by itself: programs, repetitions, the product of this checkout.
func (o *Options) Full() bool { return !given("only") && !given("short") && !given("rivulet") }

// some reports whether only programs were left out.
func (o *Options) some() bool { return given("only") && !given("short") && !given("rivulet") }

// Has reports whether a part of the page is wanted.
func (o *Options) Has(part string) bool { return o.Part == "" || o.Part == part }

// Wants reports whether a program is wanted.
func (o *Options) Wants(program string) bool {
	return o.Only == "" || slices.Contains(strings.Split(o.Only, ","), program)
}

// Clocks are the clocks wanted.
func (o *Options) Clocks() []string { return strings.Split(o.Clock, ",") }

// A Kit is what measuring needs: a built product and a temporary folder.
type Kit struct {
	Options           // Rivulet is the binary's path
	JDKs    []jdk.JDK // those wanted, all of them there
	Temp    string
	scripts string // folder of the bench programs' scripts
	help    string // of "rivulet profile"
}

// Knows reports whether "rivulet profile" has a flag. What a figure needs and an
// older binary doesn't have is left out and said to be.
func (k *Kit) Knows(flag string) bool { return strings.Contains(k.help, flag) }

// NewKit builds the product from the current folder, which must be the
// repository's root. The caller closes the kit.
func NewKit(o *Options) (*Kit, error) {
	k := &Kit{Options: *o, scripts: os.Getenv("BENCH_SCRIPTS")}
	if k.scripts == "" {
		k.scripts = filepath.Join("..", "shared", "bench")
	}
	for _, v := range strings.Split(o.JDK, ",") {
		n, err := strconv.Atoi(v)
		if err != nil {
			return nil, fmt.Errorf("-jdk %q: give feature versions, such as 17,25", o.JDK)
		}
		j, ok := jdk.Find(n)
		if !ok || !j.HasJavac() {
			return nil, fmt.Errorf("no JDK %d with a compiler here: \"go tool task bench:setup\" fetches it, -jdk does without", n)
		}
		k.JDKs = append(k.JDKs, j)
	}
	var err error
	if k.Temp, err = os.MkdirTemp("", "rivulet-bench"); err != nil {
		return nil, err
	}
	if k.Rivulet == "" {
		k.Rivulet = filepath.Join(k.Temp, "rivulet")
		if b, err := exec.Command("go", "build", "-o", k.Rivulet, ".").CombinedOutput(); err != nil {
			k.Close()
			return nil, fmt.Errorf("build rivulet: %w\n%s", err, b)
		}
	}
	help, err := exec.Command(k.Rivulet, "profile", "--help").Output()
	if err != nil {
		k.Close()
		return nil, fmt.Errorf("%s profile --help: %w", k.Rivulet, err)
	}
	k.help = string(help)
	return k, nil
}

// Close removes the temporary folder.
func (k *Kit) Close() { os.RemoveAll(k.Temp) }

// Main runs a measuring task and, if the run was full, publishes the sections of
// its page that were measured. It ends the process on errors, and those of
// [Page.Failed].
func Main(reps int, name string, measure func(*Kit) (*Page, error)) {
	log.SetFlags(log.Ltime)
	k, err := NewKit(Parse(reps))
	if err != nil {
		log.Fatal(err)
	}
	defer k.Close()
	page, err := measure(k)
	if err == nil {
		page.end()
		switch {
		case k.Full():
			err = page.Update(name)
		case k.some():
			err = page.UpdateRows(name)
		}
		err = errors.Join(err, page.failed)
	}
	if err != nil {
		k.Close()
		log.Fatal(err)
	}
}

// NewPage begins a page that a task writes, whose sections say what they were
// measured on and how often.
func (k *Kit) NewPage(task, title, intro string) *Page {
	p := NewPage(task, title, intro+" How to read it: [measuring](README.md).")
	p.run = " " + k.Machine()
	if k.Reps > 1 {
		p.run += fmt.Sprintf(" Medians of %d processes for each figure.", k.Reps)
	} else {
		p.run += " One process for each figure."
	}
	return p
}

// Machine says what was measured on, for a page.
func (k *Kit) Machine() string {
	var versions []string
	for _, j := range k.JDKs {
		versions = append(versions, j.Full)
	}
	return fmt.Sprintf("Measured on %s with %d cores, %s, JDK %s.",
		time.Now().Format(time.DateOnly), runtime.NumCPU(), runtime.GOARCH, strings.Join(versions, " and "))
}

// Compile compiles the Java sources of this package for any JDK and returns
// the class path on which they run, with the bench programs' own classes.
func (k *Kit) Compile() (string, error) {
	out := filepath.Join(k.Temp, "classes")
	path := out + string(filepath.ListSeparator) + filepath.Join(jdk.Bench(), "classes")
	if _, err := os.Stat(out); err == nil {
		return path, nil
	}
	src := filepath.Join(k.Temp, "src")
	if err := os.CopyFS(src, sources); err != nil {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(src, "testdata", "work", "*.java"))
	if err != nil {
		return "", err
	}
	args := append([]string{"-nowarn", "-Xlint:none", "--release", "8", "-cp", path, "-d", out}, files...)
	if b, err := exec.Command(k.JDKs[0].Javac(), args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("javac: %w (are the bench programs there? \"go tool task bench:setup\"): %s", err, b)
	}
	return path, nil
}
