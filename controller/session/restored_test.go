package session_test

import (
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/controller/session/sessiontest"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestGently: a session that leaves gently has its report at once, another one that begins meanwhile
// counts right, and at the end nothing is left.
func TestGently(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Parts")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, "Parts", nil, "2")
		before := int64(0)
		for range 3 {
			s, err := session.Attach(t.Context(), p.PID(), session.Config{Gently: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			start(t, s, session.Recording{Roots: []string{"t.Parts.root"}, Scheme: "A"})
			ran := ask(t, p, "run 100", "RAN")
			n := ran - before
			before = ran
			r, err := s.Finish(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if c := calls(r); c["Parts.root"] != n || !r.Exact() {
				t.Fatalf("%d root calls of %d: %v %v", c["Parts.root"], n, c, r.Gaps)
			}
		}
		if err := session.AwaitRestored(t.Context(), p.PID(), patient, nil); err != nil {
			t.Fatal(err)
		}
		sessiontest.Gone(t, p.PID(), patient)
	})
}

// TestRestore: who is restoring by itself is waited for. The program stands for an agent.
func TestRestore(t *testing.T) {
	t.Parallel()
	j := jvmtest.Need(t, 17)
	dir := jvmtest.Compile(t, j, 8, map[string]string{"t/Restoring.java": `package t;
public class Restoring {
    public static void main(String[] a) throws Exception {
        Thread w = new Thread(() -> {
            Thread.currentThread().setName("` + attach.RestoringThread + `40%");
            System.out.println("READY");
            try {
                System.in.read();
                Thread.currentThread().setName("` + attach.RestoringThread + `90%");
                Thread.sleep(100);
            } catch (Exception e) {
                return;
            }
        });
        w.start();
        w.join();
        System.in.read();
    }
}`})
	p := program(t, j, dir, "Restoring", nil)
	about, err := attach.Inspect(p.PID())
	if err != nil {
		t.Fatal(err)
	}
	if about.Restoring == nil || *about.Restoring != 0.4 {
		t.Fatalf("restoring: %v", about.Restoring)
	}
	if err := session.AwaitRestored(t.Context(), p.PID(), 50*time.Millisecond, nil); err == nil {
		t.Error("it has ended without being told to")
	}
	p.Send("")
	var last float64
	if err := session.Restore(t.Context(), about, func(share float64) { last = share }); err != nil {
		t.Fatal(err)
	}
	if _, is := attach.Restoring(p.PID()); is || last != 0.9 && last != 0 {
		t.Errorf("restoring %v, last %v", is, last)
	}
	if err := session.Restore(t.Context(), about, nil); err != nil {
		t.Error(err)
	}
}
