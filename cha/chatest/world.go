// Package chatest makes random class hierarchies and reads the JVMS on them by
// brute force, for the tests of cha and scheme. It shares no code with what it
// tests: a [World] is complete, its types point at each other, and every
// question is answered by the words of the specification.
package chatest

import (
	"fmt"
	"math/rand/v2"

	"github.com/rivulet-profiler/rivulet/cha"
)

// Access flags.
const (
	Public    = 0x0001
	Private   = 0x0002
	Protected = 0x0004
	static    = 0x0008
	native    = 0x0100
	iface     = 0x0200
	abstract  = 0x0400
)

// A Class is a class of a World.
type Class struct {
	ID         cha.ClassID
	Super      *Class
	Interfaces []*Class
	Access     uint16
	Methods    []*Method
	Lambdas    []*Lambda
}

// A Lambda is an object that a class can make.
type Lambda struct {
	Host, Interface *Class
	Name, Desc      string
	Impl            *Method // static, of Host
}

// A Method is a method of a World.
type Method struct {
	Class      *Class
	Name, Desc string
	Access     uint16
	Calls      []cha.Call
	Inits      []string
}

// Interface reports whether the class is an interface.
func (c *Class) Interface() bool { return c.Access&iface != 0 }

// Abstract reports whether the class has no objects.
func (c *Class) Abstract() bool { return c.Access&abstract != 0 }

// JDK reports whether the class is of the boot loader.
func (c *Class) JDK() bool { return c.ID.Loader == 0 }

// Static reports whether the method is static.
func (m *Method) Static() bool { return m.Access&static != 0 }

// Private reports whether the method is private.
func (m *Method) Private() bool { return m.Access&Private != 0 }

// Abstract reports whether the method is abstract.
func (m *Method) Abstract() bool { return m.Access&abstract != 0 }

// ID returns the name of the method.
func (m *Method) ID() cha.MethodID {
	return cha.MethodID{Class: m.Class.ID, Name: m.Name, Desc: m.Desc}
}

// Mirror returns a new mirror of the class, with names of supertypes only.
func (c *Class) Mirror() *cha.ClassMirror {
	m := &cha.ClassMirror{ID: c.ID, Access: c.Access, Methods: make([]cha.Method, len(c.Methods))}
	if c.Super != nil {
		m.Super = c.Super.ID.Name
	}
	for _, i := range c.Interfaces {
		m.Interfaces = append(m.Interfaces, i.ID.Name)
	}
	for i, d := range c.Methods {
		m.Methods[i] = cha.Method{
			Name: d.Name, Desc: d.Desc, Access: d.Access,
			HasCode: d.Access&(abstract|native) == 0, Calls: d.Calls, Inits: d.Inits,
		}
	}
	for _, l := range c.Lambdas {
		m.Lambdas = append(m.Lambdas, cha.Lambda{
			Interfaces: []string{l.Interface.ID.Name}, Name: l.Name, Descs: []string{l.Desc},
			Impl: cha.Call{Kind: cha.Handle, Ref: cha.Static, Owner: c.ID.Name, Name: l.Impl.Name, Desc: l.Impl.Desc},
		})
	}
	return m
}

// Exact returns a mirror as a loaded-class list has it: with the identity of
// the supertypes, without methods.
func (c *Class) Exact() *cha.ClassMirror {
	m := c.Mirror()
	m.Methods, m.Lambdas = nil, nil
	m.Exact = []cha.ClassID{}
	if c.Super != nil {
		m.Exact = append(m.Exact, c.Super.ID)
	}
	for _, i := range c.Interfaces {
		m.Exact = append(m.Exact, i.ID)
	}
	return m
}

// A World is a complete hierarchy. Loader 1 is the application's; the others
// prefer their own classes to those of loader 1.
type World struct {
	Classes []*Class // supertypes first
	ByID    map[cha.ClassID]*Class
	Loaders []cha.Loader
}

