package application

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// A tree is written as lines, each with as many blanks before it as it has callers,
// then calls, own time and the method.
func parseTree(t *testing.T, text string) ([]*cct.Node, func(int32) cct.Method) {
	t.Helper()
	var names []string
	number := map[string]int32{}
	var roots []*cct.Node
	var path []*cct.Node
	for line := range strings.Lines(text) {
		name := strings.TrimSpace(line)
		if name == "" {
			continue
		}
		depth := len(line) - len(strings.TrimLeft(line, " "))
		n := &cct.Node{}
		if _, err := fmt.Sscan(name, &n.Calls, &n.Self, &name); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		id, ok := number[name]
		if !ok {
			id = int32(len(names))
			number[name] = id
			names = append(names, name)
		}
		n.Method = id
		if path = path[:depth]; depth == 0 {
			roots = append(roots, n)
		} else {
			path[depth-1].Children = append(path[depth-1].Children, n)
		}
		path = append(path, n)
	}
	cct.Totals(roots)
	return roots, func(id int32) cct.Method { return cct.Method{Name: names[id] + "()V"} }
}

// text writes a view as parseTree reads a tree; a fold is its label.
func text(v *View, roots []*cct.Node, lookup func(int32) cct.Method) string {
	var b strings.Builder
	for n, depth := range cct.All(roots) {
		name := ""
		if r := v.Run(n); r != nil {
			name = r.Label()
		} else {
			name, _, _ = strings.Cut(lookup(n.Method).Name, "(")
		}
		fmt.Fprintf(&b, "%s%d %d %s\n", strings.Repeat(" ", depth), n.Calls, n.Self, name)
	}
	return b.String()
}

func trimmed(text string) string { return strings.TrimLeft(text, "\n") }

const springTree = `
1 1 org.springframework.web.servlet.FrameworkServlet.service
 1 2 jakarta.servlet.http.HttpServlet.service
  1 3 org.springframework.web.servlet.DispatcherServlet.doDispatch
   1 4 java.lang.reflect.Method.invoke
    1 5 app.Orders.order
     5 6 app.Till$$SpringCGLIB$$0.sell
      5 7 org.springframework.aop.framework.CglibAopProxy.intercept
       5 8 org.springframework.transaction.interceptor.TransactionInterceptor.invoke
        5 9 app.Till.sell
         5 1 java.util.HashMap.get
          5 1 java.util.HashMap.getNode
     2 6 org.hibernate.Session.find
      2 7 org.hibernate.Loader.load
   1 30 org.springframework.web.Json.write
    1 31 org.springframework.web.Json.writeValue
`

func TestFold(t *testing.T) {
	for _, c := range []struct {
		what, main string
		app        []string
		tree, want string
	}{
		{"runs that lead to the application are folded, what hangs off them is not", "app.Main", nil, springTree, `
1 1 org.springframework.web.servlet.FrameworkServlet.service
 3 9 3 levels of jakarta.servlet.http, org.springframework.web, java.lang.reflect
  1 30 org.springframework.web.Json.write
   1 31 org.springframework.web.Json.writeValue
  1 5 app.Orders.order
   5 6 app.Till$$SpringCGLIB$$0.sell
    10 15 2 levels of org.springframework.aop, org.springframework.transaction
     5 9 app.Till.sell
      5 1 java.util.HashMap.get
       5 1 java.util.HashMap.getNode
   2 6 org.hibernate.Session.find
    2 7 org.hibernate.Loader.load
`},
		{"what is reached on several paths is put together", "app.Main", nil, `
1 0 org.h2.A.a
 1 1 org.h2.B.b
  1 2 app.X.x
   1 3 app.Y.y
 2 4 org.h2.C.c
  2 5 app.X.x
   7 6 app.Y.y
   1 1 org.h2.D.d
    1 1 org.h2.E.e
     1 1 org.h2.F.f
      1 1 app.Z.z
`, `
1 0 org.h2.A.a
 3 5 1 level of org.h2, 2 call paths
  3 7 app.X.x
   8 9 app.Y.y
   1 1 org.h2.D.d
    2 2 2 levels of org.h2
     1 1 app.Z.z
`},
		{"one level alone is shown", "app.Main", nil, `
1 0 app.A.a
 1 0 org.hibernate.B.b
  1 0 org.hibernate.C.c
   1 0 app.D.d
`, ""},
		{"a tree of a framework alone is left as it is", "app.Main", nil, "1 0 org.h2.A.a\n 1 0 org.h2.B.b\n  1 0 org.h2.C.c\n   1 0 org.h2.D.d\n", ""},
		{"who is the framework sees its methods", "kafka.Kafka", nil, "1 0 org.apache.kafka.A.a\n 1 0 org.apache.kafka.B.b\n  1 0 org.apache.kafka.C.c\n   1 0 kafka.server.D.d\n", ""},
		{"packages that are named leave the rest to frameworks", "lib.Main", []string{"com.acme"}, `
1 0 com.acme.A.a
 1 0 lib.B.b
  1 0 lib.C.c
   1 0 java.util.TreeMap.get
    1 0 com.acme.D.d
 1 0 lib.Z.z
  1 0 com.acmelike.Z.z
`, `
1 0 com.acme.A.a
 1 0 lib.B.b
  2 0 2 levels of java.util, lib
   1 0 com.acme.D.d
 1 0 lib.Z.z
  1 0 com.acmelike.Z.z
`},
		{"threads of the JDK lead to the application", "app.Main", nil, `
1 0 java.lang.Thread.run
 1 0 java.util.concurrent.ThreadPoolExecutor.runWorker
  1 0 java.util.concurrent.FutureTask.run
   1 0 app.Task.run
    1 0 java.util.stream.Reduce.evaluate
     1 0 java.util.stream.Sink.accept
      1 0 app.Task.each
`, `
1 0 java.lang.Thread.run
 2 0 2 levels of java.util.concurrent
  1 0 app.Task.run
   1 0 java.util.stream.Reduce.evaluate
    1 0 java.util.stream.Sink.accept
     1 0 app.Task.each
`},
	} {
		t.Run(c.what, func(t *testing.T) {
			roots, lookup := parseTree(t, c.tree)
			rules, err := New(c.app, c.main)
			if err != nil {
				t.Fatal(err)
			}
			v := Fold(roots, rules, lookup)
			if c.want == "" {
				if v != nil {
					t.Fatalf("folded\n%s", text(v, v.Roots, lookup))
				}
				return
			}
			if v == nil {
				t.Fatal("nothing was folded")
			}
			if got := text(v, v.Roots, lookup); got != trimmed(c.want) {
				t.Errorf("got\n%swant\n%s", got, trimmed(c.want))
			}
			if got := text(nil, roots, lookup); got != trimmed(c.tree) {
				t.Errorf("the given tree is\n%s", got)
			}
		})
	}
}

