package session_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

const busyProgram = `package t;
public class Busy {
    static volatile long sink;
    static final Object never = new Object();
    static void handle(int i) { price(i); ship(i); }
    static void price(int i) { long x = i; for (int k = 0; k < 3000000; k++) x = x * 31 + k; sink = x; }
    static void ship(int i) { long x = i; for (int k = 0; k < 1000000; k++) x = x * 17 + k; sink = x; }
    static void serve() throws Exception { // is outside of handle for a third of its time, however little processor time there is
        for (int i = 0; ; i++) { handle(i); long x = i; for (int k = 0; k < 2000000; k++) x = x * 13 + k; sink = x; Thread.sleep(2); }
    }
    static void idle() throws Exception { synchronized (never) { never.wait(); } }
    interface Body { void run() throws Exception; }
    static void thread(String name, Body b) {
        Thread t = new Thread(name) { public void run() { try { b.run(); } catch (Exception e) { e.printStackTrace(); } } };
        t.setDaemon(true);
        t.start();
    }
    public static void main(String[] a) throws Exception {
        thread("worker \"1\"", Busy::serve);
        thread("worker 2", Busy::serve);
        thread("worker 3", Busy::serve);
        thread("idle", Busy::idle);
        System.out.println("READY");
        System.in.read();
    }
}`

// TestSuggest wants the method that busy threads call again and again, not the
// loop that they are in, nor what an idle thread waits in. Then a dry run and a
// recording follow in the same session, which must not disturb each other.
func TestSuggest(t *testing.T) {
	t.Parallel()
	j := jvmtest.Any(t)
	p := jvmtest.Start(t, j, nil, "t.Busy", nil, jvmtest.Compile(t, j, 8, map[string]string{"t/Busy.java": busyProgram}))
	p.WaitLine("READY")
	s := attached(t, p)
	ctx, cancel := context.WithTimeout(context.Background(), jvmtest.Patience)
	defer cancel()
	found, err := s.Suggest(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range found.Roots {
		names = append(names, r.Method)
		if r.Method == "t.Busy.serve" && !r.Always {
			t.Error("serve never returns")
		}
		if r.Method == "t.Busy.handle" && (r.Always || r.Stacks > found.Stacks || !strings.HasPrefix(r.Threads[0], "worker ")) {
			t.Errorf("handle: %+v of %d", r, found.Stacks)
		}
	}
	if len(names) == 0 || names[0] != "t.Busy.handle" || slices.Contains(names, "t.Busy.idle") || found.Busy != 3 {
		t.Errorf("suggested %q, of %+v", names, found)
	}

	rec := session.Recording{Roots: names[:1], UntilCalls: 20}
	dry := rec
	dry.Filter = rules(t, "-**.ship +java.util.HashMap")
	v, err := s.DryRun(ctx, dry)
	if err != nil {
		t.Fatal(err)
	}
	var methods []string
	for _, c := range v.Classes {
		if strings.HasPrefix(c.Name, "t.") {
			methods = append(methods, c.Methods...)
		}
	}
	slices.Sort(methods)
	if !slices.Equal(methods, []string{"handle(I)V", "price(I)V"}) {
		t.Errorf("a dry run without ship: %q", methods)
	}
	start(t, s, rec)
	r := finish(t, s)
	calls := map[string]int64{}
	for _, n := range r.Tree.Roots() {
		for _, c := range append(n.Children, n) {
			calls[r.Method(c.Method).Name] += c.Calls
		}
	}
	if r.Filter != nil || r.Instrumented != 3 || calls["t.Busy.handle(I)V"] != 20 || calls["t.Busy.price(I)V"] != 20 || calls["t.Busy.ship(I)V"] != 20 {
		t.Errorf("%d methods, calls %v, filter %v", r.Instrumented, calls, r.Filter)
	}
}
