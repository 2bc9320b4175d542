package verify

import "github.com/rivulet-profiler/rivulet/hotswap/classfile"

// Classes is a [Hierarchy] made from class files, all of one loader.
type Classes map[string]*Known

// Known is what Classes keeps of a class.
type Known struct {
	super      string
	interfaces []string
	access     classfile.Access
	protected  map[string]bool // by name and descriptor; false for members that are not protected
}

// Add adds a class.
func (cs Classes) Add(c *classfile.Class) {
	k := &Known{super: c.Super(), interfaces: c.Interfaces(), access: c.Access, protected: map[string]bool{}}
	for _, ms := range [][]classfile.Member{c.Fields, c.Methods} {
		for i := range ms {
			k.protected[ms[i].Name+ms[i].Desc] = ms[i].Access.Has(classfile.AccProtected)
		}
	}
	cs[c.Name()] = k
}

// Class is of [Hierarchy].
func (cs Classes) Class(name string) (super string, isInterface, ok bool) {
	k := cs[name]
	if k == nil {
		return "", false, false
	}
	return k.super, k.access.Has(classfile.AccInterface), true
}

// Protected is of [Protected]. Members of interfaces are public or private.
func (cs Classes) Protected(class, name, desc string) (declarer string, ok bool) {
	for range maxSupers {
		k := cs[class]
		if k == nil {
			return "", false
		}
		if p, found := k.protected[name+desc]; found {
			return class, p
		}
		class = k.super
	}
	return "", false
}
