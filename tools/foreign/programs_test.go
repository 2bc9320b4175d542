//go:build foreign

package foreign

import (
	"os/exec"
	"slices"
	"strconv"
	"testing"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// A program is one of testdata.
type program struct {
	name     string
	versions []int // of the JDK
	root     string
	dir      string                                     // of testdata, where it runs; "" if that does not matter
	build    func(t *testing.T, j jvmtest.JDK) []string // arguments of java, without the program's own
	variants []variant
}

// A variant is a way to run a program.
type variant struct {
	name string
	root string   // another than the program's
	jvm  []string // more options of the JVM
	args []string // more arguments of the program
}

func (p program) command(t *testing.T, v variant, j jvmtest.JDK, line []string) command {
	c := command{java: j.Java(), jvm: slices.Concat(v.jvm, line), args: v.args, root: p.root}
	if v.root != "" {
		c.root = v.root
	}
	c.dir = t.TempDir()
	if p.dir != "" {
		c.dir = source(t, p.dir)
	}
	return c
}

// A command starts a program.
type command struct {
	root, java, dir string
	jvm, args       []string
}

// start makes the command for so many roots, 0 for as many as there are until
// a line comes.
func (c command) start(roots int) *exec.Cmd {
	cmd := exec.Command(c.java, slices.Concat(c.jvm, []string{strconv.Itoa(roots)}, c.args)...)
	cmd.Dir = c.dir
	return cmd
}

var programs = []program{
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
		name: "relink", versions: []int{8, 11, 17, 21, 25}, root: "relink.Main.root",
		build:    buildRelink,
		variants: []variant{{name: "plain"}, {name: "late", args: []string{"late"}}},
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
		name: "nashorn", versions: []int{8, 11}, root: "Work.root", // the JDK has none from 15 on
		build:    buildNashorn,
		variants: []variant{{name: "java"}, {name: "script", root: "jdk.nashorn.internal.scripts.Script$*work.order"}},
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
