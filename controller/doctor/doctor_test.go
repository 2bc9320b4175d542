package doctor_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/doctor"
	"github.com/rivulet-profiler/rivulet/controller/priority"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/controller/session/sessiontest"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// examine runs the doctor and returns its checks as "STATUS name: text -> fix".
func examine(t *testing.T, pid int, root string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), jvmtest.Patience)
	defer cancel()
	var b strings.Builder
	for _, c := range doctor.Examine(ctx, pid, root, session.Config{}) {
		b.WriteString(string(c.Status) + " " + c.Name + ": " + c.Text)
		if c.Fix != "" {
			b.WriteString(" -> " + c.Fix)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// program starts the program below and waits until it is ready.
func program(t *testing.T, j jvmtest.JDK, dir string, jvmArgs []string) *jvmtest.Proc {
	t.Helper()
	p := jvmtest.Start(t, j, jvmArgs, "t.Doctor", nil, dir)
	p.WaitLine("READY")
	return p
}

// wantChecks wants parts in the doctor's answer; "!" before one that it must
// not have.
func wantChecks(t *testing.T, what, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		w, not := strings.CutPrefix(w, "!")
		if strings.Contains(got, w) == not {
			t.Errorf("%s: %q in it: %v\n%s", what, w, !not, got)
		}
	}
}

// TestManaged: recordings are refused under a security manager whose policy does not know Rivulet.
func TestManaged(t *testing.T) {
	t.Parallel()
	j := jvmtest.Need(t, 17)
	dir := jvmtest.Compile(t, j, 8, map[string]string{"t/Doctor.java": `package t;
public class Doctor {
    public static void main(String[] a) throws Exception {
        System.out.println("READY");
        System.in.read();
    }
}`})
	p := program(t, j, dir, []string{"-Djava.security.manager"})
	wantChecks(t, "managed", examine(t, p.PID(), ""), "WARN agents: the program runs under a security manager", "grant codeBase")
}

const doctorProgram = `package t;
public class Doctor {
    interface Shape { int area(); }
    static class Square implements Shape { public int area() { return 4; } }
    static class Circle implements Shape { public int area() { return 3; } }
    static class Cold { static int x() { return 1; } }
    public static class Made implements Runnable { public void run() { step(); } static int step() { return 1; } }
    static class Memory extends ClassLoader {
        Memory() { super(Doctor.class.getClassLoader()); }
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals("t.Doctor$Made")) return super.loadClass(name, resolve);
            try (java.io.InputStream in = Doctor.class.getResourceAsStream("Doctor$Made.class")) {
                byte[] b = new byte[10000];
                int n = 0;
                for (int k; (k = in.read(b, n, b.length - n)) > 0; n += k);
                return defineClass(name, b, 0, n);
            } catch (java.io.IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
        public java.net.URL getResource(String name) { return null; }
        public java.io.InputStream getResourceAsStream(String name) { return null; }
    }
    static native void outside();
    static int over(int a) { if (a < 0) outside(); return a; }
    static int over(long a) { return new Square().area() + new Circle().area(); }
    static void loop() throws Exception { System.out.println("READY"); for (;;) { Thread.sleep(1); over(1); over(2L); } }
    public static void main(String[] a) throws Exception {
        Class.forName("t.Doctor$Cold", false, Doctor.class.getClassLoader());
        ((Runnable) new Memory().loadClass("t.Doctor$Made").getConstructor().newInstance()).run();
        loop();
    }
}`

// TestDoctorRoot has a healthy process and roots of all kinds.
func TestDoctorRoot(t *testing.T) {
	dir := jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"t/Doctor.java": doctorProgram})
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, nil)
		healthy := []string{"!FAIL", "!debugger", "!tmp:", "OK process: t.Doctor", "OK permission", "OK attach", "OK session", "OK files", "OK neighbours", "OK counters", "OK invoked", "sampling: stacks can be sampled from outside", map[bool]string{true: "OK priority", false: "WARN priority"}[priority.Allowed() == nil]}
		wantChecks(t, "process", examine(t, p.PID(), ""), append(healthy, "!agent:", map[int]string{8: "WARN java", 17: "OK java", 25: "OK java"}[j.Version],
			map[bool]string{true: "WARN agents: the JVM prints", false: "OK agents"}[j.Version >= 21])...)
		if on := p.Stderr(); j.Version >= 21 && len(on) > 0 {
			t.Errorf("the agent was loaded without a root: %q", on)
		}
		for root, want := range map[string][]string{
			"t.Doctor.loop":         {"!FAIL", "OK root: t.Doctor.loop()V", "WARN stacks: inside it at the moment: main", "choose what it calls: t.Doctor.over", map[bool]string{true: "OK reach: at most ", false: "OK reach: at most 11 methods of 5 loaded classes"}[j.Version == 8], map[bool]string{true: "OK forecast: expect 1s to arm with scheme A", false: "OK forecast: no root was called"}[j.Version == 8], "WARN skipped: 1 within reach without probes, such as t.Doctor.outside()V: native"},
			"t.Doctor$Made.run":     {"!FAIL", map[bool]string{true: "WARN root: t.Doctor$Made.run: t.Doctor$Made was defined from memory", false: "OK reach: t.Doctor$Made was defined from memory"}[j.Version == 8], "!at most", map[bool]string{true: "!forecast", false: "OK forecast: none: what the roots call is not known"}[j.Version == 8]},
			"t.Doctor.over":         {"!FAIL", "OK forecast: expect 5s to arm with scheme D", "stands for 2 methods", "WARN overloads: the name has 2 overloads", "--root 't.Doctor.over(I)I'", "OK stacks"},
			"t.Doctor$Shape.area":   {"!FAIL", "stands for 2 methods", "OK abstract: area()I is abstract"},
			"t.Doctor$Cold.x":       {"!FAIL", "WARN initialized: loaded and not initialized"},
			"t.*.o*(J)*":            {"!FAIL", "OK root: t.Doctor.over(J)I", "!overloads"},
			"t.Doctor.outside":      {"FAIL root: t.Doctor.outside", "is native"},
			"t.Doctor.lop":          {"FAIL root: t.Doctor.lop", "did you mean loop?", "!reach"},
			"java.lang.String.trim": {"FAIL root: java.lang.String.trim", "belongs to the JDK"},
		} {
			if j.Version != 17 && root != "t.Doctor.loop" && root != "t.Doctor$Made.run" {
				continue
			}
			wantChecks(t, root, examine(t, p.PID(), root), append(want, "OK agent: it was loaded")...)
		}
		sessiontest.Gone(t, p.PID(), 5*time.Second)
	}, 8, 17, 25)
}

