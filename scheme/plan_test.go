package scheme

import (
	"slices"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/cha"
)

const (
	public   = 0x0001
	static   = 0x0008
	native   = 0x0100
	iface    = 0x0200
	abstract = 0x0400
)

// class makes a mirror in the application loader. Methods are "name flags", of
// descriptor ()V, followed by what they call: ">Owner.name" statically,
// "~Owner.name" virtually.
func class(name, super string, access uint16, methods ...string) *cha.ClassMirror {
	m := &cha.ClassMirror{ID: cha.ClassID{Loader: 1, Name: name}, Super: super, Access: access | public, Methods: []cha.Method{}}
	for _, text := range methods {
		f := strings.Fields(text)
		d := cha.Method{Name: f[0], Desc: "()V", Access: public, HasCode: true}
		for _, w := range f[1:] {
			switch w {
			case "static":
				d.Access |= static
			case "native":
				d.Access, d.HasCode = d.Access|native, false
			case "abstract":
				d.Access, d.HasCode = d.Access|abstract, false
			default:
				owner, name, _ := strings.Cut(w[1:], ".")
				kind := cha.Static
				if w[0] == '~' {
					kind = cha.Virtual
				}
				d.Calls = append(d.Calls, cha.Call{Kind: kind, Owner: owner, Name: name, Desc: "()V"})
			}
		}
		m.Methods = append(m.Methods, d)
	}
	return m
}

func mid(name string) cha.MethodID {
	c, m, _ := strings.Cut(name, ".")
	return cha.MethodID{Class: cha.ClassID{Loader: 1, Name: c}, Name: m, Desc: "()V"}
}

