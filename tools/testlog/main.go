// Command testlog reads what "go test -json" prints and says it for people:
// a line per package, the output of failed tests, each skipped test with its
// reason, the tests that took longest. It fails if a test failed, if none ran, or if one was skipped that
// is not on the list of allowed skips.
//
//	go test -json ./... | testlog -allowed .ci/allowed-skips -if missing-jdks
//
// A line of the list is a condition, a test and a reason:
//
//	always        TestSharedMemory     no tmpfs
//	missing-jdks  *                    JDK * not installed
//
// It allows a skip if its condition is "always" or given by -if, and if test
// and reason match, where * stands for any text.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("testlog: ")
	allowed := flag.String("allowed", "", "`file` of allowed skips")
	conditions := flag.String("if", "", "conditions that hold, separated by commas")
	summary := flag.String("summary", "", "write package lines and numbers to this `file` too")
	flag.Parse()

	list, err := readList(*allowed, strings.Split(*conditions, ","))
	if err != nil {
		log.Fatal(err)
	}
	r := report{out: os.Stdout, allowed: list, output: map[test][]string{}, took: map[test]*timed{}}
	if err := r.read(os.Stdin); err != nil {
		log.Fatal(err)
	}
	ok := r.finish()
	if *summary != "" {
		if err := os.WriteFile(*summary, []byte(strings.Join(r.closing, "\n")+"\n"), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	if !ok {
		os.Exit(1)
	}
}

// A rule allows skips.
type rule struct {
	test, reason *regexp.Regexp
}

func readList(file string, conditions []string) ([]rule, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var rules []rule
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		if len(f) < 3 {
			return nil, fmt.Errorf("%s:%d: want condition, test and reason", file, n)
		}
		if f[0] == "always" || slices.Contains(conditions, f[0]) {
			rules = append(rules, rule{glob(f[1]), glob(strings.Join(f[2:], " "))})
		}
	}
	return rules, nil
}

// glob turns a pattern with * into an expression for the whole text.
func glob(pattern string) *regexp.Regexp {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$")
}

// A test is named by its package and itself; "" is the package.
type test struct{ pkg, name string }

// An event is a line of test2json.
type event struct {
	Action     string
	Package    string
	Test       string
	Output     string
	ImportPath string
	Elapsed    float64 // seconds; without the time that a parallel test waited for its turn
}

type report struct {
	out     io.Writer
	allowed []rule

	output                  map[test][]string
	closing                 []string // lines for the summary
	passed, failed, skipped int
	brokenPackages          int
	broken                  []string // failed tests
	refused                 []string // tests skipped without leave
	took                    map[test]*timed
}

// slowest is how many tests the end names.
const slowest = 25

// A timed test took so many seconds: by itself, which leaves out subtests that
// run beside each other, and its subtests of the first level together.
type timed struct{ own, parts float64 }

func (t *timed) seconds() float64 { return max(t.own, t.parts) }

func (r *report) elapsed(t test, seconds float64) {
	name, part, _ := strings.Cut(t.name, "/")
	if strings.Contains(part, "/") {
		return
	}
	top := test{t.pkg, name}
	if r.took[top] == nil {
		r.took[top] = &timed{}
	}
	if part == "" {
		r.took[top].own = seconds
	} else {
		r.took[top].parts += seconds
	}
}

func (r *report) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
				fmt.Fprint(r.out, line) // go itself speaks, or the task runner
			} else {
				r.event(e)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *report) event(e event) {
	t := test{e.Package, e.Test}
	if e.Elapsed > 0 && e.Test != "" && e.Action != "output" {
		r.elapsed(t, e.Elapsed)
	}
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "output":
		if e.Test == "" && isResult(e.Output) {
			fmt.Fprint(r.out, e.Output)
			r.closing = append(r.closing, strings.TrimSuffix(e.Output, "\n"))
			return
		}
		if !strings.HasPrefix(e.Output, "=== ") { // which test runs now
			r.output[t] = append(r.output[t], e.Output)
		}
	case "pass":
		if e.Test != "" {
			r.passed++
		}
		delete(r.output, t)
	case "fail":
		fmt.Fprint(r.out, strings.Join(r.output[t], ""))
		if e.Test != "" {
			r.failed++
			r.broken = append(r.broken, e.Package+" "+e.Test)
		} else {
			r.brokenPackages++
		}
		delete(r.output, t)
	case "skip":
		if e.Test != "" {
			r.skip(t)
		}
		delete(r.output, t)
	}
}

// isResult knows the line that go test prints for a package.
func isResult(line string) bool {
	return strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "FAIL\t") || strings.HasPrefix(line, "?   \t")
}

// location is what the testing package puts before a reason.
var location = regexp.MustCompile(`^\S+\.go:\d+: `)

func (r *report) skip(t test) {
	r.skipped++
	// The reason is what the test said last, before its "--- SKIP" line.
	reason := ""
	for _, line := range r.output[t] {
		line = strings.TrimSpace(line)
		if location.MatchString(line) {
			reason = location.ReplaceAllString(line, "")
		}
	}
	fmt.Fprintf(r.out, "--- SKIP: %s %s (%s)\n", t.pkg, t.name, reason)
	for _, rule := range r.allowed {
		if rule.test.MatchString(t.name) && rule.reason.MatchString(reason) {
			return
		}
	}
	r.refused = append(r.refused, fmt.Sprintf("%s %s: %s", t.pkg, t.name, reason))
}

// finish prints the end and reports whether all is well.
func (r *report) finish() bool {
	by := slices.SortedFunc(maps.Keys(r.took), func(a, b test) int { return cmp.Compare(r.took[b].seconds(), r.took[a].seconds()) })
	for _, t := range by[:min(slowest, len(by))] {
		fmt.Fprintf(r.out, "%6.1f s  %s %s\n", r.took[t].seconds(), t.pkg, t.name)
	}
	for _, s := range r.broken {
		fmt.Fprintf(r.out, "failed: %s\n", s)
	}
	for _, s := range r.refused {
		fmt.Fprintf(r.out, "skipped but not on the list of allowed skips: %s\n", s)
	}
	r.closing = append(r.closing, fmt.Sprintf("%d passed, %d failed, %d skipped", r.passed, r.failed, r.skipped))
	fmt.Fprintln(r.out, r.closing[len(r.closing)-1])
	if r.passed == 0 {
		fmt.Fprintln(r.out, "no test ran")
	}
	return r.failed == 0 && r.brokenPackages == 0 && r.passed > 0 && len(r.refused) == 0
}
