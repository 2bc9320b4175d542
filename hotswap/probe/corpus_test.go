//go:build corpus

package probe_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/verify"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

var (
	corpusOf      = flag.String("corpus.of", "8,11,17,21,25,jars,8+count,11+count,17+count,21+count,25+count,jars+count,17+blocks,jars+blocks,jars+invokes,jars+accesses,jars+arithmetic,jars+branches", "what TestCorpus does: JDKs at hand by version, and jars; +count has methods count what they execute and allocate, too, +blocks by whole blocks, +invokes and so on only instructions of a kind")
	corpusFigures = flag.String("corpus.figures", "", "file that gets TestCorpus's figures")
	corpusLast    = flag.String("corpus.last", "", "file that gets TestCorpus's summary")
)

// TestCorpus round-trips, rewrites, verifies and links every class of every
// module of every JDK at hand, and of the jars of the bench folder and of
// tools/corpora.sh. It takes minutes: "go tool task corpus".
func TestCorpus(t *testing.T) {
	var all corpus
	var rows []figure
	start := time.Now()
	for _, v := range strings.Split(*corpusOf, ",") {
		t.Run(v, func(t *testing.T) {
			begin, ta, name := time.Now(), &corpus{}, "jars"
			v, how, _ := strings.Cut(v, "+")
			if how != "" {
				kind, ok := ways[how]
				if !ok {
					t.Fatalf("-corpus.of: %q is no way of counting", how)
				}
				ta.in = countingOf(t, stubHooks.Class, how == "blocks", kind)
			}
			if v == "jars" {
				corpusJars(t, ta)
			} else {
				n, err := strconv.Atoi(v)
				if err != nil {
					t.Fatalf("-corpus.of: %q is neither a version nor jars", v)
				}
				j := jvmtest.Need(t, n)
				name = "JDK " + j.Full
				corpusJDK(t, ta, j.Home)
			}
			if how != "" {
				if name += ", counting"; how != "count" {
					name += " " + how
				}
				t.Logf("%d need no counter, not counted: %v", ta.fixed, ta.uncounted)
			}
			t.Log(ta.summary(begin))
			rows = append(rows, figure{name, time.Since(begin), *ta})
			all.add(ta)
		})
	}
	text := all.summary(start)
	t.Log("\n" + text)
	if *corpusFigures != "" {
		writeCorpus(t, *corpusFigures, rows, &all, text)
	}
	if *corpusLast != "" {
		if err := os.WriteFile(*corpusLast, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// ways are those of counting.
var ways = map[string]probe.Kind{
	"count": probe.KindAll, "blocks": probe.KindAll,
	"invokes": probe.KindInvoke, "accesses": probe.KindAccess, "arithmetic": probe.KindArithmetic, "branches": probe.KindBranch,
}

// A figure is a row of docs/figures/corpus.md.
type figure struct {
	name string
	time time.Duration
	corpus
}

// A corpus is a tally of more.
type corpus struct {
	tally
	old     int // methods verified by inference
	refused int // classes that a JVM refuses, only with probes
	unfit   int // classes that it refuses as they are
}

// writeCorpus writes docs/figures/corpus.md.
func writeCorpus(t *testing.T, file string, rows []figure, all *corpus, text string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("# Every class there is\n\nWritten by `go tool task corpus` on " + time.Now().UTC().Format(time.DateOnly) + ". ")
	b.WriteString("Each class was round-tripped to identical bytes, rewritten in all its methods (\"counting\": with what they execute counted), passed by our verifier, and loaded and linked by a JVM under `-Xverify:all`: the JDKs' own by themselves, jars by the newest JDK that takes them. \"Old\" counts methods without stack maps, verified by inference; \"refused bare\" are classes that the JVM refuses also as they are, because jars don't fit together; of \"unlinked\" ones a superclass or so is in none of the jars.\n\n")
	b.WriteString("| corpus | classes | methods | rewritten | native, abstract | jsr | other | old | refused bare | unlinked | verify errors | seconds |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		none := r.skipped["native"] + r.skipped["abstract"]
		jsr := 0
		for reason, n := range r.skipped {
			if strings.HasPrefix(reason, "jsr") {
				jsr += n
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %.0f |\n", r.name, r.classes, r.methods, r.rewritten, none, jsr,
			r.methods-r.rewritten-none-jsr, r.old, r.unfit, r.missing, r.refused, r.time.Seconds())
	}
	b.WriteString("\nThe methods skipped for other reasons than having no code:\n\n")
	for _, s := range all.listed() {
		b.WriteString("- `" + s + "`\n")
	}
	b.WriteString("\nThe run ended with\n\n```\n" + text + "\n```\n")
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// add adds the figures of another corpus.
func (ta *corpus) add(o *corpus) {
	if ta.skipped == nil {
		ta.skipped = map[string]int{}
	}
	ta.classes += o.classes
	ta.methods += o.methods
	ta.rewritten += o.rewritten
	ta.old += o.old
	ta.refused += o.refused
	ta.odd = append(ta.odd, o.odd...)
	for reason, n := range o.skipped {
		ta.skipped[reason] += n
	}
}

// listed returns the odd methods, each once; those with jsr, which old jars
// are full of, as one line.
func (ta *corpus) listed() (lines []string) {
	jsr := 0
	for _, s := range ta.odd {
		if strings.Contains(s, ": jsr or ret") {
			jsr++
			continue
		}
		lines = append(lines, s)
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	if jsr > 0 {
		lines = append(lines, fmt.Sprintf("%d methods with jsr or ret", jsr))
	}
	return lines
}

// A module is the classes of an archive.
type module struct {
	name    string
	classes []classtest.Class
}

// corpusJDK does all modules of a JDK.
func corpusJDK(t *testing.T, ta *corpus, home string) {
	var modules []module
	for _, a := range classtest.Archives(t, home) {
		modules = append(modules, module{strings.TrimSuffix(filepath.Base(a), filepath.Ext(a)), without(classtest.Read(t, a), "module-info")})
	}
	rewriteModules(t, ta, modules)
	prog := loaderJar(t, home)
	im := patchJDK(t, home, modules, prog, buildStub(t, home))
	ta.refused += link(t, home, im.patched, &ta.tally, []string{im.early}, append(im.flags, "-cp", prog, "-javaagent:"+prog)...)
}

// An image is a JDK with other classes.
type image struct {
	patched []classtest.Class // in place from the start
	flags   []string          // of java, for that
	early   string            // jar of the classes to redefine, which the JVM loads before main
}

// patchJDK puts classes in the place of a JDK's, and the stub beside them.
func patchJDK(t *testing.T, home string, modules []module, prog string, stub classtest.Class) (im image) {
	t.Helper()
	early := loadedEarly(t, home, prog)
	dir := t.TempDir()
	var redefined []classtest.Class
	var boot []string
	for i, m := range modules {
		var in []classtest.Class
		for _, c := range m.classes {
			if early[c.Name] {
				redefined = append(redefined, c)
			} else {
				in = append(in, c)
			}
		}
		im.patched = append(im.patched, in...)
		if m.name == "java.base" || m.name == "rt" {
			in = append(in, stub)
		}
		jar := filepath.Join(dir, fmt.Sprint(i, ".jar"))
		classtest.Jar(t, jar, in)
		im.flags = append(im.flags, "--patch-module", m.name+"="+jar)
		boot = append(boot, jar)
	}
	if filepath.Base(filepath.Dir(classtest.JavaBase(home))) == "lib" { // JDK 8
		im.flags = []string{"-Xbootclasspath/p:" + strings.Join(boot, ":")}
	} else {
		im.flags = append(im.flags, "--add-modules", "ALL-SYSTEM")
	}
	im.early = filepath.Join(dir, "boot.jar")
	classtest.Jar(t, im.early, redefined)
	return im
}

// major17 is the class-file version of JDK 17, which runs the jars.
const major17 = 61

// corpusJars does the jars at hand, each first on the class path of a JVM of
// its own, with the others behind it as they are.
func corpusJars(t *testing.T, ta *corpus) {
	j := jvmtest.Need(t, 17)
	jars := allJars(t)
	prog := loaderJar(t, j.Home)
	dir := t.TempDir()
	stub, cp := filepath.Join(dir, "stub.jar"), filepath.Join(dir, "all.jar")
	classtest.Jar(t, stub, []classtest.Class{buildStub(t, j.Home)})
	for _, classes := range batches(t, jars) {
		flags := []string{"-cp", prog + ":" + cp + ":" + strings.Join(jars, ":"), "--patch-module", "java.base=" + stub}
		classtest.Jar(t, cp, classes)
		ta.bare = refusedBare(t, j.Home, classes, flags)
		ta.unfit += len(ta.bare)
		modules := []module{{"", classes}}
		rewriteModules(t, ta, modules)
		classtest.Jar(t, cp, modules[0].classes)
		ta.refused += link(t, j.Home, modules[0].classes, &ta.tally, nil, flags...)
	}
}

// batches returns the classes of jars in batches for one JVM each: none has
// two of a name, and no class comes twice.
func batches(t *testing.T, jars []string) (bs [][]classtest.Class) {
	t.Helper()
	const enough = 5000
	seen := map[string]bool{}
	var now []classtest.Class
	names := map[string]bool{}
	for _, jar := range jars {
		var in []classtest.Class
		clash := false
		for _, c := range classtest.Read(t, jar) {
			key := c.Name + string(c.Bytes)
			if seen[key] || strings.HasSuffix(c.Name, "module-info") || len(c.Bytes) < 10 || c.Bytes[7] > major17 {
				continue
			}
			seen[key] = true
			clash = clash || names[c.Name]
			in = append(in, c)
		}
		if clash || len(now) > enough {
			bs, now = append(bs, now), nil
			clear(names)
		}
		for _, c := range in {
			names[c.Name] = true
		}
		now = append(now, in...)
	}
	return append(bs, now)
}

// allJars returns the jars of the bench folder and of tools/corpora.sh, each
// once.
func allJars(t *testing.T) (jars []string) {
	t.Helper()
	for _, pattern := range []string{
		filepath.Join(classtest.Bench(), "root", "usr", "share", "java", "*.jar"),
		filepath.Join(classtest.Corpora(), "root", "usr", "share", "java", "*.jar"),
		filepath.Join(classtest.Corpora(), "root", "usr", "share", "kotlin", "kotlinc", "lib", "*.jar"),
		filepath.Join(classtest.Corpora(), "proguard", "*.jar"),
	} {
		links, _ := filepath.Glob(pattern)
		for _, j := range links {
			if real, err := filepath.EvalSymlinks(j); err == nil && !slices.Contains(jars, real) {
				jars = append(jars, real)
			}
		}
	}
	if len(jars) == 0 {
		t.Skip("workload jars not fetched")
	}
	return jars
}

// refusedBare returns the classes that are refused as they are, because the
// jars on the class path don't fit together.
func refusedBare(t *testing.T, home string, cs []classtest.Class, flags []string) (names []string) {
	t.Helper()
	args := append([]string{"-Xverify:all", "-Xmx1g"}, flags...)
	out, _ := classtest.Java(t, home, append(args, "LoadAll", nameList(t, cs))...)
	for line := range strings.Lines(out) {
		if rest, ok := strings.CutPrefix(line, "REFUSED "); ok {
			t.Log("refused before rewriting: ", strings.TrimSpace(rest))
			name, _, _ := strings.Cut(rest, ":")
			names = append(names, name)
		}
	}
	return names
}

// rewriteModules replaces the classes by rewritten ones, after a round trip,
// and verifies these.
func rewriteModules(t *testing.T, ta *corpus, modules []module) {
	h := verify.Classes{}
	for i := range modules {
		for _, cf := range modules[i].classes {
			c, err := classfile.Parse(cf.Bytes)
			if err != nil {
				t.Fatalf("%s: %v", cf.Name, err)
			}
			if !bytes.Equal(c.Bytes(), cf.Bytes) {
				t.Errorf("%s: written bytes differ", cf.Name)
			}
			h.Add(c)
		}
	}
	start := time.Now()
	for i := range modules {
		modules[i].classes = ta.rewriteAll(t, modules[i].classes)
		for _, cf := range modules[i].classes {
			c, err := classfile.Parse(cf.Bytes)
			if err != nil {
				t.Fatalf("%s: %v", cf.Name, err)
			}
			for j := range c.Methods {
				m := &c.Methods[j]
				_, err := verify.Method(c, m, h)
				if err != nil && !errors.Is(err, verify.ErrSubroutines) {
					t.Errorf("refused by our verifier: %v", err)
				}
				if err == nil && c.Major < classfile.MajorStackMaps && m.Attribute(classfile.AttrCode) != nil {
					ta.old++
				}
			}
		}
	}
	t.Logf("rewritten and verified in %v, %d methods by inference", time.Since(start), ta.old)
}

// summary says what issue 3 asks for.
func (ta *corpus) summary(start time.Time) string {
	var lines []string
	skipped := 0
	for reason, n := range ta.skipped {
		skipped += n
		lines = append(lines, fmt.Sprintf("skipped %d: %s", n, reason))
	}
	sort.Strings(lines)
	return fmt.Sprintf("%s\nclasses %d methods %d rewritten %d skipped %d verify-errors %d seconds %.0f",
		strings.Join(lines, "\n"), ta.classes, ta.methods, ta.rewritten, skipped, ta.refused, time.Since(start).Seconds())
}