// TestDoctorProcess has processes that can't be profiled.
func TestDoctorProcess(t *testing.T) {
	j := jvmtest.Need(t, 17)
	dir := jvmtest.Compile(t, j, 8, map[string]string{"t/Doctor.java": doctorProgram})
	wantChecks(t, "no process", examine(t, 1<<30, "a.B.c"), "FAIL process: no such process -> see rivulet ps", "SKIP root")
	wantChecks(t, "no JVM", examine(t, os.Getpid(), ""), "FAIL process: is not a JVM")
	p := program(t, j, dir, []string{"-XX:+DisableAttachMechanism"})
	wantChecks(t, "attach disabled", examine(t, p.PID(), "t.Doctor.over"), "FAIL attach: attach is disabled by", "SKIP agents", "OK files", "SKIP root")
	p = program(t, j, dir, []string{"-XX:-EnableDynamicAgentLoading", "-XX:-UsePerfData"})
	wantChecks(t, "no agents", examine(t, p.PID(), ""), "FAIL agents: agents can't be loaded into it", "OK attach", "WARN counters")

	p = program(t, j, dir, []string{"-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0"})
	s, err := session.Attach(t.Context(), p.PID(), session.Config{})
	if err != nil {
		t.Fatal(err)
	}
	wantChecks(t, "busy", examine(t, p.PID(), "t.Doctor.over"), "FAIL session: another controller works on this JVM", "WARN neighbours: other agents are loaded (-agentlib:jdwp", "WARN debugger: a debugger may be connected", "SKIP root")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantChecks(t, "no longer busy", examine(t, p.PID(), "t.Doctor.over"), "!FAIL", "OK session", "OK reach")
}

// TestDoctorHeap has a heap that is full, and one that is not.
func TestDoctorHeap(t *testing.T) {
	t.Parallel()
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		dir := jvmtest.Compile(t, j, 8, map[string]string{"t/Doctor.java": `package t;
public class Doctor {
	static final java.util.List<byte[]> KEPT = new java.util.ArrayList<>();
	public static void main(String[] a) throws Exception {
		try {
			while (a.length == 0) KEPT.add(new byte[64 << 10]);
		} catch (OutOfMemoryError e) {
			KEPT.remove(0);
		}
		System.gc();
		System.out.println("READY");
		System.in.read();
	}
}`})
		options := []string{"-Xmx32m", "-XX:+UseSerialGC"}
		wantChecks(t, "full", examine(t, program(t, j, dir, options).PID(), ""), "WARN heap: its old generation was still full after a full collection (", "not loaded without --full-heap", "rivulet sample, threads and locks load nothing")
		p := jvmtest.Start(t, j, options, "t.Doctor", []string{"empty"}, dir)
		p.WaitLine("READY")
		wantChecks(t, "empty", examine(t, p.PID(), ""), "OK heap: its old generation uses ")
	})
}
