package session_test

import (
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestGovernor: with a budget that no recording of this program can hold, less is recorded, and
// the report says of how much: every root invocation is counted, and what is recorded is whole
// except for the methods that it names.
func TestGovernor(t *testing.T) {
	t.Parallel()
	j := jvmtest.Need(t, 17)
	dir := jvmtest.Compile(t, j, 8, map[string]string{"t/Busy.java": `package t;
public class Busy {
    static int root(int x) { for (int i = 0; i < 1000; i++) x += step(i); return x; }
    static int step(int x) { return x > 0 ? leaf(x) : x; }
    static int leaf(int x) { return x ^ 7; }
    public static void main(String[] a) throws Exception {
        java.util.Scanner in = new java.util.Scanner(System.in);
        System.out.println("READY");
        for (long n = 0; in.hasNextInt(); System.out.println("RAN " + n)) {
            for (int k = in.nextInt(), x = 0; k > 0; k--, n++) x = root(x);
        }
    }
}`})
	p := program(t, j, dir, "Busy", nil)
	s := attached(t, p)
	start(t, s, session.Recording{Roots: []string{"t.Busy.root"}, Scheme: "A", Overhead: 0.001})
	ran, steps := int64(0), 0
	for deadline := time.Now().Add(jvmtest.Patience); steps < 2 && time.Now().Before(deadline); {
		ran = ask(t, p, "3000", "RAN")
		r, err := s.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		steps = len(r.Governor.Steps)
	}
	r, err := s.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	g := r.Governor
	if g == nil || len(g.Steps) < 2 || g.Budget != 0.001 || g.OverShare == 0 {
		t.Fatalf("%+v", g)
	}
	c := calls(r)
	if r.Seen != ran || c["Busy.root"] == 0 || c["Busy.root"] >= ran {
		t.Errorf("%d of %d root calls recorded; there were %d", c["Busy.root"], r.Seen, ran)
	}
	lowered := len(g.Off) + len(g.Out)
	for _, st := range g.Steps {
		if st.Count > 0 {
			lowered++
		}
	}
	if whole := c["Busy.step"] == 1000*c["Busy.root"] && c["Busy.leaf"] == 999*c["Busy.root"]; !whole && lowered == 0 {
		t.Errorf("calls are missing, and nothing was lowered: %v", c)
	}
	if lost := len(g.Off)+len(g.Out) > 0; lost && r.Exact() {
		t.Errorf("exact, without %v and %v", g.Off, g.Out)
	}
}
