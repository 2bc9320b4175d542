package suggest

import (
	"slices"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

var names = []string{
	"shop.app.Main.main([Ljava/lang/String;)V",   // 0
	"shop.app.Main.loop()V",                      // 1
	"shop.app.Orders.process(Lshop/app/Order;)V", // 2
	"shop.app.Price.of(I)J",                      // 3
	"java.util.HashMap.get(Ljava/lang/Object;)V", // 4
	"org.lib.Server$Worker.dispatch()V",          // 5
	"shop.app.Poll.idle()V",                      // 6
	"shop.app.Orders$$Lambda.run()V",             // 7
	"shop.app.Deep.recurse()V",                   // 8
	"__memmove",                                  // 9
	"shop.app.Report.nightly()V",                 // 10
	"shop.app.Orders.<clinit>()V",                // 11
	"jdk.internal.misc.Unsafe.park(ZJ)V",         // 12
	"org.lib.Codec.decode([B)V",                  // 13
	"java.lang.Thread.run()V",                    // 14
	"com.sun.proxy.$Proxy1.process()V",           // 15
	"shop.app.Once.start()V",                     // 16
	"shop.app.Price$Table.row(I)I",               // 17
	"shop.app.Orders.line(I)V",                   // 18
	"org.lib.Server$Worker.run()V",               // 19
	"org.springframework.web.Filter.filter()V",   // 20
	"com.zaxxer.hikari.pool.HikariPool.fill()V",  // 21
	"sun.nio.ch.SelectorImpl.select(J)I",         // 22
	"sun.nio.ch.EPoll.wait(IJII)I",               // 23
	"com.acme.Batch.run()V",                      // 24
	"jdk.proxy2.$Proxy41.find()V",                // 25
}

// at is a context: entries, samples of its own, and how many of these ran.
func at(method int32, entries, samples, ran int64, children ...*cct.Node) *cct.Node {
	n := &cct.Node{Method: method, Calls: entries, Self: 10e6 * samples, Children: children}
	if samples > 0 {
		n.Details().Sample = &cct.Sample{Count: samples, Wall: 10e6 * samples, Ran: 10e6 * ran}
	}
	return n
}

func report(main string, roots ...*cct.Node) *export.Report {
	return &export.Report{
		Target: export.Target{Main: main}, Time: 10 * time.Second, Sampling: &export.Sampling{Mode: export.CPUMode},
		Tree: &cct.Snapshot{Threads: []*cct.Thread{{ID: 1, Roots: cct.Merge(roots)}}},
		Lookup: func(id int32) (cct.Method, bool) {
			m := cct.Method{Name: names[id]}
			if id == 9 {
				m.Loader = "native"
			}
			return m, true
		},
	}
}

func suggested(r *export.Report) []string {
	var out []string
	for _, s := range Roots(r, 10) {
		out = append(out, s.Name())
	}
	return out
}

func TestRoots(t *testing.T) {
	for _, c := range []struct {
		what string
		r    *export.Report
		want []string
	}{
		{
			"a loop that never ends is none, nor is the JDK; a callee that has a part of it is one",
			report("shop.app.Main", at(0, 1, 0, 0, at(1, 1, 0, 0, at(2, 50, 20, 20, at(3, 60, 40, 40), at(4, 100, 40, 40))))),
			[]string{"shop.app.Orders.process", "shop.app.Price.of"},
		},
		{
			"a callee with nearly all of it adds nothing",
			report("shop.app.Main", at(0, 1, 0, 0, at(2, 50, 5, 5, at(18, 50, 95, 95)))),
			[]string{"shop.app.Orders.process"},
		},
		{
			"the program's own goes before the library that calls it",
			report("shop.app.Main", at(14, 1, 0, 0, at(5, 80, 2, 2, at(2, 80, 98, 98)))),
			[]string{"shop.app.Orders.process"},
		},
		{
			"without a known package, the outer one",
			report("/opt/shop.jar", at(14, 1, 0, 0, at(5, 80, 2, 2, at(2, 80, 98, 98)))),
			[]string{"org.lib.Server$Worker.dispatch"},
		},
		{
			"who waits is none",
			report("shop.app.Main", at(14, 1, 0, 0, at(6, 80, 0, 0, at(12, 80, 80, 0)), at(3, 10, 20, 20))),
			[]string{"shop.app.Price.of"},
		},
		{
			"who was entered once, or hardly ever sampled, is none",
			report("shop.app.Main", at(14, 1, 0, 0, at(16, 1, 50, 50), at(10, 3, 1, 1), at(3, 30, 49, 49))),
			[]string{"shop.app.Price.of"},
		},
		{
			"names that --root does not take are none: lambdas, initializers, proxies, native functions",
			report("shop.app.Main", at(7, 9, 20, 20), at(11, 9, 20, 20), at(15, 9, 20, 20), at(9, 9, 20, 20)),
			nil,
		},
		{
			"the application's goes before a framework that calls it, with and without a known package",
			report("/opt/shop.jar", at(14, 1, 0, 0, at(20, 80, 2, 2, at(25, 80, 0, 0, at(2, 80, 98, 98))))),
			[]string{"shop.app.Orders.process"},
		},
		{
			"a framework's own work comes last",
			report("/opt/shop.jar", at(14, 1, 0, 0, at(21, 80, 60, 60), at(2, 80, 40, 40))),
			[]string{"shop.app.Orders.process", "com.zaxxer.hikari.pool.HikariPool.fill"},
		},
		{
			"who polls is none, though each poll takes time on a core",
			report("shop.app.Main", at(14, 1, 0, 0, at(5, 800, 5, 5, at(22, 800, 40, 40, at(23, 800, 40, 40)))), at(2, 80, 15, 15)),
			[]string{"shop.app.Orders.process"},
		},
		{
			"what hardly uses a core is none, whatever share of it that is",
			report("shop.app.Main", at(14, 1, 0, 0, at(5, 80, 1, 1))),
			nil,
		},
		{"nothing", report("shop.app.Main"), nil},
	} {
		if got := suggested(c.r); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.what, got, c.want)
		}
	}
	exact := report("shop.app.Main", at(2, 50, 20, 20))
	exact.Sampling = nil
	if got := suggested(exact); got != nil {
		t.Errorf("a recording gives %v", got)
	}
}