// text writes a plan: "root:" and "fresh:" before steps, "+" before Also, "="
// before Revealed, reasons behind "!".
func text(p Plan) string {
	var out []string
	step := func(mark string, s Step) {
		if s.Fresh {
			mark += "fresh:"
		}
		if s.Root {
			mark += "root:"
		}
		out = append(out, mark+strings.TrimSuffix(s.Method.String(), "()V"))
	}
	for _, s := range p.Steps {
		step("", s)
	}
	for _, s := range p.Also {
		step("+", s)
	}
	for _, m := range p.Revealed {
		out = append(out, "="+strings.TrimSuffix(m.String(), "()V"))
	}
	for _, s := range p.Skipped {
		out = append(out, strings.TrimSuffix(s.Method.String(), "()V")+"!"+string(s.Reason))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func app(ms ...*cha.ClassMirror) *cha.Hierarchy {
	h := cha.New()
	h.AddLoader(cha.Loader{ID: 1, Kind: cha.LoaderApp})
	h.Add(&cha.ClassMirror{ID: cha.ClassID{Name: "java/lang/Object"}, Methods: []cha.Method{
		{Name: "toString", Desc: "()V", Access: public, HasCode: true},
	}})
	for _, m := range ms {
		h.Add(m)
	}
	return h
}

const object = "java/lang/Object"

func want(t *testing.T, what string, p Plan, want string) {
	t.Helper()
	if got := text(p); got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

func TestPlans(t *testing.T) {
	mirrors := func() []*cha.ClassMirror {
		return []*cha.ClassMirror{
			class("A", object, 0, "root static >A.one ~B.v", "one static >A.two >A.two", "two static", "nat static native"),
			class("B", object, 0, "v >A.nat", "toString"),
		}
	}
	late := class("C", "B", 0, "v >A.two", "w")
	t.Run("A", func(t *testing.T) {
		h := app(mirrors()...)
		s := NewA(h)
		want(t, "roots", s.Roots([]cha.MethodID{mid("A.root")}), "A.nat!native A.one A.two B.toString B.v root:A.root") // native code may call toString
		want(t, "roots again", s.Roots([]cha.MethodID{mid("A.root")}), "")
		want(t, "another root", s.Roots([]cha.MethodID{mid("A.one")}), "root:A.one")
		for most, n := range map[int]int{1: 1, 3: 3, 100: 5} {
			if got, unknown := Reach(h, []cha.MethodID{mid("A.root")}, most); got != n || unknown != 0 {
				t.Errorf("%d methods within reach, want %d; %d calls reach nothing", got, n, unknown)
			}
		}
		h.Add(class("D", object, 0, "root static >A.two >A.two >E.one >E.two"))
		if got, unknown := Reach(h, []cha.MethodID{mid("D.root")}, 100); got != 2 || unknown != 2 {
			t.Errorf("%d methods within reach, %d calls reach nothing, want 2 and 2", got, unknown)
		}
		h.Add(late)
		want(t, "loaded", s.Loaded(late.ID), "=C.v fresh:C.v") // A.two is watched already
		want(t, "loaded again", s.Loaded(late.ID), "")
	})
	t.Run("B", func(t *testing.T) {
		h := app(mirrors()...)
		s := NewB(h)
		want(t, "roots", s.Roots([]cha.MethodID{mid("A.root")}), "B.toString fresh:root:A.root")
		want(t, "root entered", s.Entered(mid("A.root")), "=A.root fresh:A.one fresh:B.v")
		want(t, "entered again", s.Entered(mid("A.root")), "=A.root")
		want(t, "virtual entered", s.Entered(mid("B.v")), "=B.v A.nat!native")
		h.Add(late)
		want(t, "loaded", s.Loaded(late.ID), "fresh:C.v")
		want(t, "entered", s.Entered(mid("A.one")), "=A.one A.two")
		want(t, "found", s.Found([]cha.MethodID{mid("C.w")}), "C.w")
		d := class("D", object, 0, "u static >D.t", "t static")
		h.Add(d)
		want(t, "loaded", s.Loaded(d.ID), "")
		want(t, "found and revealed", s.Found([]cha.MethodID{mid("D.u")}), "=D.u D.t fresh:D.u")
	})
}

func TestRoots(t *testing.T) {
	h := app(
		class("I", object, iface|abstract, "m abstract"),
		&cha.ClassMirror{ID: cha.ClassID{Loader: 1, Name: "X"}, Super: object, Interfaces: []string{"I"}, Methods: []cha.Method{
			{Name: "m", Desc: "()V", Access: public, HasCode: true},
		}},
	)
	s := NewB(h)
	want(t, "abstract", s.Roots([]cha.MethodID{mid("I.m")}), "root:X.m")
	want(t, "no such method", s.Roots([]cha.MethodID{mid("X.n")}), "X.n!its class has no such method")
	want(t, "later class", s.Roots([]cha.MethodID{mid("Y.n")}), "")
	y := class("Y", "X", 0, "n static >Y.n >Z.z", "m")
	h.Add(y)
	want(t, "loaded", s.Loaded(y.ID), "fresh:root:Y.n root:Y.m")
	obj := cha.MethodID{Class: cha.ClassID{Name: object}, Name: "toString", Desc: "()V"}
	want(t, "excluded", s.Roots([]cha.MethodID{obj}), "java.lang.Object.toString!excluded by loader or filter")
}

// TestTimed plans roots, with what implements them, and nothing beneath.
func TestTimed(t *testing.T) {
	impl := func(name string) *cha.ClassMirror {
		m := class(name, object, 0, "m >A.one", "other")
		m.Interfaces = []string{"I"}
		return m
	}
	fixed := impl("F")
	fixed.Fixed = true
	h := app(class("A", object, 0, "root static >A.one ~I.m", "one static", "nat static native"), class("I", object, iface|abstract, "m abstract"), impl("X"), fixed)
	s := NewTimed(h)
	want(t, "roots", s.Roots([]cha.MethodID{mid("A.root"), mid("A.nat"), mid("I.m"), mid("L.late")}),
		"A.nat!native F.m!its class can't be redefined root:A.root root:X.m")
	want(t, "roots again", s.Roots([]cha.MethodID{mid("A.root"), mid("I.m")}), "")
	want(t, "entered", s.Entered(mid("A.root")), "")
	want(t, "found", s.Found([]cha.MethodID{mid("A.one")}), "")
	late := class("L", object, 0, "late static >A.one", "early static")
	y := impl("Y")
	h.Add(late)
	want(t, "loaded", s.Loaded(late.ID), "root:L.late")
	h.Add(y)
	want(t, "another implementation", s.Loaded(y.ID), "root:Y.m")
	z := impl("Z")
	h.Add(z)
	want(t, "listed", s.Listed([]cha.ClassID{z.ID, y.ID}), "root:Z.m")
}

// TestInherited loads a class that gives an interface an implementation which
// does not know it, and then the class between.
func TestInherited(t *testing.T) {
	i := class("I", object, iface|abstract, "m abstract")
	root := class("A", object, 0, "root static ~I.m ~S.inherited")
	base := class("Base", object, 0, "m", "inherited >A.root >A.other", "other")
	between := class("Mid", "Base", 0)
	sub := class("S", "Mid", 0, "own")
	sub.Interfaces = []string{"I"}
	h := app(i, root, base)
	s := NewB(h)
	s.Roots([]cha.MethodID{mid("A.root")})
	want(t, "root", s.Entered(mid("A.root")), "=A.root")
	h.Add(sub)
	// The JDK may be above it and call back, so that any method is reachable.
	want(t, "hook of the subclass", s.Loaded(sub.ID), "S.own")
	h.Add(between)
	want(t, "hook of its superclass", s.Loaded(between.ID), "+Base.m +fresh:Base.inherited")
}

// TestLoadedInside has a class give all that can have probes when a thread inside
// the subgraph loads it, so that calling more of it needs no redefinition.
func TestLoadedInside(t *testing.T) {
	h := app(class("A", object, 0, "root static >L.called", "two static"))
	s := NewC(h).(Loader)
	s.Roots([]cha.MethodID{mid("A.root")})
	late := class("L", object, 0, "called static >L.more >L.native", "more static >A.two", "native static native", "other", "hidden")
	h.SetFilter(func(_ *cha.ClassMirror, m *cha.Method) bool { return m.Name == "hidden" })
	h.Add(late)
	want(t, "loaded", s.LoadedInside(late.ID), "L.other fresh:L.called fresh:L.more")
	want(t, "entered", s.Entered(mid("L.called")), "=L.called L.native!native")
	none := &cha.ClassMirror{ID: cha.ClassID{Name: "java/J"}, Methods: []cha.Method{{Name: "m", Desc: "()V", HasCode: true}}}
	h.Add(none)
	want(t, "excluded", s.LoadedInside(none.ID), "")
}

// TestEarlyCallbacks has B plan callbacks together with a root from which the
// JDK is called in a way that may lead to them, and only then.
func TestEarlyCallbacks(t *testing.T) {
	run := &cha.ClassMirror{ID: cha.ClassID{Name: "java/lang/Runnable"}, Access: public | iface | abstract, Methods: []cha.Method{
		{Name: "run", Desc: "()V", Access: public | abstract},
	}}
	task := class("Task", object, 0, "run >A.two")
	task.Interfaces = []string{"java/lang/Runnable"}
	a := class("A", object, 0, "root static >A.one", "one static >A.out", "out static ~java/lang/Runnable.run", "two static", "calm static >A.two")
	s := NewB(app(run, task, a))
	want(t, "calm root", s.Roots([]cha.MethodID{mid("A.calm")}), "fresh:root:A.calm")
	want(t, "root", s.Roots([]cha.MethodID{mid("A.root")}), "fresh:Task.run fresh:root:A.root")
}

func TestFixed(t *testing.T) {
	f := class("F", object, 0, "m static >A.two")
	f.Fixed = true
	h := app(class("A", object, 0, "root static >F.m", "two static"), f)
	s := NewB(h)
	s.Roots([]cha.MethodID{mid("A.root")})
	want(t, "fixed class", s.Entered(mid("A.root")), "=A.root A.two F.m!its class can't be redefined")
}

func TestHarmless(t *testing.T) {
	for _, c := range []struct {
		owner, name, desc string
		any               bool
	}{
		{"java/lang/String", "indexOf", "(Ljava/lang/String;I)I", false},
		{"java/lang/String", "valueOf", "(Ljava/lang/Object;)Ljava/lang/String;", true},
		{"java/lang/String", "<init>", "([CII)V", false},
		{"java/lang/String", "join", "(Ljava/lang/CharSequence;[Ljava/lang/CharSequence;)Ljava/lang/String;", true},
		{"java/lang/StringBuilder", "append", "(Ljava/lang/Object;)Ljava/lang/StringBuilder;", true},
		{"java/lang/StringBuilder", "append", "(J)Ljava/lang/StringBuilder;", false},
		{"java/lang/Object", "<init>", "()V", false},
		{"java/lang/Object", "hashCode", "()I", true},
		{"java/lang/System", "arraycopy", "(Ljava/lang/Object;ILjava/lang/Object;II)V", false},
		{"java/util/ArrayList", "size", "()I", true},
		{"p/Main", "f", "(Ljava/lang/Object;)V", false}, // not of the JDK
		{"[I", "clone", "()Ljava/lang/Object;", false},
		{"[I", "hashCode", "()I", true},
	} {
		call := cha.Call{Kind: cha.Virtual, Owner: c.owner, Name: c.name, Desc: c.desc}
		if got := effectOf(app(), cha.ClassID{Loader: 1, Name: "A"}, &call).any; got != c.any {
			t.Errorf("%v can call back: %v", call, got)
		}
	}
}

// TestSelector withholds callbacks until the JDK can call them by name, or native
// code is reached, which may call anything.
func TestSelector(t *testing.T) {
	h := app(
		class("A", object, 0, "root static >java/util/Timer.go", "nat static native"),
		class("B", object, 0, "toString"),
	)
	names := map[string]bool{}
	s := NewC(h).(Selector)
	s.Select(func(name, desc string) bool { return names[name+desc] })
	want(t, "roots", s.Roots([]cha.MethodID{mid("A.root")}), "=A.root fresh:root:A.root")
	want(t, "nothing is named", s.Named(), "")
	late := class("L", object, 0, "toString")
	h.Add(late)
	want(t, "loaded", s.Loaded(late.ID), "")
	names["toString()V"] = true
	want(t, "named", s.Named(), "B.toString L.toString")
	want(t, "named again", s.Named(), "")
	names["toString()V"] = false // a scheme that is told so asks no more
	x := class("X", object, 0, "toString")
	h.Add(x)
	want(t, "loaded, withheld", s.Loaded(x.ID), "")
	want(t, "native code", s.Found([]cha.MethodID{mid("A.nat")}), "A.nat!native X.toString")
	y := class("Y", object, 0, "toString")
	h.Add(y)
	want(t, "loaded after that", s.Loaded(y.ID), "Y.toString")
}
