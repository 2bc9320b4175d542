package session

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/controller/link/linktest"
	"github.com/rivulet-profiler/rivulet/hotswap"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/jvmside"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// fakeLoader is the number of the fake's application loader.
const fakeLoader = 1

func app(name string) cha.ClassID { return cha.ClassID{Loader: fakeLoader, Name: name} }

// shop is a JVM that has loaded the demo's classes, but those whose names begin as told.
func shop(t *testing.T, without ...string) linktest.JVM {
	t.Helper()
	jar := jvmside.DemoJar()
	r, err := zip.NewReader(bytes.NewReader(jar), int64(len(jar)))
	if err != nil {
		t.Fatal(err)
	}
	jvm := linktest.JVM{Loaders: []link.Loader{{ID: fakeLoader, Kind: wire.LoaderApp, Class: "App", Name: "1"}}}
	for _, f := range r.File {
		name, ok := strings.CutSuffix(f.Name, ".class")
		if !ok || slices.ContainsFunc(without, func(p string) bool { return strings.HasPrefix(name, p) }) {
			continue
		}
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		jvm.Classes = append(jvm.Classes, loaded(t, b))
	}
	return jvm
}

// loaded is a class of the application's loader as a listing has it.
func loaded(t *testing.T, b []byte) *linktest.Class {
	t.Helper()
	f, err := classfile.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	id := func(name string) cha.ClassID {
		if strings.HasPrefix(name, "java/") {
			return cha.ClassID{Name: name}
		}
		return app(name)
	}
	c := &linktest.Class{File: b}
	c.ID, c.Access, c.State = id(f.Name()), uint32(f.Access), wire.ClassInitialized|wire.ClassModifiable
	if s := f.Super(); s != "" {
		c.Super = id(s)
	}
	for _, i := range f.Interfaces() {
		c.Interfaces = append(c.Interfaces, id(i))
	}
	return c
}

