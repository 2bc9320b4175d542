package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/roots"
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
	t.Parallel()
	j := jvmtest.Any(t)
	p := jvmtest.Start(t, j, nil, "t.Roots", nil, jvmtest.Compile(t, j, 8, map[string]string{"t/Roots.java": rootsProgram}))
	p.WaitLine("READY")
	s := attached(t, p)
	ctx, cancel := context.WithTimeout(context.Background(), jvmtest.Patience)
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
		{"t.*", "it matches classes (t.Roots, t.Roots$Circle, t.Roots$Lonely and 2 more): add the methods, as in t.*.*"},
		{"t.Root?.BOTH", "it matches t.Roots.both except for upper and lower case"},
		{"t.Root?.bothh*", "did you mean both?"},
		{"t.Root?.zzzz*", "have methods <init>, both, main"},
		{"t.R*.over(S)*", "without its descriptor it matches t.Roots.over(I)I, t.Roots.over(J)I"},
		{"x.*.both", "did you mean t.Roots.both?"},
		{"t.Root.bo*", "did you mean Roots or "},
		{"java.lang.Obj*.hashC*", "and the JDK is left out"},
		{"**.out*", "is native"},
		{"**.no*", "is abstract and no loaded class"},
	} {
		err := s.Start(ctx, session.Recording{Roots: []string{c.root}})
		if !errors.Is(err, roots.ErrNoRoot) || !strings.Contains(err.Error(), c.want) {
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

const patternProgram = `package t;
public class Pattern {
    interface Finder { int find(); }
    static class UserService implements Finder { public int find() { return 1; } int findAll() { return find() + findOne(2); } int findOne(int x) { return x; } void save() {} }
    static class OrderService { static int n; int findLast() { return n++; } }
    static class Wrong { int find() { return 3; } }
    public static class LateService { static { } public int find() { return 4; } int other() { return 5; } }
    public static void main(String[] a) throws Exception {
        System.out.println("READY " + new UserService().findAll() + new OrderService().findLast() + new Wrong().find());
        System.in.read();
        UserService u = new UserService(); OrderService o = new OrderService(); int sum = 0;
        for (int i = 0; i < 10; i++) sum += u.findAll() + o.findLast() + new Wrong().find();
        for (int i = 0; i < 7; i++) { LateService l = new LateService(); sum += l.find() + l.other(); }
        System.out.println("DONE " + sum);
        Thread.sleep(100000);
    }
}`

// TestRootPattern has a pattern match methods of several classes, and of one
// that is loaded later.
func TestRootPattern(t *testing.T) {
	t.Parallel()
	j := jvmtest.Any(t)
	dir := jvmtest.Compile(t, j, 8, map[string]string{"t/Pattern.java": patternProgram})
	for _, scheme := range []string{"A", "B", "C"} {
		t.Run(scheme, func(t *testing.T) {
			p := jvmtest.Start(t, j, nil, "t.Pattern", nil, dir)
			p.WaitLine("READY")
			s := attached(t, p)
			start(t, s, session.Recording{Roots: []string{"t.*Service.find*"}, Scheme: scheme})
			p.Send("go")
			p.WaitLine("DONE")
			r := stopped(t, s)
			exact(t, r)
			wantCalls(t, r, map[string]int64{
				"Pattern$UserService.findAll": 10, "Pattern$UserService.find": 10, "Pattern$UserService.findOne": 10,
				"Pattern$OrderService.findLast": 10, "Pattern$LateService.find": 7,
				"Pattern$Wrong.find": 0, "Pattern$LateService.other": 0, "Pattern$UserService.save": 0,
			})
			if len(r.Roots) != 5 {
				t.Errorf("roots %q", r.Roots)
			}
		})
	}
}

// TestTooManyRoots has a pattern match more than can be meant.
func TestTooManyRoots(t *testing.T) {
	t.Parallel()
	j := jvmtest.Any(t)
	var src strings.Builder
	src.WriteString("package t; public class Many {\n")
	for i := range 1200 {
		fmt.Fprintf(&src, "static void m%d() {}\n", i)
	}
	src.WriteString(`public static void main(String[] a) throws Exception { System.out.println("READY"); Thread.sleep(100000); } }`)
	p := jvmtest.Start(t, j, nil, "t.Many", nil, jvmtest.Compile(t, j, 8, map[string]string{"t/Many.java": src.String()}))
	p.WaitLine("READY")
	err := attached(t, p).Start(context.Background(), session.Recording{Roots: []string{"t.*.m*"}})
	if !errors.Is(err, roots.ErrNoRoot) || !strings.Contains(err.Error(), "matches 1201 methods, and at most 1000 can be roots") || !strings.Contains(err.Error(), "t.Many.m") {
		t.Error(err)
	}
}
