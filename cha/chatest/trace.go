package chatest

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// Truth is a Java class whose method in() makes a program tell what it does: a
// program that begins each of its methods with it prints the stack, outermost
// frame first, at each.
const Truth = `
package truth;
import java.util.*;
import java.util.stream.*;
public class T {
    static final StackWalker W = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);
    static boolean on;
    public static void on() { on = true; }
    public static void in() {
        if (!on) return;
        List<String> frames = W.walk(s -> s.skip(1).map(f -> f.getClassName().replace('.', '/') + ' ' + f.getMethodName() + ' ' + f.getDescriptor()).collect(Collectors.toList()));
        Collections.reverse(frames);
        System.out.println("in " + String.join(",", frames));
    }
}
`

// An Event is what a traced program did: it loaded a class, or entered a method.
type Event struct {
	Class string         // internal name
	Stack []cha.MethodID // outermost first; methods of classes outside dir are in loader 0
}

// Trace runs a compiled program and returns what it did, in order.
func Trace(t testing.TB, j jvmtest.JDK, dir, main string, app map[string]bool) []Event {
	t.Helper()
	cmd := exec.Command(j.Java(), "-Xshare:auto", "-Xint", "-Xlog:class+load:stdout:none", "-cp", dir, main)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", main, err, out)
	}
	var events []Event
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if stack, ok := strings.CutPrefix(line, "in "); ok {
			var e Event
			for _, frame := range strings.Split(stack, ",") {
				f := strings.Fields(frame)
				id := cha.MethodID{Class: cha.ClassID{Name: f[0]}, Name: f[1], Desc: f[2]}
				if app[f[0]] {
					id.Class.Loader = 1
				}
				e.Stack = append(e.Stack, id)
			}
			events = append(events, e)
		} else if name, _, ok := strings.Cut(line, " source: "); ok {
			events = append(events, Event{Class: strings.ReplaceAll(name, ".", "/")})
		}
	}
	return events
}
