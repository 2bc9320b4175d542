//go:build foreign

package foreign

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestForeign compares the counts of each recording with those that the program
// has of itself. It attaches twice to each process, since the first recording leaves
// linked sites behind.
func TestForeign(t *testing.T) {
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			for _, v := range p.versions {
				t.Run(fmt.Sprintf("jdk%d", v), func(t *testing.T) {
					j := jvmtest.Need(t, v)
					line := p.build(t, j)
					for _, va := range p.variants {
						t.Run(va.name, func(t *testing.T) { compareAll(t, p.command(t, va, j, line)) })
					}
				})
			}
		})
	}
}

// schemes are what a program is recorded with.
var schemes = flag.String("schemes", "A,B,C,D", "the `schemes` to record with")

// compareAll records a program with each scheme, by attaching and from its start. Scheme
// D is none for a program that has just begun, and needs JDK 11.
func compareAll(t *testing.T, c command) {
	for scheme := range strings.SplitSeq(*schemes, ",") {
		if scheme == "D" && c.version < 11 {
			continue
		}
		t.Run(scheme, func(t *testing.T) { attached(t, scheme, c) })
		if !c.warm && scheme != "D" {
			t.Run(scheme+"-run", func(t *testing.T) { started(t, scheme, c) })
		}
	}
}

var programs = []program{
	relink, nashorn,
	{
		name: "groovy", versions: []int{17, 21}, root: "work.order",
		build: func(t *testing.T, _ jvmtest.JDK) []string {
			return []string{"-cp", jars(t, "groovy"), "groovy.ui.GroovyMain", source(t, "groovy/work.groovy")}
		},
		variants: []variant{
			{name: "plain"},
			// After so few calls a site no longer asks for its target.
			{name: "settled", jvm: []string{"-Dgroovy.indy.optimize.threshold=50"}},
			{name: "churn", args: []string{"churn"}},
		},
	},
	{
		// JRuby names the class after the path of the script.
		name: "jruby", versions: []int{17, 21}, root: "work.RUBY$method$order$??", dir: "jruby",
		build: func(t *testing.T, _ jvmtest.JDK) []string {
			return []string{"-Djruby.compile.mode=FORCE", "-cp", jars(t, "jruby"), "org.jruby.Main", "work.rb"}
		},
		variants: []variant{
			{name: "indy", jvm: []string{"-Djruby.compile.invokedynamic=true"}},
			{name: "churn", jvm: []string{"-Djruby.compile.invokedynamic=true"}, args: []string{"churn"}},
			{name: "plain"},
		},
	},
	{
		name: "clojure", versions: []int{17, 21}, root: "work$order.invokeStatic",
		build: func(t *testing.T, _ jvmtest.JDK) []string {
			return []string{"-cp", jars(t, "clojure"), "clojure.main", source(t, "clojure/work.clj")}
		},
		variants: []variant{{name: "plain"}},
	},
	{
		name: "kotlin", versions: []int{17, 21}, root: "work.WorkKt.order",
		build:    buildKotlin,
		variants: []variant{{name: "plain"}},
	},
	{
		name: "scala", versions: []int{17, 21}, root: "work.Main$.order",
		build:    buildScala,
		variants: []variant{{name: "plain"}},
	},
}

// buildKotlin compiles the program once for all JDKs.
func buildKotlin(t *testing.T, _ jvmtest.JDK) []string {
	all := jars(t, "kotlin")
	library := only(t, all, "kotlin-stdlib-")
	dir := compiled(t, "kotlin", func(dir string) []string {
		return []string{
			"-cp", all, "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-no-reflect", "-no-stdlib",
			"-cp", library, "-jvm-target", "17", "-d", dir, source(t, "kotlin/work.kt"),
		}
	})
	return []string{"-cp", classpath(dir, library), "work.WorkKt"}
}

// buildScala compiles the program once for all JDKs.
func buildScala(t *testing.T, _ jvmtest.JDK) []string {
	all := jars(t, "scala")
	library := only(t, all, "scala3-library_", "scala-library-")
	dir := compiled(t, "scala", func(dir string) []string {
		return []string{"-cp", all, "dotty.tools.dotc.Main", "-usejavacp", "-d", dir, source(t, "scala/work.scala")}
	})
	return []string{"-cp", classpath(dir, library), "work.Main"}
}

// compiled returns the folder that a compiler's command, java with arguments,
// has filled.
func compiled(t *testing.T, name string, args func(dir string) []string) string {
	t.Helper()
	dir := filepath.Join(scratch, name)
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, exec.Command(jvmtest.Need(t, 17).Java(), args(dir)...))
	return dir
}

// only returns the entries of a class path whose files begin so.
func only(t *testing.T, all string, prefixes ...string) string {
	t.Helper()
	var out []string
	for _, prefix := range prefixes {
		for _, file := range filepath.SplitList(all) {
			if strings.HasPrefix(filepath.Base(file), prefix) {
				out = append(out, file)
			}
		}
	}
	if len(out) != len(prefixes) {
		t.Fatalf("no single %q in %s", prefixes, all)
	}
	return classpath(out...)
}

// jars returns the class path of what testdata/NAME/pom.xml asks for, fetched by
// Maven into the folder of the bench programs, once for each text of that file.
func jars(t *testing.T, name string) string {
	t.Helper()
	pom, err := os.ReadFile(filepath.Join("testdata", name, "pom.xml"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(pom)
	dir := filepath.Join(jdk.Bench(), "foreign", name+"-"+hex.EncodeToString(sum[:6]))
	if _, err := os.Stat(dir); err != nil {
		fetch(t, pom, dir)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no jars in %s: %v", dir, err)
	}
	return classpath(files...)
}

func fetch(t *testing.T, pom []byte, dir string) {
	t.Helper()
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		t.Skip("Maven not installed") // as root: apt-get install maven
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "new-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	if err := os.WriteFile(filepath.Join(tmp, "pom.xml"), pom, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(mvn, "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory="+filepath.Join(tmp, "jars"))
	cmd.Dir = tmp
	run(t, cmd)
	if err := os.Rename(filepath.Join(tmp, "jars"), dir); err != nil {
		t.Fatal(err)
	}
}