// fake is a session with an agent without a JVM, which knows its classes.
func fake(t *testing.T, jvm linktest.JVM) (*Session, *linktest.Agent) {
	t.Helper()
	s, err := newSession(Config{Memory: 32 << 20}, attach.Process{PID: os.Getpid(), JavaVersion: "17.0.1"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.running = func() bool { return true }
	s.start()
	a, err := linktest.Start(s.room.Dir, jvm)
	if err != nil {
		s.abort(err)
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.awaitAgent(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.mirrorClasses(t.Context(), &stepLog{s.log, time.Now()}); err != nil {
		t.Fatal(err)
	}
	return s, a
}

// armedFake is a fake session that records the demo's root.
func armedFake(t *testing.T, jvm linktest.JVM, scheme string) (*Session, *linktest.Agent) {
	t.Helper()
	s, a := fake(t, jvm)
	if err := s.Start(t.Context(), Recording{Roots: []string{jvmside.DemoRoot}, Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
	return s, a
}

// hasProbes tells whether a class has other bytes than its file.
func hasProbes(a *linktest.Agent, name string) bool {
	c := a.Class(app(name))
	return !bytes.Equal(c.Bytes, c.File)
}

// find is a class of a JVM that its agent has not loaded.
func find(jvm linktest.JVM, name string) *linktest.Class {
	return jvm.Classes[slices.IndexFunc(jvm.Classes, func(c *linktest.Class) bool { return c.ID.Name == name })]
}

func finished(t *testing.T, s *Session) *export.Report {
	t.Helper()
	r, err := s.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const service = "shop/orders/OrderService" // has the root

// TestFakeSchemes arms a root of the demo, and leaves: Scheme A has all that the root reaches
// at once, C nearly all, B what it calls when it is called. All of it is restored.
func TestFakeSchemes(t *testing.T) {
	for scheme, want := range map[string]struct{ all, near bool }{"A": {true, true}, "B": {}, "C": {near: true}} {
		t.Run(scheme, func(t *testing.T) {
			jvm := shop(t)
			s, a := armedFake(t, jvm, scheme)
			if !hasProbes(a, service) || hasProbes(a, "shop/Main") {
				t.Error("the root's class lacks probes, or one beyond reach has some")
			}
			if all, near := hasProbes(a, "shop/orders/OrderSource"), hasProbes(a, "shop/payment/PaymentDesk"); all != want.all || near != want.near {
				t.Errorf("what is far has probes: %v, what is near: %v", all, near)
			}
			root := methodOf(t, s, "process")
			if fresh := a.Mode(root) == wire.ModeFresh; fresh == want.near {
				t.Errorf("the root is fresh: %v", fresh)
			}
			if err := a.Enter(root); err != nil {
				t.Fatal(err)
			}
			if a.Mode(root) == wire.ModeFresh || !hasProbes(a, "shop/payment/PaymentDesk") {
				t.Error("the root was entered, and its callees have no probes")
			}
			if r := finished(t, s); !r.Exact() {
				t.Errorf("gaps %+v", r.Gaps)
			}
			for _, c := range jvm.Classes {
				if got := a.Class(c.ID); !bytes.Equal(got.Bytes, c.File) {
					t.Errorf("%s is not restored", c.ID)
				}
			}
		})
	}
}

// methodOf is the number of the root's class's method of a name.
func methodOf(t *testing.T, s *Session, name string) (id int32) {
	t.Helper()
	if err := s.do(t.Context(), func() {
		s.loop.ledger.Rows(hotswap.ClassID(app(service)), func(m *hotswap.Method) {
			if methodID(m).Name == name {
				id = m.ID
			}
		})
	}); err != nil || id == 0 {
		t.Fatalf("%s.%s has no number: %v", service, name, err)
	}
	return id
}

// TestFakeLoads has classes loaded while a recording is on: what is within reach gets its
// probes before any code of it runs.
func TestFakeLoads(t *testing.T) {
	for scheme, probes := range map[string]bool{"A": true, "B": false} {
		t.Run(scheme, func(t *testing.T) {
			all := shop(t)
			_, a := armedFake(t, shop(t, "shop/pricing/Bulk", "shop/shipping/Routes$Road"), scheme)
			for name, within := range map[string]bool{"shop/pricing/Bulk": probes, "shop/shipping/Routes$Road": false} {
				if err := a.Load(find(all, name), false); err != nil {
					t.Fatal(err)
				}
				if got := hasProbes(a, name); got != within {
					t.Errorf("%s has probes: %v", name, got)
				}
			}
		})
	}
}

// TestFakeTargets has a thread about to call what no code names: it waits until that has probes.
func TestFakeTargets(t *testing.T) {
	for _, scheme := range []string{"A", "B", "C"} {
		t.Run(scheme, func(t *testing.T) {
			s, a := armedFake(t, shop(t), scheme)
			m := cha.MethodID{Class: app("shop/Main"), Name: "main", Desc: "([Ljava/lang/String;)V"}
			if hasProbes(a, m.Class.Name) {
				t.Error("it has probes before it is found")
			}
			if err := a.Find(-1, m); err != nil {
				t.Fatal(err)
			}
			if !hasProbes(a, m.Class.Name) {
				t.Error("it has no probes")
			}
			if r := finished(t, s); !r.Exact() {
				t.Errorf("gaps %+v", r.Gaps)
			}
		})
	}
}

// TestFakePart has two threads wait for a class that the agent leaves to them. One of them
// does it. The other, which could not have the class meanwhile, asks again what is left.
func TestFakePart(t *testing.T) {
	jvm := shop(t)
	m := cha.MethodID{Class: app("shop/Main"), Name: "main", Desc: "([Ljava/lang/String;)V"}
	find(jvm, m.Class.Name).State &^= wire.ClassInitialized
	s, a := armedFake(t, jvm, "B")
	left := func(typ uint32, q link.Request) []cha.ClassID {
		t.Helper()
		var l link.Left
		if reply, err := a.Send(typ, link.Encode(q)); err != nil {
			t.Fatal(err)
		} else if err := link.Decode(&l, reply); err != nil {
			t.Fatal(err)
		}
		return l.Classes
	}
	all := []cha.ClassID{m.Class}
	if got := left(wire.ReqTargets, &link.Targets{Number: -2, Methods: []cha.MethodID{m}}); !slices.Equal(got, all) {
		t.Errorf("left %v", got)
	}
	if got := left(wire.ReqRevealed, &link.Revealed{Method: -2}); !slices.Equal(got, all) {
		t.Errorf("left %v where nobody has done it", got)
	}
	if err := a.Find(-1, m); err != nil {
		t.Fatal(err)
	}
	if !hasProbes(a, m.Class.Name) {
		t.Error("it has no probes")
	}
	if got := left(wire.ReqRevealed, &link.Revealed{Method: -2}); len(got) != 0 {
		t.Errorf("left %v where another has done it", got)
	}
	s.Block(func() {
		if n := len(s.loop.reveals); n != 0 {
			t.Errorf("%d reveals are open", n)
		}
	})
	if r := finished(t, s); !r.Exact() {
		t.Errorf("gaps %+v", r.Gaps)
	}
}

// TestFakeRefused has the JVM refuse one class of many: the others get their probes, and the
// report names it.
func TestFakeRefused(t *testing.T) {
	const refused = "shop/stock/Shelf"
	jvm := shop(t)
	jvm.Refuse = func(id cha.ClassID, b []byte) string {
		if id == app(refused) {
			return "no"
		}
		return ""
	}
	s, a := armedFake(t, jvm, "A")
	if hasProbes(a, refused) || !hasProbes(a, "shop/stock/Warehouse") {
		t.Error("the class that was refused has probes, or others have none")
	}
	r := finished(t, s)
	if r.Exact() || !slices.ContainsFunc(r.Skipped, func(k export.Skipped) bool {
		return strings.HasPrefix(k.Method, "shop.stock.Shelf.") && k.Reason == "no"
	}) {
		t.Errorf("exact %v, skipped %+v", r.Exact(), r.Skipped)
	}
}

// TestFakeGone has a class unloaded before it is redefined: nothing is missing.
func TestFakeGone(t *testing.T) {
	s, a := fake(t, shop(t))
	a.Unload(app("shop/stock/Shelf"))
	if err := s.Start(t.Context(), Recording{Roots: []string{jvmside.DemoRoot}, Scheme: "A"}); err != nil {
		t.Fatal(err)
	}
	if !hasProbes(a, "shop/stock/Warehouse") {
		t.Error("the other classes have no probes")
	}
	if r := finished(t, s); !r.Exact() {
		t.Errorf("gaps %+v", r.Gaps)
	}
}

// TestFakeNonsense has the target send what makes no sense: messages out of turn, cut off, of
// no type, and with counts that they can't hold. The session goes on, and restores all.
func TestFakeNonsense(t *testing.T) {
	jvm := shop(t)
	s, a := armedFake(t, jvm, "B")
	send := func(typ uint32, b []byte) {
		if _, err := a.Send(typ, b); err != nil {
			t.Errorf("%d, %x: %v", typ, b, err)
		}
	}
	for typ, row := range link.Requests {
		if typ == wire.ReqHello { // comes once, and sets the clock
			continue
		}
		whole := link.Encode(row.New())
		send(typ, whole)
		for n := range whole {
			send(typ, whole[:n])
		}
		send(typ, bytes.Repeat([]byte{0xff}, 64))
	}
	send(99, nil)
	for _, q := range []link.Request{
		&link.Batch{Number: 1000, Rows: []link.Outcome{{ID: app("no/Class"), Code: 77}}},
		&link.Revealed{Method: 1 << 30, Done: []cha.ClassID{app("no/Class")}},
		&link.Reveal{Method: -5},
		&link.Targets{Number: -7, Methods: []cha.MethodID{{Class: app("no/Class"), Name: "m", Desc: "not a descriptor"}}},
		&link.Transform{ID: app("no/Class"), Bytes: []byte("no class file")},
		&link.Files{Last: true, Rows: []link.File{{ID: app(service), Bytes: []byte{0xca, 0xfe}}}},
		&link.Loaders{Rows: []link.Loader{{ID: 7, Kind: 200, Parent: 7}}},
	} {
		send(link.TypeOf(q), link.Encode(q))
	}
	if err := a.Enter(methodOf(t, s, "process")); err != nil {
		t.Fatal(err)
	}
	if !hasProbes(a, "shop/payment/PaymentDesk") {
		t.Error("a callee has no probes")
	}
	finished(t, s)
	for _, c := range jvm.Classes {
		if got := a.Class(c.ID); !bytes.Equal(got.Bytes, c.File) {
			t.Errorf("%s is not restored", c.ID)
		}
	}
}
