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
	// warm: only by attaching. Nashorn gives up a function that it has compiled for the
	// wrong types in the middle of its first invocation: that ends by an exception, and
	// what is left of it runs in another method, which is not below the root.
	warm bool
}

func (p program) command(t *testing.T, v variant, j jvmtest.JDK, line []string) command {
	c := command{version: j.Version, java: j.Java(), jvm: slices.Concat(v.jvm, line), args: v.args, root: p.root, warm: v.warm}
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
	version         int // of the JDK
	root, java, dir string
	jvm, args       []string
	warm            bool
}

// start makes the command for so many roots, 0 for as many as there are until
// a line comes.
func (c command) start(roots int) *exec.Cmd {
	cmd := exec.Command(c.java, slices.Concat(c.jvm, []string{strconv.Itoa(roots)}, c.args)...)
	cmd.Dir = c.dir
	return cmd
}

// relink and nashorn need nothing but a JDK.
var (
	relink = program{
		name: "relink", versions: []int{8, 11, 17, 21, 25}, root: "relink.Main.root",
		build:    buildRelink,
		variants: []variant{{name: "plain"}, {name: "late", args: []string{"late"}}},
	}
	nashorn = program{
		name: "nashorn", versions: []int{8, 11}, root: "Work.root", // the JDK has none from 15 on
		build:    buildNashorn,
		variants: []variant{{name: "java"}, {name: "script", root: "jdk.nashorn.internal.scripts.Script$*work.order", warm: true}},
	}
)
