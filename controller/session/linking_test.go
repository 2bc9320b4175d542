package session_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestLinking has the agent link no VarHandle. It works inside the program's class loads. To link a VarHandle for the first time
// the JVM loads a class: had the program begun to load that one, the JVM would keep a ClassCircularityError,
// and never link a VarHandle again, for nobody.
func TestLinking(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Linking")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		p := program(t, j, dir, "Linking", []string{"-Xlog:class+load"})
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.Linking.root"}, Scheme: "A", UntilCalls: 3})
		p.Send("root")
		p.WaitLine("CALLED")
		wantCalls(t, finish(t, s), map[string]int64{"Linking.root": 3})
		links := func(line string) bool { return strings.Contains(line, " java.lang.invoke.VarHandle$AccessDescriptor ") }
		if i := slices.IndexFunc(p.Stdout(), links); i >= 0 {
			t.Errorf("a VarHandle was linked: %s", p.Stdout()[i])
		}
		p.Send("link")
		p.WaitLine("LINKED")
		if !slices.ContainsFunc(p.Stdout(), links) {
			t.Error("the program's own was not seen")
		}
	}, 17, 21, 25) // on 11 the JDK links one when it maps a file, before classes are handed to the agent
}
