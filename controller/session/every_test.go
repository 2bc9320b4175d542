package session_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestEvery records one of five root invocations: of each five in a row exactly one, with
// all of its calls, whichever threads they are on.
func TestEvery(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Parts")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, "Parts", nil, "2")
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.Parts.root"}, Every: 5})
		if n := ask(t, p, "run 500", "RAN"); n != 1000 {
			t.Fatalf("%d root calls", n)
		}
		r, err := s.Finish(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		wantCalls(t, r, map[string]int64{"Parts.root": 200, "Parts.branch": 200})
		if leaf := calls(r)["Parts.leaf"]; r.Seen != 1000 || leaf < 2000 || leaf > 2400 || !r.Exact() {
			t.Errorf("of %d, %d leaves, exact %v %v", r.Seen, leaf, r.Exact(), r.Gaps)
		}
	})
}

// TestAgents leaves the code of an agent out, unless it is let in.
func TestAgents(t *testing.T) {
	t.Parallel()
	j := jvmtest.Need(t, 17)
	dir := jvmtest.Compile(t, j, 8, map[string]string{
		"acme/agent/Agent.java":  "package acme.agent; public class Agent { public static void premain(String args) { } }",
		"acme/agent/Helper.java": "package acme.agent; public class Helper { public static int help(int x) { return twice(x) + 1; } static int twice(int x) { return 2 * x; } }",
		"t/Helped.java": `package t;
public class Helped {
    static int work(int x) { return acme.agent.Helper.help(x) + own(x); }
    static int own(int x) { return x; }
    public static void main(String[] a) throws Exception {
        System.out.println("READY");
        while (System.in.read() >= 0) System.out.println("RAN " + work(1));
    }
}`,
	})
	jar := filepath.Join(t.TempDir(), "acme.jar")
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("META-INF/MANIFEST.MF")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(w, "Manifest-Version: 1.0\r\nPremain-Class: acme.agent.Agent\r\nCan-Retransform-Classes: true\r\n\r\n")
	if err := errors.Join(z.Close(), os.WriteFile(jar, b.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, agents := range []bool{false, true} {
		p := program(t, j, dir, "Helped", []string{"-javaagent:" + jar})
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.Helped.work"}, Agents: agents, UntilCalls: 2})
		p.Send("go")
		<-s.Done()
		r, err := s.Finish(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c := calls(r)
		if c["Helped.work"] != 2 || c["Helped.own"] != 2 || (c["acme.agent.Helper.twice"] == 2) != agents || r.Exact() != true {
			t.Errorf("agents %v: %v, gaps %v", agents, c, r.Gaps)
		}
		if hidden := slices.ContainsFunc(r.Skipped, func(k export.Skipped) bool {
			return strings.HasPrefix(k.Method, "acme.agent.Helper.help(") && strings.Contains(k.Reason, "--agents lets it in")
		}); hidden == agents {
			t.Errorf("agents %v, skipped: %+v", agents, r.Skipped)
		}
		if named := slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "acme.jar") }); named == agents || !r.Prepared {
			t.Errorf("agents %v, prepared %v: %q", agents, r.Prepared, r.Notes)
		}
	}
}
