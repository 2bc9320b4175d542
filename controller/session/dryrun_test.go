package session_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/roots"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestDryRun compares what a dry run says with what is there, and with what a
// recording has instrumented before, and looks for what it must not leave.
func TestDryRun(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile("testdata/Truth.java")
	if err != nil {
		t.Fatal(err)
	}
	dir := jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"t/Truth.java": string(src), "t/Roots.java": rootsProgram, "t/Made.java": madeProgram})
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		ctx, cancel := context.WithTimeout(context.Background(), jvmtest.Patience)
		defer cancel()
		p := jvmtest.Start(t, j, nil, "t.Roots", nil, dir)
		p.WaitLine("READY")
		dry := func(p *jvmtest.Proc, rec session.Recording) (methods []string, skipped string) {
			t.Helper()
			s, err := session.Attach(ctx, p.PID(), session.Config{Look: true})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			v, err := s.DryRun(ctx, rec)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range v.Classes {
				for _, m := range c.Methods {
					methods = append(methods, strings.TrimPrefix(c.Name, "t.")+"."+m)
				}
			}
			for _, k := range v.Skipped {
				skipped += k.Method + " " + k.Reason + "\n"
			}
			slices.Sort(methods)
			return methods, skipped
		}
		got, _ := dry(p, session.Recording{Roots: []string{"t.Roots.both"}})
		want := []string{"Roots$Circle.<init>()V", "Roots$Circle.area()I", "Roots$Square.<init>()V", "Roots$Square.area()I", "Roots.both()I"}
		if !slices.Equal(got, want) {
			t.Errorf("methods %q, want %q", got, want)
		}
		got, skipped := dry(p, session.Recording{Roots: []string{"t.*.both"}, Filter: rules(t, "-**.<init> -**$Circle")})
		want = []string{"Roots$Square.area()I", "Roots.both()I"}
		if !slices.Equal(got, want) || !strings.Contains(skipped, "t.Roots$Circle.area()I hidden by the filter") {
			t.Errorf("filtered: methods %q, want %q; skipped %q", got, want, skipped)
		}
		got, _ = dry(p, session.Recording{Roots: []string{"t.Roots.both"}, Filter: rules(t, "+java.util.HashMap.put")})
		if !slices.Contains(got, "java.util.HashMap.put(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;") || len(got) != 6 {
			t.Errorf("with a method of the JDK: %q", got)
		}
		_, skipped = dry(p, session.Recording{Roots: []string{"t.Roots.both"}, Filter: rules(t, "+java.lang.Math")})
		if !strings.Contains(skipped, "java.lang.** (1 loaded classes) left alone: the agent and the probes stand on it") {
			t.Errorf("a class that never gets probes: %q", skipped)
		}
		gone(t, p.PID(), patient)

		fileless(t, j, dir)

		p = jvmtest.Start(t, j, nil, "t.Truth", []string{"middle", "1"}, dir)
		p.WaitLine("READY")
		rec := session.Recording{Roots: []string{"t.Truth.root"}, Scheme: "A", UntilCalls: 20}
		s := attached(t, p)
		start(t, s, rec)
		finish(t, s) // by now all is loaded, and what is loaded is known exactly
		got, _ = dry(p, rec)
		s = attached(t, p)
		start(t, s, rec)
		if r := stopped(t, s); r.Instrumented != len(got) || len(got) < 50 {
			t.Errorf("a dry run names %d methods, a recording instruments %d", len(got), r.Instrumented)
		}
	}, 8, 17, 25)
}

const madeProgram = `package t;
public class Made extends ClassLoader {
    public static class Child implements Runnable { public void run() { step(); } static void step() {} }
    Made() { super(Made.class.getClassLoader()); }
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.equals("t.Made$Child")) return super.loadClass(name, resolve);
        try (java.io.DataInputStream in = new java.io.DataInputStream(Made.class.getResourceAsStream("Made$Child.class"))) {
            byte[] b = new byte[in.available()];
            in.readFully(b);
            return defineClass(name, b, 0, b.length);
        } catch (java.io.IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }
    public java.net.URL getResource(String name) { return null; }
    public java.io.InputStream getResourceAsStream(String name) { return null; }
    public static void main(String[] a) throws Exception {
        Runnable r = (Runnable) new Made().loadClass("t.Made$Child").getConstructor().newInstance();
        System.out.println("READY");
        for (;;) { r.run(); Thread.sleep(1); }
    }
}`

// fileless has a root in a class without a file: a dry run names it and says that it does not know
// more, where it can be read from outside, and a recording records it.
func fileless(t *testing.T, j jvmtest.JDK, dir string) {
	t.Helper()
	p := jvmtest.Start(t, j, nil, "t.Made", nil, dir)
	p.WaitLine("READY")
	rec := session.Recording{Roots: []string{"t.Made$Child.run"}, Scheme: "A", UntilCalls: 5}
	s, err := session.Attach(t.Context(), p.PID(), session.Config{Look: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	v, err := s.DryRun(t.Context(), rec)
	switch {
	case j.Version == 8:
		if !errors.Is(err, roots.ErrUnread) {
			t.Errorf("JDK 8: %v", err)
		}
	case err != nil:
		t.Error(err)
	case !slices.Equal(v.Unread, []string{"t.Made$Child"}) || len(v.Classes) != 1 || !slices.Equal(v.Classes[0].Methods, []string{"run()V"}):
		t.Errorf("unread %q, classes %+v", v.Unread, v.Classes)
	}
	s.Close()
	s = attached(t, p)
	start(t, s, rec)
	if c := calls(finish(t, s)); c["Made$Child.run"] != 5 || c["Made$Child.step"] != 5 {
		t.Errorf("calls %v", c)
	}
}
