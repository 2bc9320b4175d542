package probe_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/verify"
)

// TestCorpus round-trips, rewrites, verifies and links every class of every
// module of every JDK at hand, and of the jars of the bench folder. It takes
// minutes: set RIVULET_CORPUS to the JDKs to do, "path,8,11,21,25,jars".
func TestCorpus(t *testing.T) {
	which := os.Getenv("RIVULET_CORPUS")
	if which == "" {
		t.Skip("RIVULET_CORPUS is not set")
	}
	for _, v := range strings.Split(which, ",") {
		t.Run(v, func(t *testing.T) {
			switch v {
			case "jars":
				corpusJars(t, classtest.Home(t))
			case "path":
				corpusJDK(t, classtest.Home(t))
			default:
				home := classtest.JDK(v)
				if home == "" {
					t.Fatalf("JDK %s is not at hand", v)
				}
				corpusJDK(t, home)
			}
		})
	}
}

// A module is the classes of an archive.
type module struct {
	name    string
	classes []classtest.Class
}

// corpusJDK does all modules of a JDK.
func corpusJDK(t *testing.T, home string) {
	start := time.Now()
	var ta tally
	var modules []module
	for _, a := range classtest.Archives(t, home) {
		modules = append(modules, module{strings.TrimSuffix(filepath.Base(a), filepath.Ext(a)), without(classtest.Read(t, a), "module-info")})
	}
	rewriteModules(t, &ta, modules)
	prog := loaderJar(t, home)
	early := loadedEarly(t, home, prog)
	dir := t.TempDir()
	var patched, redefined []classtest.Class
	var flags, boot []string
	for i, m := range modules {
		var in []classtest.Class
		for _, c := range m.classes {
			if early[c.Name] {
				redefined = append(redefined, c)
			} else {
				in = append(in, c)
			}
		}
		patched = append(patched, in...)
		if m.name == "java.base" || m.name == "rt" {
			in = append(in, buildStub(t, home))
		}
		jar := filepath.Join(dir, fmt.Sprint(i, ".jar"))
		classtest.Jar(t, jar, in)
		flags = append(flags, "--patch-module", m.name+"="+jar)
		boot = append(boot, jar)
	}
	if filepath.Base(filepath.Dir(classtest.JavaBase(home))) == "lib" { // JDK 8
		flags = []string{"-Xbootclasspath/p:" + strings.Join(boot, ":")}
	} else {
		flags = append(flags, "--add-modules", "ALL-SYSTEM")
	}
	jar := filepath.Join(dir, "boot.jar")
	classtest.Jar(t, jar, redefined)
	refused := link(t, home, patched, &ta, []string{jar}, append(flags, "-cp", prog, "-javaagent:"+prog)...)
	ta.summary(t, refused, start)
}

// corpusJars does the jars of the bench folder, each first on the class path of
// a JVM of its own, with the others behind it as they are.
func corpusJars(t *testing.T, home string) {
	start := time.Now()
	var ta tally
	refused := 0
	jars := benchJars(t)
	prog := loaderJar(t, home)
	dir := t.TempDir()
	stub, cp := filepath.Join(dir, "stub.jar"), filepath.Join(dir, "all.jar")
	classtest.Jar(t, stub, []classtest.Class{buildStub(t, home)})
	seen := map[string]bool{}
	for _, j := range jars {
		m := module{name: filepath.Base(j)}
		for _, c := range classtest.Read(t, j) {
			if key := c.Name + string(c.Bytes); !seen[key] && !strings.HasSuffix(c.Name, "module-info") {
				seen[key] = true
				m.classes = append(m.classes, c)
			}
		}
		if len(m.classes) == 0 {
			continue
		}
		flags := []string{"-cp", prog + ":" + cp + ":" + strings.Join(jars, ":"), "--patch-module", "java.base=" + stub}
		classtest.Jar(t, cp, m.classes)
		ta.bare = refusedBare(t, home, m.classes, flags)
		modules := []module{m}
		rewriteModules(t, &ta, modules)
		classtest.Jar(t, cp, modules[0].classes)
		refused += link(t, home, modules[0].classes, &ta, nil, flags...)
	}
	ta.summary(t, refused, start)
}

// benchJars returns the jars of the bench folder, each once.
func benchJars(t *testing.T) (jars []string) {
	t.Helper()
	links, _ := filepath.Glob(filepath.Join(classtest.Bench(), "root", "usr", "share", "java", "*.jar"))
	for _, j := range links {
		if real, err := filepath.EvalSymlinks(j); err == nil && !slices.Contains(jars, real) {
			jars = append(jars, real)
		}
	}
	if len(jars) == 0 {
		t.Fatal("no jars at hand")
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
func rewriteModules(t *testing.T, ta *tally, modules []module) {
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
				if _, err := verify.Method(c, &c.Methods[j], h); errors.Is(err, verify.ErrOldVerifier) {
					ta.old++
				} else if err != nil {
					t.Errorf("refused by our verifier: %v", err)
				}
			}
		}
	}
	t.Logf("rewritten and verified in %v, %d methods left to the old verifier", time.Since(start), ta.old)
}

// summary prints what issue 3 asks for.
func (ta *tally) summary(t *testing.T, refused int, start time.Time) {
	t.Helper()
	var lines []string
	skipped := 0
	for reason, n := range ta.skipped {
		skipped += n
		lines = append(lines, fmt.Sprintf("skipped %d: %s", n, reason))
	}
	sort.Strings(lines)
	slices.Sort(ta.odd)
	t.Logf("%s\nclasses %d methods %d rewritten %d skipped %d verify-errors %d seconds %.0f",
		strings.Join(lines, "\n"), ta.classes, ta.methods, ta.rewritten, skipped, refused, time.Since(start).Seconds())
}
