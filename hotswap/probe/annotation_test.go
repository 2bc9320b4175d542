package probe_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

const annotated = `
import java.lang.annotation.*;
import java.io.*;
import java.util.*;
import java.util.function.*;
public class Annotated {
    @Target(ElementType.TYPE_USE) @Retention(RetentionPolicy.RUNTIME) @interface A { int[] value() default {}; }
    @Target(ElementType.TYPE_USE) @Retention(RetentionPolicy.CLASS) @interface B { A[] in() default {}; String s() default ""; }
    static Object m(Object o, int n) {
        if (n == 0) return o;
        @A Object first = new @A({1, 2}) @B(in = {@A(3), @A}, s = "x") Object();
        for (int i = 0; i < n; i++) {
            @B String s = (@A @B String) "text";
            if (o instanceof @A String) return s;
            switch (i) { case 1: @A long wide = n; if (wide > 3) return null; }
        }
        try (@A StringReader r = new @B StringReader("")) { r.read(); }
        catch (@A IllegalStateException | @B IOException e) { return e; }
        Supplier<Object> f = @A ArrayList<@B Object>::new;
        Function<Object, Object> g = @A Objects::toString;
        return Annotated.<@A Object>id(f.get());
    }
    static <T> T id(T t) { return t; }
}`

// TestAnnotations compares what javap says of type annotations and local
// variables before and after: each must be about the same instructions.
func TestAnnotations(t *testing.T) {
	home := classtest.Home(t)
	dir := classtest.Compile(t, home, map[string]string{"Annotated.java": annotated})
	for _, c := range classtest.ReadDir(t, dir) {
		res, err := probe.Rewrite(c.Bytes, stubHooks, func(probe.MethodKey) (int32, bool) { return 3, true })
		if err != nil {
			t.Fatal(err)
		}
		if res.Bytes == nil {
			continue
		}
		jar := filepath.Join(t.TempDir(), "new.jar")
		classtest.Jar(t, jar, []classtest.Class{{Name: c.Name, Bytes: res.Bytes}})
		before, after := facts(t, home, dir, c.Name), facts(t, home, jar, c.Name)
		if strings.Join(before, "\n") != strings.Join(after, "\n") {
			t.Errorf("%s before:\n%s\nafter:\n%s", c.Name, strings.Join(before, "\n"), strings.Join(after, "\n"))
		}
		if c.Name == "Annotated" && len(before) < 20 {
			t.Errorf("only %d facts compared", len(before))
		}
	}
}

var (
	reOp     = regexp.MustCompile(`^ +(\d+): ([a-z][a-z_0-9]*)`)
	reOffset = regexp.MustCompile(`offset=(\d+)`)
	reRange  = regexp.MustCompile(`start_pc=(\d+), length=(\d+)`)
	reVar    = regexp.MustCompile(`^ +(\d+) +(\d+) +(\d+) +(\S+) +(\S+)$`)
	reLine   = regexp.MustCompile(`^ +line (\d+): (\d+)$`)
)

// facts returns what javap tells with offsets replaced by the opcode that is
// there: of injected code the first instruction after it.
func facts(t *testing.T, home, cp, class string) (out []string) {
	t.Helper()
	b, err := exec.Command(filepath.Join(home, "bin", "javap"), "-v", "-p", "-cp", cp, class).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	ops := map[int]string{}
	order := []int{}
	at := func(s string) string {
		pc, _ := strconv.Atoi(s)
		op, ok := ops[pc]
		if !ok {
			return "end"
		}
		return op
	}
	flush := []string{}
	done := func() {
		fixInjected(ops, order)
		for _, l := range flush {
			switch {
			case reOffset.MatchString(l):
				m := reOffset.FindStringSubmatch(l)
				l = strings.Replace(l, m[0], "offset at "+at(m[1]), 1)
			case reRange.MatchString(l):
				m := reRange.FindStringSubmatch(l)
				from, _ := strconv.Atoi(m[1])
				n, _ := strconv.Atoi(m[2])
				l = strings.Replace(l, m[0], "from "+at(m[1])+" to "+at(fmt.Sprint(from+n)), 1)
			case reVar.MatchString(l):
				m := reVar.FindStringSubmatch(l)
				from, _ := strconv.Atoi(m[1])
				n, _ := strconv.Atoi(m[2])
				l = "variable " + m[4] + " from " + at(m[1]) + " to " + at(fmt.Sprint(from+n))
			case reLine.MatchString(l):
				m := reLine.FindStringSubmatch(l)
				l = "line " + m[1] + " at " + at(m[2])
			}
			if i := strings.Index(l, "#"); i >= 0 {
				l = l[:i] + l[strings.LastIndex(l, ":")+1:]
			}
			out = append(out, strings.TrimSpace(l))
		}
		clear(ops)
		order, flush = order[:0], flush[:0]
	}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "descriptor:"):
			done()
		case reOp.MatchString(line) && !strings.Contains(line, "offset=") && !strings.Contains(line, "start_pc"):
			m := reOp.FindStringSubmatch(line)
			pc, _ := strconv.Atoi(m[1])
			ops[pc] = m[2]
			if _, hook, ok := strings.Cut(line, stubHooks.Class+"."); ok {
				ops[pc], _, _ = strings.Cut(hook, ":")
			}
			order = append(order, pc)
		case reOffset.MatchString(line), reRange.MatchString(line), reVar.MatchString(line), reLine.MatchString(line):
			flush = append(flush, line)
		}
	}
	done()
	return out
}

// fixInjected gives the instructions of injected sequences the opcode that
// follows them. The catch-alls at the end go.
func fixInjected(ops map[int]string, order []int) {
	for i := len(order) - 2; i > 0; i-- {
		from, next := i-1, i+1
		switch ops[order[i]] {
		case stubHooks.Thrown:
			for _, pc := range order[from : next+1] {
				delete(ops, pc)
			}
			continue
		case stubHooks.Enter:
			next++
		case stubHooks.Exit, stubHooks.Resync:
		default:
			continue
		}
		for _, pc := range order[from:next] {
			ops[pc] = ops[order[next]]
		}
	}
}
