package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// loadedBy reads the JVM's own log of class loads, in order: those of the thread that has loaded a class that is caused, on
// JDK 8 of all threads. Redefinitions are none.
func loadedBy(t *testing.T, log string, caused func(string) bool) (names []string) {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)(?:\[Loaded (\S+) from (.*)\]|^\[(\d+) *\] (\S+) source: (.*))$`)
	all := line.FindAllStringSubmatch(string(text), -1)
	thread := ""
	if i := slices.IndexFunc(all, func(m []string) bool { return caused(m[1] + m[4]) }); i >= 0 {
		thread = all[i][3]
	}
	for _, m := range all {
		if m[3] == thread && !strings.Contains(m[2]+m[5], "RedefineClasses") {
			names = append(names, m[1]+m[4])
		}
	}
	return names
}

// TestClassCauses records javac's first run. Each class that the JVM's own log has from the first one that the root loaded
// to the last one has its context, the time that it took, and its loader.
func TestClassCauses(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "Hello.java"), []byte(`
import java.util.*;
class Hello {
    interface F { int f(int x); }
    public static void main(String[] a) {
        List<String> l = new ArrayList<>();
        F f = x -> x + 1;
        l.stream().map(s -> s + f.f(2)).forEach(System.out::println);
    }
}`), 0o600); err != nil {
		t.Fatal(err)
	}
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		log, file := filepath.Join(dir, fmt.Sprint(j.Version, ".log")), filepath.Join(dir, fmt.Sprint(j.Version, ".json"))
		java := []string{j.Java(), "-Xlog:class+load:file=" + log + ":tid"}
		if j.Version == 8 {
			java = []string{j.Java(), "-XX:+UnlockDiagnosticVMOptions", "-XX:+LogVMOutput", "-XX:LogFile=" + log, "-verbose:class", "-cp", filepath.Join(j.Home, "lib", "tools.jar")}
		}
		args := append([]string{"run", "--root", "com.sun.tools.javac.main.Main.compile", "--count", "classes", "-o", file, "--"}, java...)
		if code, _, stderr := command(append(args, "com.sun.tools.javac.Main", "-proc:none", "-d", dir, filepath.Join(dir, "Hello.java"))...); code != 0 {
			t.Fatalf("code %d: %s", code, stderr)
		}
		code, stdout, stderr := command("classes", file, "--causes", "--json")
		if code != 0 {
			t.Fatalf("code %d: %s", code, stderr)
		}
		var out export.CausedLoads
		if err := json.Unmarshal([]byte(stdout), &out); err != nil {
			t.Fatal(err)
		}
		// A hidden class has one of two numbers in its name, on JDK 11 another one than in the log.
		bare := func(name string) string { name, _, _ = strings.Cut(name, "/"); return name }
		caused := map[string]int{}
		timed, untimed, own := 0, 0, int64(0)
		for _, l := range out.Loads {
			caused[bare(l.Class)]++
			if len(l.Context) == 0 || !strings.HasPrefix(l.Context[0], "com.sun.tools.javac.main.Main.compile(") || l.Cause != l.Context[len(l.Context)-1] || l.Loader == "" {
				t.Fatalf("load %+v", l)
			}
			if l.Took == nil {
				untimed++
				continue
			}
			timed++
			own += *l.Own
			if *l.Took < *l.Own {
				t.Errorf("%s took %d ns, %d of its own", l.Class, *l.Took, *l.Own)
			}
		}
		all := loadedBy(t, log, func(name string) bool { return caused[name] > 0 })
		first, last := len(all), -1
		for i, name := range all {
			if caused[name] > 0 { // no hidden one, whose bare name others have that came earlier
				first, last = min(first, i), i
			}
		}
		if last < 0 {
			t.Fatalf("no load of %d in the log of %d classes", len(out.Loads), len(all))
		}
		for _, name := range all[first : last+1] {
			switch {
			case caused[bare(name)] > 0:
				caused[bare(name)]--
			case strings.HasPrefix(name, "rivulet."), strings.Contains(name, ".reflect.Generated"): // the agent's, and its calls by reflection
			default:
				t.Errorf("%s has no cause", name)
			}
		}
		for name, n := range caused {
			if n > 0 && !strings.Contains(strings.Join(all, " "), name) {
				t.Errorf("%s was not loaded", name)
			}
		}
		if len(out.Loads) < 500 {
			t.Errorf("%d loads", len(out.Loads))
		}
		if j.Version > 8 && (untimed > timed/50 || own <= 0 || own > out.Total) {
			t.Errorf("%d timed, %d not, %d of %d ns", timed, untimed, own, out.Total)
		}
		if code, stdout, stderr := command("classes", file, "com.sun.tools.javac.code.*", "--causes", "--top", "3"); code != 0 || !strings.Contains(stdout, "com.sun.tools.javac.code.") || !strings.Contains(stdout, "more; --top 0 shows all") {
			t.Errorf("code %d: %s%s", code, stdout, stderr)
		}
	}, 8, 11, 17, 21, 25)
}

// TestClassCausesLive has a running JVM tell why it loads classes.
func TestClassCausesLive(t *testing.T) {
	text, err := os.ReadFile("testdata/Contention.java")
	if err != nil {
		t.Fatal(err)
	}
	dir := jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"Contention.java": string(text)})
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		p := jvmtest.Start(t, j, nil, "Contention", []string{"busy"}, dir)
		p.WaitLine("ready")
		code, stdout, stderr := command("classes", fmt.Sprint(p.PID()), "--causes", "--for", "1s", "--json")
		if code != 0 {
			t.Fatalf("code %d: %s", code, stderr)
		}
		var out export.CausedLoads
		if err := json.Unmarshal([]byte(stdout), &out); err != nil || out.Kind != "class_loads" || out.PID != p.PID() || out.Seconds < 1 {
			t.Fatalf("%v, %+v", err, out)
		}
		for _, l := range out.Loads { // some of Flight Recorder's own
			if l.Took == nil || l.Class == "" || l.Thread == "" {
				t.Errorf("%+v", l)
			}
		}
	}, 11, 17, 21, 25)
	for _, args := range [][]string{{"classes", "4711", "--for", "1s"}, {"classes", "no-such-file.json", "--causes"}, {"classes", "no-such-file.json", "--causes", "--for", "1s"}} {
		if code, _, stderr := command(args...); code != 2 {
			t.Errorf("%q: code %d: %s", args, code, stderr)
		}
	}
}
