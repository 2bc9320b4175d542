package session_test

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// many is a program of some thousand methods that three threads run until the first line
// comes, its root being t.Many.all: much for the JVM's compiler to do again.
func many(t *testing.T) string {
	t.Helper()
	const classes, methods = 24, 30
	files := map[string]string{}
	var calls strings.Builder
	for c := range classes {
		var b strings.Builder
		fmt.Fprintf(&b, "package t;\nfinal class Many%d {\n  static int all(int x) {\n", c)
		for m := range methods {
			fmt.Fprintf(&b, "    x += m%d(x);\n", m)
		}
		b.WriteString("    return x;\n  }\n")
		for m := range methods {
			fmt.Fprintf(&b, "  static int m%d(int x) { int[] a = new int[8]; for (int i = 0; i < 8; i++) { a[i] = x * %d + i; if ((a[i] & 7) == %d) x ^= a[7 - i]; } for (int v : a) x += v >>> 3; return x; }\n", m, 2*m+3, c%8)
		}
		b.WriteString("}\n")
		files[fmt.Sprintf("t/Many%d.java", c)] = b.String()
		fmt.Fprintf(&calls, "    x += Many%d.all(x);\n", c)
	}
	files["t/Many.java"] = `package t;
public final class Many {
  static volatile int sink;
  static volatile boolean rest;
  static int all(int x) {
` + calls.String() + `    return x;
  }
  public static void main(String[] args) throws Exception {
    for (int i = 0; i < 3; i++) {
      Thread t = new Thread() { public void run() { while (!rest) sink = all(sink); } };
      t.setDaemon(true);
      t.start();
    }
    Thread.sleep(3000);
    System.out.println("READY");
    while (System.in.read() != '\n') {}
    rest = true;
    System.in.read();
  }
}
`
	return jvmtest.Compile(t, jvmtest.Any(t), 8, files)
}

// TestHurried: on a machine whose cores are all busy, the compiler of a JVM whose methods
// were redefined goes before others until it has caught up, and has its priority back
// some time after the end of the session.
func TestHurried(t *testing.T) {
	dir := many(t)
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, "Many", nil)
		disperse := jvmtest.Crowd(t)
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.Many.all"}, Scheme: "A"})
		if !s.MayHurry() {
			t.Skip("this takes CAP_SYS_NICE")
		}
		until(t, "the compiler is hurried", jvmtest.Patience, func() bool {
			for _, tid := range session.CompilersIn(p.PID()) {
				if a, err := unix.SchedGetAttr(tid, 0); err == nil && a.Nice < niceAtFirst {
					return true
				}
			}
			return false
		})
		disperse()
		if _, err := s.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.Send("rest") // the compilers' priorities are given back after a time, whatever the program does
		until(t, "all threads' priorities are those of before", patient, func() bool { return niceAsAtFirst(t, p.PID()) })
		p.Send("end")
		if code := p.Wait(); code != 0 {
			t.Errorf("the target ended with %d", code)
		}
	}, 17, 25)
}