// Find returns the class that a name means to a class of a loader, nil if there
// is none.
func (w *World) Find(loader uint32, name string) *Class {
	for _, l := range []uint32{loader, 1, 0} {
		if c := w.ByID[cha.ClassID{Loader: l, Name: name}]; c != nil && l <= loader {
			return c
		}
	}
	return nil
}

var (
	names = []string{"m0", "m1", "m2"}
	descs = []string{"()V", "(I)V"}
)

// Random makes a world of about n classes, some with lambdas if wanted.
func Random(r *rand.Rand, n int, lambdas bool) *World { return random(r, n, n/5, lambdas) }

// Runnable makes a world that a JVM can load: of the JDK, it has Object alone,
// without a method but its constructor. It makes more virtual calls than others.
func Runnable(r *rand.Rand, n int) *World {
	w := random(r, n, 0, false)
	w.Classes[0].Methods = w.Classes[0].Methods[:1]
	for range 5 * n {
		c, o := w.Classes[1+r.IntN(len(w.Classes)-1)], w.Classes[1+r.IntN(len(w.Classes)-1)]
		if len(c.Methods) == 0 || w.Find(c.ID.Loader, o.ID.Name) != o {
			continue
		}
		call := cha.Call{Kind: cha.Virtual, Owner: o.ID.Name, Name: names[r.IntN(len(names))], Desc: descs[r.IntN(len(descs))]}
		if o.Interface() {
			call.Kind = cha.Interface
		}
		c.Methods[0].Calls = append(c.Methods[0].Calls, call)
	}
	return w
}

// random makes a world with so many classes of the boot loader.
func random(r *rand.Rand, n, boot int, lambdas bool) *World {
	w := &World{ByID: map[cha.ClassID]*Class{}, Loaders: []cha.Loader{
		{ID: 1, Kind: cha.LoaderApp}, {ID: 2, Parent: 1}, {ID: 3, Parent: 1},
	}}
	object := w.class(nil, 0, "java/lang/Object", Public)
	object.Methods = []*Method{
		{Class: object, Name: "<init>", Desc: "()V", Access: Public},
		{Class: object, Name: "m0", Desc: "()V", Access: Public},
	}
	for i := range n {
		loader := uint32(1)
		name := fmt.Sprintf("p%d/C%d", r.IntN(2), i)
		switch k := r.IntN(10); {
		case i < boot:
			loader, name = 0, fmt.Sprintf("java/p%d/J%d", r.IntN(2), i)
		case k < 3:
			loader = 2
		case k < 4:
			loader = 3
		}
		if own := w.Classes[min(boot+1, len(w.Classes)):]; loader > 1 && len(own) > 0 && r.IntN(3) == 0 { // the same name in two loaders
			name = own[r.IntN(len(own))].ID.Name
		}
		if w.ByID[cha.ClassID{Loader: loader, Name: name}] != nil || loader > 1 && w.clash(loader, name) {
			continue
		}
		access := uint16(Public)
		switch r.IntN(5) {
		case 0, 1:
			access |= iface | abstract
		case 2:
			access |= abstract
		}
		w.fill(r, w.class(r, loader, name, access))
	}
	for _, c := range w.Classes[1:] {
		for _, m := range c.Methods {
			w.body(r, m)
		}
	}
	if lambdas {
		for _, c := range w.Classes {
			w.lambdas(r, c)
		}
	}
	return w
}

// clash reports whether defining a name in a loader would change the meaning of
// a supertype that a class of this loader names already.
func (w *World) clash(loader uint32, name string) bool {
	for _, c := range w.Classes {
		if c.ID.Loader != loader {
			continue
		}
		for _, s := range c.supers() {
			if s.ID.Name == name {
				return true
			}
		}
	}
	return false
}

func (c *Class) supers() []*Class {
	if c.Super == nil {
		return c.Interfaces
	}
	return append([]*Class{c.Super}, c.Interfaces...)
}

