package roots

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/cha"
)

const (
	static   = 0x8
	abstract = 0x400
	native   = 0x100
	iface    = 0x200
)

// shop is a catalog of a few classes: an interface with two implementations, a class with
// overloads, one of the JDK's, one whose code is not known.
func shop(t *testing.T, more ...*cha.ClassMirror) *Catalog {
	t.Helper()
	h := cha.New()
	h.SetPolicy(Excluded)
	h.AddLoader(cha.Loader{ID: 0, Kind: cha.LoaderBoot})
	h.AddLoader(cha.Loader{ID: 1, Kind: cha.LoaderApp, Name: "app"})
	method := func(name, desc string, access uint16) cha.Method {
		m := cha.Method{Name: name, Desc: desc, Access: access}
		m.HasCode = !m.IsAbstract() && !m.IsNative()
		return m
	}
	class := func(loader uint32, name, super string, interfaces []string, access uint16, methods ...cha.Method) *cha.ClassMirror {
		return &cha.ClassMirror{ID: cha.ClassID{Loader: loader, Name: name}, Super: super, Interfaces: interfaces, Access: access, Methods: methods, Initialized: true}
	}
	for _, m := range append([]*cha.ClassMirror{
		class(0, "java/lang/Object", "", nil, 0, method("hashCode", "()I", native)),
		class(1, "shop/Price", "java/lang/Object", nil, iface|abstract, method("of", "(I)J", abstract)),
		class(1, "shop/Net", "java/lang/Object", []string{"shop/Price"}, 0, method("of", "(I)J", 0), method("tax", "()V", native)),
		class(1, "shop/Gross", "java/lang/Object", []string{"shop/Price"}, 0, method("of", "(I)J", 0)),
		class(1, "shop/Order", "java/lang/Object", nil, 0, method("add", "(I)V", 0), method("add", "(J)V", 0), method("main", "([Ljava/lang/String;)V", static)),
		{ID: cha.ClassID{Loader: 1, Name: "shop/Made"}, Super: "java/lang/Object"},
	}, more...) {
		h.Add(m)
	}
	return New(h, map[uint32]string{0: "bootstrap", 1: "app"}, false)
}

// TestResolve says what roots stand for, and why some are none.
func TestResolve(t *testing.T) {
	for _, c := range []struct{ root, want string }{
		{"shop.Order.main", "shop.Order.main([Ljava/lang/String;)V"},
		{"shop.Order.add", "shop.Order.add(I)V shop.Order.add(J)V"},
		{"shop.Order.add(J)V", "shop.Order.add(J)V"},
		{"shop.Price.of", "shop.Gross.of(I)J shop.Net.of(I)J"},
		{"shop.**.of", "shop.Gross.of(I)J shop.Net.of(I)J"},
		{"shop.Nowhere.x", ""},
		{"shop.Order.add(Z)V", "! shop.Order has no add(Z)V; it has add(I)V, add(J)V"},
		{"shop.Order.ad", "! shop.Order has no method ad; did you mean add?"},
		{"shop.Net.tax", "! shop.Net.tax()V is native: it has no bytecode; choose a method that calls it"},
		{"java.lang.Object.hashCode", "! java.lang.Object belongs to the JDK (bootstrap loader), which is left out"},
		{"shop.Made.x", "! the bytes of shop.Made can't be had"},
	} {
		r, err := Parse(c.root)
		if err != nil {
			t.Fatal(err)
		}
		ids, err := shop(t).Resolve(&r, false)
		var got []string
		for _, id := range ids {
			got = append(got, id.String())
		}
		text := strings.Join(got, " ")
		if err != nil {
			if !errors.Is(err, ErrNoRoot) {
				t.Errorf("%s: %v is no ErrNoRoot", c.root, err)
			}
			text = "!" + strings.TrimPrefix(err.Error(), ErrNoRoot.Error()+": "+c.root+":")
		}
		if text != c.want {
			t.Errorf("%s: %q, want %q", c.root, text, c.want)
		}
	}
}

// TestHints: a name that nothing has leads to one that something has.
func TestHints(t *testing.T) {
	for _, c := range []struct{ root, want string }{
		{"shop.Ordr.add", "did you mean shop.Order or "},
		{"org.Order.add", "did you mean shop.Order?"},
		{"SHOP.**.add", "it matches shop.Order.add except for upper and lower case"},
		{"shop.Ord*.ads", "did you mean add?"},
		{"**.Object.hashCode", "the JDK's java.lang.Object.hashCode does"},
		{"shop.*.add(Z)V", "without its descriptor it matches shop.Order.add(I)V, shop.Order.add(J)V"},
	} {
		r, err := Parse(c.root)
		if err != nil {
			t.Fatal(err)
		}
		if r.Pattern != nil {
			err = shop(t).Unmatched(&r)
		} else {
			err = shop(t).UnknownClass(&r)
		}
		if !errors.Is(err, ErrNoRoot) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.root, err, c.want)
		}
	}
}

// TestMost: a pattern does not make thousands of methods roots.
func TestMost(t *testing.T) {
	many := &cha.ClassMirror{ID: cha.ClassID{Loader: 1, Name: "shop/Many"}, Super: "java/lang/Object"}
	for i := range Most + 1 {
		many.Methods = append(many.Methods, cha.Method{Name: fmt.Sprintf("m%d", i), Desc: "()V", HasCode: true})
	}
	r, err := Parse("shop.Many.*")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := shop(t, many).Resolve(&r, false); !errors.Is(err, ErrNoRoot) || !strings.Contains(err.Error(), "matches 1001 methods, and at most 1000") {
		t.Error(err)
	}
}

// TestUnparsed has texts that are no roots.
func TestUnparsed(t *testing.T) {
	for _, text := range []string{"", "main", ".main", "shop.Order.", "shop.Order.add(I)"} {
		if r, err := Parse(text); err == nil {
			t.Errorf("%q: %+v", text, r)
		}
	}
}

// TestDiagnose tells a root that a thread is in from one that nobody calls.
func TestDiagnose(t *testing.T) {
	c := shop(t)
	var all []Root
	for _, text := range []string{"shop.Order.main", "shop.Net.of", "shop.Late.x"} {
		r, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if r.IDs, err = c.Resolve(&r, false); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	dump := "\"main\" #1 prio=5\n\tat shop.Order.add(Order.java:3)\n\tat shop.Order.main(Order.java:1)\n\n\"other\" #2\n\tat java.base@17/java.lang.Object.wait(Native Method)\n"
	text := c.Diagnose(all, dump)
	for _, want := range []string{
		`root shop.Order.main is running in thread "main" since before the recording began`, "Choose what it calls: shop.Order.add.",
		"root shop.Net.of has not been called", "the class of root shop.Late.x is not loaded yet",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
