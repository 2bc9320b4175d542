package classfile

import "fmt"

// Versions that Parse accepts, in major_version (table 4.1-A).
const (
	OldestMajor = 45
	NewestMajor = 71 // JDK 27
)

const magic = 0xcafebabe

// Versions in which the rules change.
const (
	MajorStackMaps = 50 // StackMapTable may be there; without it the JVM falls back to the old verifier
	MajorTypeCheck = 51 // StackMapTable must be right (§4.10)
)

// A Class is a parsed class file. Its byte slices share memory with the bytes
// given to Parse, which must not change while the Class is in use.
type Class struct {
	Minor, Major uint16
	Pool         Pool
	Access       Access
	Fields       []Member
	Methods      []Member
	Attributes   []Attribute

	this, super uint16
	interfaces  []uint16
	name        string
	superName   string
	size        int // of the file that was parsed
}

// A Member is a field or a method (§4.5, §4.6).
type Member struct {
	Access     Access
	Name, Desc string
	Attributes []Attribute

	name, desc uint16
}

// An Attribute is carried as its bytes (§4.7). Replace Info to change it.
type Attribute struct {
	Name string
	Info []byte

	name uint16
	at   int // offset of Info in the file
}

// Parse reads a class file. It checks everything that it needs to be able to
// answer later, which is less than what a JVM checks; Code attributes are
// checked by [Class.Code].
func Parse(b []byte) (*Class, error) {
	r := &reader{b: b, section: "4.1"}
	if r.u4() != magic {
		r.failAt(0, errMagic)
	}
	c := &Class{size: len(b)}
	c.Minor, c.Major = r.u2(), r.u2()
	if r.err == nil && (c.Major < OldestMajor || c.Major > NewestMajor) {
		r.failAt(6, fmt.Errorf("%w: version %d, known are %d to %d", ErrUnsupported, c.Major, OldestMajor, NewestMajor))
	}
	if r.err != nil {
		return nil, r.err
	}
	c.Pool = readPool(r)
	c.readHeader(r)
	var attrs arena
	c.Fields = readMembers(r, &c.Pool, &attrs, "4.5")
	c.Methods = readMembers(r, &c.Pool, &attrs, "4.6")
	c.Attributes = readAttributes(r, &c.Pool, &attrs)
	if err := r.done(); err != nil {
		return nil, err
	}
	return c, nil
}

// readHeader reads from access_flags to the interfaces.
func (c *Class) readHeader(r *reader) {
	r.section = "4.1"
	c.Access = Access(r.u2())
	at := r.at
	c.this, c.super = r.u2(), r.u2()
	if r.err != nil {
		return
	}
	var err error
	if c.name, err = c.Pool.ClassName(c.this); err != nil {
		r.failAt(at, err)
		return
	}
	r.class, c.Pool.class = c.name, c.name
	if c.super != 0 {
		if c.superName, err = c.Pool.ClassName(c.super); err != nil {
			r.failAt(at+2, err)
			return
		}
	}
	n := r.count(2)
	if n == 0 {
		return
	}
	c.interfaces = make([]uint16, n)
	for i := range c.interfaces {
		c.interfaces[i] = r.u2()
		if _, err := c.Pool.ClassName(c.interfaces[i]); err != nil {
			r.failAt(r.at-2, err)
			return
		}
	}
}

// readMembers reads the fields or the methods.
func readMembers(r *reader, p *Pool, attrs *arena, section string) []Member {
	r.section = section
	n := r.count(8)
	if n == 0 {
		return nil
	}
	ms := make([]Member, n)
	for i := range ms {
		m := &ms[i]
		r.section = section
		m.Access = Access(r.u2())
		at := r.at
		m.name, m.desc = r.u2(), r.u2()
		if r.err != nil {
			return nil
		}
		if p.Tag(m.name) != TagUtf8 || p.Tag(m.desc) != TagUtf8 {
			r.failAt(at, errIndex)
			return nil
		}
		m.Name, m.Desc = p.utf8(m.name), p.utf8(m.desc)
		m.Attributes = readAttributes(r, p, attrs)
	}
	return ms
}

// An arena hands out attribute slices from larger blocks.
type arena struct{ free []Attribute }

func (a *arena) take(n int) []Attribute {
	if n > len(a.free) {
		a.free = make([]Attribute, max(n, 32))
	}
	v := a.free[:n:n]
	a.free = a.free[n:]
	return v
}

func readAttributes(r *reader, p *Pool, attrs *arena) []Attribute {
	n := r.count(6)
	if n == 0 {
		return nil
	}
	as := attrs.take(n)
	for i := range as {
		a := &as[i]
		a.name = r.u2()
		if r.err == nil && p.Tag(a.name) != TagUtf8 {
			r.section = "4.7"
			r.failAt(r.at-2, errIndex)
		}
		size := r.u4()
		if r.err == nil && int64(size) > int64(r.left()) {
			r.section = "4.7"
			r.failAt(r.at-4, errCount)
		}
		if r.err != nil {
			return nil
		}
		a.Name, a.at = p.utf8(a.name), r.base+r.at
		a.Info = r.take(int(size))
	}
	return as
}

// Name returns the internal name of the class, "java/util/List".
func (c *Class) Name() string { return c.name }

// Super returns the internal name of the superclass, "" for java/lang/Object
// and modules.
func (c *Class) Super() string { return c.superName }

// ThisIndex returns the index of the Class constant of the class itself.
func (c *Class) ThisIndex() uint16 { return c.this }

// Interfaces returns the internal names of the direct superinterfaces.
func (c *Class) Interfaces() []string {
	names := make([]string, len(c.interfaces))
	for i, x := range c.interfaces {
		names[i], _ = c.Pool.ClassName(x) // checked by Parse
	}
	return names
}

// Method returns the method with this name and descriptor, nil if there is
// none.
func (c *Class) Method(name, desc string) *Member {
	for i := range c.Methods {
		if m := &c.Methods[i]; m.Name == name && m.Desc == desc {
			return m
		}
	}
	return nil
}

// Attribute returns the first attribute with this name, nil if there is none.
func (m *Member) Attribute(name string) *Attribute { return find(m.Attributes, name) }

// Attribute returns the first class attribute with this name, nil if there is
// none.
func (c *Class) Attribute(name string) *Attribute { return find(c.Attributes, name) }

func find(as []Attribute, name string) *Attribute {
	for i := range as {
		if as[i].Name == name {
			return &as[i]
		}
	}
	return nil
}
