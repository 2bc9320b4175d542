package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

const rootsProgram = `package t;
public class Roots {
    interface Shape { int area(); }
    static class Square implements Shape { public int area() { return 4; } }
    static class Circle implements Shape { public int area() { return 3; } }
    static abstract class Lonely { abstract void nobody(); }
    static native void outside();
    static int over(int a) { return a; }
    static int over(long a) { return 1; }
    static int both() { return new Square().area() + new Circle().area(); }
    public static void main(String[] a) throws Exception {
        Class.forName("t.Roots$Lonely");
        System.out.println("READY " + both());
        for (;;) { Thread.sleep(1); over(both()); }
    }
}`

// TestRootNames gives roots that can't be one, each with its own answer, and
// an interface's method, which stands for its implementations.
func TestRootNames(t *testing.T) {
	j := jvmtest.Any(t)
	p := jvmtest.Start(t, j, nil, "t.Roots", nil, jvmtest.Compile(t, j, 8, map[string]string{"t/Roots.java": rootsProgram}))
	p.WaitLine("READY")
	s := attached(t, p)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, c := range []struct{ root, want string }{
		{"t.Roots.outside", "is native"},
		{"t.Roots$Lonely.nobody", "is abstract and no loaded class implements it"},
		{"t.Roots.bothh", "did you mean both?"},
		{"t.Roots.over(S)I", "it has over(I)I, over(J)I"},
		{"t.Rots.both", "did you mean t.Roots?"},
		{"x.Roots.both", "did you mean t.Roots?"},
		{"java.lang.String.length", "belongs to the JDK"},
		{"java.util.concurrent.Phaser.arrive", "belongs to the JDK"}, // not loaded
	} {
		err := s.Start(ctx, session.Recording{Roots: []string{c.root}})
		if !errors.Is(err, session.ErrNoRoot) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want ... %s ...", c.root, err, c.want)
		}
	}
	start(t, s, session.Recording{Roots: []string{"t.Roots$Shape.area"}, UntilCalls: 100})
	r, calls := finish(t, s), int64(0)
	for _, n := range r.Tree.Roots() {
		calls += n.Calls
	}
	if len(r.Roots) != 2 || calls != 100 {
		t.Errorf("roots %v, %d invocations", r.Roots, calls)
	}
}
