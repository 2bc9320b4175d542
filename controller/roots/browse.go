package roots

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/cha"
)

// A ClassInfo is a loaded class that could hold a root.
type ClassInfo struct {
	Name    string `json:"name"`
	Loader  string `json:"loader"`
	Methods int    `json:"methods"`
}

// A MethodInfo is a method of a loaded class. Reason says why it can't be a
// root where it can't.
type MethodInfo struct {
	Name      string `json:"name"` // pkg.Class.method(desc)ret
	Loader    string `json:"loader"`
	Flags     string `json:"flags"` // "public static"
	Probeable bool   `json:"probeable"`
	Abstract  bool   `json:"-"` // as a root it stands for its implementations
	Reason    string `json:"reason,omitempty"`
}

// Classes lists the application's loaded classes by name. pattern matches the whole name
// with * and ?, or, without these, any part of it, in either case; "" matches all. The
// error is that of a pattern that is none.
func (c *Catalog) Classes(pattern string) (out []ClassInfo, err error) {
	match, err := matcher(pattern)
	if err != nil {
		return nil, err
	}
	c.h.Classes(func(m *cha.ClassMirror) bool {
		if name := m.ID.String(); !m.Excluded && !m.Hidden && match(name) {
			out = append(out, ClassInfo{Name: name, Loader: c.loaders[m.ID.Loader], Methods: len(m.Methods)})
		}
		return true
	})
	slices.SortFunc(out, func(a, b ClassInfo) int {
		return strings.Compare(a.Name+"\x00"+a.Loader, b.Name+"\x00"+b.Loader)
	})
	return out, nil
}

// matcher is what tells whether a name is meant by a pattern.
func matcher(pattern string) (func(string) bool, error) {
	low := strings.ToLower(pattern)
	if !strings.ContainsAny(pattern, "*?[") {
		return func(s string) bool { return strings.Contains(strings.ToLower(s), low) }, nil
	}
	if _, err := path.Match(low, ""); err != nil {
		return nil, fmt.Errorf("pattern %q: %w", pattern, err)
	}
	return func(s string) bool {
		ok, _ := path.Match(low, strings.ToLower(s))
		return ok
	}, nil
}

// Methods lists the methods of a loaded class, of every loader that has it. The error wraps
// [ErrNoRoot] where no such class is loaded.
func (c *Catalog) Methods(class string) (out []MethodInfo, err error) {
	r := Root{Text: class, Class: strings.ReplaceAll(class, ".", "/")}
	mirrors := c.h.Named(r.Class)
	if len(mirrors) == 0 {
		return nil, c.UnknownClass(&r)
	}
	for _, m := range mirrors {
		out = append(out, c.Of(m)...)
	}
	return out, nil
}

// Of are the methods of one class.
func (c *Catalog) Of(m *cha.ClassMirror) []MethodInfo {
	out := make([]MethodInfo, 0, len(m.Methods))
	for i := range m.Methods {
		f := &m.Methods[i]
		info := MethodInfo{
			Name: cha.MethodID{Class: m.ID, Name: f.Name, Desc: f.Desc}.String(), Loader: c.loaders[m.ID.Loader],
			Flags: flagText(f),
		}
		switch {
		case m.Excluded:
			info.Reason = "belongs to the JDK"
		case m.Fixed || m.Hidden:
			info.Reason = "the JVM does not let agents modify its class"
		case f.IsNative():
			info.Reason = "native"
		case f.IsAbstract():
			info.Reason, info.Abstract = "abstract: as a root it stands for its implementations", true
		}
		info.Probeable = info.Reason == ""
		out = append(out, info)
	}
	return out
}

var flagNames = []struct {
	bit  uint16
	name string
}{
	{0x1, "public"},
	{0x4, "protected"},
	{0x2, "private"},
	{0x8, "static"},
	{0x400, "abstract"},
	{0x10, "final"},
	{0x20, "synchronized"},
	{0x100, "native"},
	{0x40, "bridge"},
	{0x80, "varargs"},
	{0x1000, "synthetic"},
}

// flagText prints the flags of JVMS §4.6.
func flagText(m *cha.Method) string {
	var out []string
	for _, f := range flagNames {
		if m.Access&f.bit != 0 {
			out = append(out, f.name)
		}
	}
	return strings.Join(out, " ")
}