// TestApp has a person say which packages are the application's.
func TestApp(t *testing.T) {
	r := report("shop.app.Main", at(14, 1, 0, 0, at(2, 80, 20, 20, at(24, 80, 80, 80))))
	for _, c := range []struct {
		app  []string
		want string
	}{{nil, "shop.app.Orders.process"}, {[]string{"com.acme"}, "com.acme.Batch.run"}} {
		if got := Roots(r, 1, c.app...); len(got) != 1 || got[0].Name() != c.want || !got[0].Own {
			t.Errorf("--app %q: %+v, want %s", c.app, got, c.want)
		}
	}
}

func TestFigures(t *testing.T) {
	// process recurses; below its outermost level are 3 methods of the program's.
	r := report("shop.app.Main", at(0, 1, 0, 0, at(2, 20, 10, 10, at(2, 4, 10, 10, at(17, 10, 40, 40)), at(3, 2, 20, 20, at(4, 5, 20, 20)))))
	got := Roots(r, 1)
	if len(got) != 1 {
		t.Fatal(got)
	}
	s := got[0]
	// Below: 4 + 10 + 2 + 5 entries; frames at samples: 50 + 40 + 40 + 20.
	if s.Samples != 100 || s.Share != 1 || s.Entries != 20 || s.Rate != 2 || s.Calls != 4.1 || s.Fresh != 21.0/150 || s.Price != Low ||
		s.Methods != 3 || s.Classes != 3 || s.Depth != 2 || !s.Own || s.Time != 1e9 {
		t.Errorf("%+v", s)
	}
}

func TestPrice(t *testing.T) {
	for fresh, want := range map[float64]Price{0: Low, 0.14: Low, 0.2: Medium, 0.5: High, 1: High} {
		if got := priceOf(fresh); got != want {
			t.Errorf("%v: %s, want %s", fresh, got, want)
		}
	}
}
