package cha

import (
	"cmp"
	"strings"
)

// A ClassID names a loaded class. The name alone does not identify it: two
// loaders may define the same name (JVMS §5.3).
type ClassID struct {
	Loader uint32 // agent's number of the defining loader; 0 is the bootstrap loader
	Name   string // internal form, "java/util/List" (JVMS §4.2.1), raw modified UTF-8
}

// Compare orders by name, then loader.
func (c ClassID) Compare(d ClassID) int {
	return cmp.Or(strings.Compare(c.Name, d.Name), cmp.Compare(c.Loader, d.Loader))
}

// Package returns the package's internal name, "" for the unnamed one.
func (c ClassID) Package() string { return packageOf(c.Name) }

func packageOf(name string) string {
	return name[:max(0, strings.LastIndexByte(name, '/'))]
}

// String returns the name with dots, without the loader.
func (c ClassID) String() string { return strings.ReplaceAll(c.Name, "/", ".") }

// A MethodID names a method of a loaded class.
type MethodID struct {
	Class      ClassID
	Name, Desc string
}

// Compare orders by class, name, descriptor.
func (m MethodID) Compare(o MethodID) int {
	return cmp.Or(m.Class.Compare(o.Class), strings.Compare(m.Name, o.Name), strings.Compare(m.Desc, o.Desc))
}

// String returns "pkg.Outer$Inner.name(descriptor)return", without the loader.
func (m MethodID) String() string { return m.Class.String() + "." + m.Name + m.Desc }

// A LoaderKind says how a loader finds classes.
type LoaderKind uint8

// Kinds of loaders. The first three are the JDK's own, which ask their parents
// first and never a loader of another kind.
const (
	LoaderOther LoaderKind = iota
	LoaderBoot
	LoaderPlatform // on JDK 8 the extension loader
	LoaderApp
)

// builtin reports whether the loader is one of the JDK's own.
func (k LoaderKind) builtin() bool { return k != LoaderOther }

// A Loader is a class loader of the target.
type Loader struct {
	ID     uint32
	Name   string // for people
	Kind   LoaderKind
	Parent uint32 // for people: a loader of kind LoaderOther need not ask it
}