func TestInside(t *testing.T) {
	roots, lookup := parseTree(t, springTree)
	rules, err := New(nil, "app.Main")
	if err != nil {
		t.Fatal(err)
	}
	v := Fold(roots, rules, lookup)
	want := trimmed(`
1 2 jakarta.servlet.http.HttpServlet.service
 1 3 org.springframework.web.servlet.DispatcherServlet.doDispatch
  1 4 java.lang.reflect.Method.invoke
   1 5 app.Orders.order
    5 6 app.Till$$SpringCGLIB$$0.sell
     10 15 2 levels of org.springframework.aop, org.springframework.transaction
      5 9 app.Till.sell
       5 1 java.util.HashMap.get
        5 1 java.util.HashMap.getNode
    2 6 org.hibernate.Session.find
     2 7 org.hibernate.Loader.load
  1 30 org.springframework.web.Json.write
   1 31 org.springframework.web.Json.writeValue
`)
	inside := v.Inside(v.Run(v.Roots[0].Children[0]))
	if got := text(v, inside, lookup); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if !v.Passes(v.Roots[0]) || !v.Passes(inside[0]) || v.Passes(v.Roots[0].Children[0].Children[0]) {
		t.Error("levels that lead to the application are those of frameworks above it")
	}
}

// TestSums folds random trees: nothing is lost, and no node's total changes.
func TestSums(t *testing.T) {
	names := []string{"app.A.a", "app.B.b", "org.h2.C.c", "org.h2.D.d", "org.hibernate.E.e", "java.util.F.f", "lib.G.g"}
	lookup := func(id int32) cct.Method { return cct.Method{Name: names[id] + "()V"} }
	rules, err := New(nil, "app.Main")
	if err != nil {
		t.Fatal(err)
	}
	folded := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		all := []*cct.Node{{}}
		for range 60 {
			n := &cct.Node{Method: int32(r.IntN(len(names))), Calls: int64(r.IntN(9)), Self: int64(r.IntN(100))}
			at := all[r.IntN(len(all))]
			at.Children = append(at.Children, n)
			all = append(all, n)
		}
		roots := cct.Merge(all[0].Children)
		v := Fold(roots, rules, lookup)
		if v == nil {
			continue
		}
		folded++
		before, after := cct.Sum(roots), cct.Sum(v.Roots)
		if before.Calls != after.Calls || before.Self != after.Self {
			t.Fatalf("seed %d: %+v, folded %+v", seed, before, after)
		}
		for n := range cct.All(v.Roots) {
			total := n.Self
			for _, c := range n.Children {
				total += c.Total
			}
			if total != n.Total {
				t.Fatalf("seed %d: %d in all, own and callees' %d", seed, n.Total, total)
			}
			if run := v.Run(n); run != nil {
				sums := cct.Sum(v.Inside(run))
				if sum := cct.Sum([]*cct.Node{n}); sum.Calls != sums.Calls || sum.Self != sums.Self {
					t.Fatalf("seed %d: a fold has %+v, opened %+v", seed, sum, sums)
				}
			}
		}
	}
	if folded < 100 {
		t.Errorf("only %d trees had something to fold", folded)
	}
}
