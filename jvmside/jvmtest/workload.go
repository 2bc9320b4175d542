package jvmtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
)

// A program of the bench folder: its main class, its usual arguments and the
// jars beside the drivers' classes.
type program struct {
	main string
	args string
	jars string
}

var programs = map[string]program{
	"sunflow": {"wl.SunflowW", "6 128 1", "sunflow janino commons-compiler"},
	"h2":      {"wl.SqlW", "12 h2 6000", "h2 slf4j-api"},
	"xalan":   {"wl.XsltW", "100 org.apache.xalan.processor.TransformerFactoryImpl 1", "xalan2 serializer xercesImpl xml-apis"},
	"ecj":     {"wl.EcjW", "4", "ecj"},
	"javac":   {"wl.JavacW", "4", ""},
	"batik":   {"wl.BatikW", "4 256", "batik-all xml-apis-ext xml-apis xmlgraphics-commons xercesImpl rhino commons-io commons-logging"},
	"micro":   {"work.Main", "", ""},
}

// Workload starts a program of the bench folder ("sunflow", "h2", "xalan",
// "ecj", "javac", "batik", or "micro" with KIND BARE PROFILED POST PARAM), or
// skips the test if the programs have not been fetched. Without arguments it
// takes the usual ones. With "-Dwl.bare=N" among jvmArgs a program waits for
// a line before and after its counted iterations.
func Workload(t testing.TB, j JDK, jvmArgs []string, name string, args ...string) *Proc {
	t.Helper()
	p, ok := programs[name]
	if !ok {
		t.Fatalf("no workload is called %q", name)
	}
	bench := jdk.Bench()
	classpath := []string{filepath.Join(bench, "classes")}
	for jar := range strings.FieldsSeq(p.jars) {
		classpath = append(classpath, filepath.Join(bench, "root", "usr", "share", "java", jar+".jar"))
	}
	for _, file := range append(classpath, filepath.Join(bench, "classes", filepath.FromSlash(strings.ReplaceAll(p.main, ".", "/"))+".class")) {
		if _, err := os.Stat(file); err != nil {
			t.Skipf("workload %s not fetched", name)
		}
	}
	if len(args) == 0 {
		args = strings.Fields(p.args)
	}
	cmd := exec.Command(j.Java(), slices.Concat(jvmArgs, []string{
		"-Djava.awt.headless=true",
		"-Dwl.home=" + bench,
		"-Djc.src=" + filepath.Join(bench, "src", "commons-math3-3.6.1-src", "src", "main", "java"),
		"-cp", strings.Join(classpath, string(os.PathListSeparator)),
		p.main,
	}, args)...)
	cmd.Dir = bench // the programs find their input from here
	return StartCmd(t, cmd)
}