// class makes a class with supertypes that its loader can see.
func (w *World) class(r *rand.Rand, loader uint32, name string, access uint16) *Class {
	c := &Class{ID: cha.ClassID{Loader: loader, Name: name}, Access: access}
	if r != nil {
		c.Super = w.Classes[0]
		for range r.IntN(8) {
			s := w.Classes[r.IntN(len(w.Classes))]
			switch {
			case s.ID.Name == name || w.Find(loader, s.ID.Name) != s:
			case s.Interface():
				if !c.has(s) && len(c.Interfaces) < 3 {
					c.Interfaces = append(c.Interfaces, s)
				}
			case !c.Interface():
				c.Super = s
			}
		}
	}
	w.Classes = append(w.Classes, c)
	w.ByID[c.ID] = c
	return c
}

func (c *Class) has(s *Class) bool {
	for _, i := range c.Interfaces {
		if i == s {
			return true
		}
	}
	return false
}

// fill gives a class its methods.
func (w *World) fill(r *rand.Rand, c *Class) {
	for _, name := range names {
		for _, desc := range descs {
			if r.IntN(3) == 0 {
				c.Methods = append(c.Methods, &Method{Class: c, Name: name, Desc: desc, Access: access(r, c)})
			}
		}
	}
	if !c.Interface() {
		c.Methods = append(c.Methods, &Method{Class: c, Name: "<init>", Desc: "()V", Access: Public})
	}
	if r.IntN(3) == 0 {
		c.Methods = append(c.Methods, &Method{Class: c, Name: "<clinit>", Desc: "()V", Access: static})
	}
}

// lambdas gives an application class its lambdas.
func (w *World) lambdas(r *rand.Rand, c *Class) {
	for _, m := range c.Methods {
		i := w.Classes[r.IntN(len(w.Classes))]
		if c.JDK() || !m.Static() || m.Name == "<clinit>" || !i.Interface() || w.Find(c.ID.Loader, i.ID.Name) != i {
			continue
		}
		c.Lambdas = append(c.Lambdas, &Lambda{c, i, names[r.IntN(len(names))], descs[r.IntN(len(descs))], m})
	}
}

func access(r *rand.Rand, c *Class) uint16 {
	if c.Interface() {
		return []uint16{Public, Public | abstract, Public | abstract, Public, Private, Public | static}[r.IntN(6)]
	}
	a := []uint16{Public, Public, Protected, 0, 0, Private, Public | static, Public | native}[r.IntN(8)]
	if c.Abstract() && a&(Private|static|native) == 0 && r.IntN(2) == 0 {
		a |= abstract
	}
	return a
}

// body gives an application method its calls.
func (w *World) body(r *rand.Rand, m *Method) {
	c := m.Class
	if c.JDK() || m.Access&(abstract|native) != 0 {
		return
	}
	if m.Name == "<init>" && c.Super != nil {
		m.Calls = append(m.Calls, cha.Call{Kind: cha.Special, Owner: c.Super.ID.Name, Name: "<init>", Desc: "()V"})
	}
	for range r.IntN(4) {
		o := w.Classes[r.IntN(len(w.Classes))]
		if w.Find(c.ID.Loader, o.ID.Name) != o {
			continue
		}
		call := cha.Call{Kind: cha.Virtual, Owner: o.ID.Name, Name: names[r.IntN(len(names))], Desc: descs[r.IntN(len(descs))]}
		switch k := r.IntN(6); {
		case k == 0:
			call.Kind = cha.Static
			m.Inits = append(m.Inits, o.ID.Name)
		case k == 1 && !o.Interface() && !o.Abstract():
			call = cha.Call{Kind: cha.Special, Owner: o.ID.Name, Name: "<init>", Desc: "()V"}
			m.Inits = append(m.Inits, o.ID.Name)
		case k == 2 && !m.Static() && !c.Interface() && c.Super != nil:
			call.Kind = cha.Special
			call.Owner = c.Super.ID.Name
			for s := c.Super; s != nil && r.IntN(2) == 0; s = s.Super {
				if w.Find(c.ID.Loader, s.ID.Name) == s {
					call.Owner = s.ID.Name
				}
			}
		case o.Interface():
			call.Kind = cha.Interface
		}
		if r.IntN(8) == 0 {
			call.Kind, call.Ref = cha.Handle, call.Kind
		}
		m.Calls = append(m.Calls, call)
	}
}
