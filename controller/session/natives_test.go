package session_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// library compiles testdata/natives.c; "" where there is no C compiler or jni.h.
func library(t *testing.T) string {
	t.Helper()
	home := filepath.Dir(filepath.Dir(jvmtest.Any(t).Java()))
	for _, dir := range []string{home, filepath.Dir(home)} {
		include := filepath.Join(dir, "include")
		if _, err := os.Stat(filepath.Join(include, "jni.h")); err != nil {
			continue
		}
		out := filepath.Join(t.TempDir(), "libnatives.so")
		cmd := exec.Command("cc", "-shared", "-fPIC", "-O1", "-I"+include, "-I"+filepath.Join(include, "linux"), "-o", out, "testdata/natives.c")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Logf("no library: %v\n%s", err, text)
			return ""
		}
		return out
	}
	return ""
}

// natives sums the report's methods with their exceptions.
func natives(r *export.Report) map[string]count {
	out := map[string]count{}
	for _, f := range cct.FlatOf(r.Tree.Roots()) {
		m, _ := r.Lookup(f.Method)
		name, _, _ := strings.Cut(m.Name, "(")
		c := out[strings.TrimPrefix(name, "t.")]
		out[strings.TrimPrefix(name, "t.")] = count{c.calls + f.Calls, c.thrown + f.Thrown}
	}
	return out
}

// TestNatives records natives where they are called: the application's, linked
// and not, and the JDK's; those of classes that are loaded when their callers
// have probes; and one that turns out not to be the only target of its call.
func TestNatives(t *testing.T) {
	t.Parallel()
	const times = 10
	dir := sources(t, "Natives")
	lib := library(t)
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		for _, which := range []string{"", session.NativesAll, session.NativesOff} {
			if which != "" && j.Version != 17 {
				continue
			}
			t.Run("natives-"+which, func(t *testing.T) {
				t.Parallel()
				args := []string{"10"}
				if lib != "" {
					args = append(args, lib)
				}
				p := program(t, j, dir, "Natives", nil, args...)
				s := attached(t, p)
				start(t, s, session.Recording{Roots: []string{"t.Natives.root"}, UntilCalls: times, Natives: which})
				p.Send("go")
				p.WaitLine("OK")
				r := finish(t, s)
				p.Send("end")
				if code := p.Wait(); code != 0 {
					t.Errorf("exit code %d", code)
				}
				on, all := int64(1), int64(0)
				switch which {
				case session.NativesAll:
					all = 1
				case session.NativesOff:
					on = 0
				}
				want := map[string]count{
					"Natives.unlinked":                      {3 * times * on, 3 * times * on},
					"Natives$Open.last":                     {9 * on, 9 * on}, // its class is loaded by the caller that runs
					"Natives.passes":                        {times, times},
					"Natives$Open.open":                     {7 * on, 7 * on}, // until Over overrides it
					"Natives$Over.open":                     {4, 0},
					"Natives$OnlyFace.face":                 {9 * on, 9 * on}, // the same
					"Natives$Late.late":                     {3 * on, 3 * on}, // the same
					"java.lang.Thread.yield":                {times * on, 0},
					"java.lang.String.intern":               {times * on, 0},
					"java.lang.Runtime.availableProcessors": {times * on, 0},
					"java.lang.Thread.holdsLock":            {times * on, 0},
					"java.lang.Math.max":                    {times * all, 0},
					"java.lang.System.nanoTime":             {times * all, 0},
					"java.lang.System.arraycopy":            {times * all, 0},
				}
				if j.Version >= 21 {
					want["java.lang.Thread.yield"] = count{} // Java code there
				}
				if lib != "" {
					want["Natives.linked"] = count{times * on, 0}
					want["Natives.throwing"] = count{times * on, times * on}
					want["Natives.back"] = count{times * on, 0}
					want["Natives.self"] = count{2 * times * on, 0}
					want["Natives$Back.run"] = count{times, 0}
					want["Natives$Back.below"] = count{times, 0}
				}
				got := natives(r)
				for name, w := range want {
					if got[name] != w {
						t.Errorf("%s: %v, want %v", name, got[name], w)
					}
				}
				for name, g := range got {
					if _, ok := want[name]; !ok && strings.HasPrefix(name, "java.") && all == 0 {
						t.Errorf("%s: %v, not expected", name, g)
					}
				}
				for _, k := range r.Skipped {
					if on == 1 && strings.HasPrefix(k.Reason, "native") != (k.Reason != "native" && k.Method == "t.Natives$Open.open(I)I") {
						t.Errorf("skipped: %s: %s", k.Method, k.Reason)
					}
				}
			})
		}
	}, 8, 17, 25)
}
