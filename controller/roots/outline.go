package roots

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
)

// An Outline is what can be read from outside of a JVM's loaded classes: no agent is
// loaded, and nothing is asked of the JVM. It is safe for concurrent use.
type Outline struct{ c *Catalog }

// ReadOutline reads the memory of a JVM. Its errors are those of [vmstructs.Classes];
// then a session, with its agent, can tell the same.
func ReadOutline(pid int) (*Outline, error) {
	classes, err := vmstructs.Classes(pid)
	if err != nil {
		return nil, err
	}
	c := New(cha.New(), map[uint32]string{}, false)
	c.h.SetPolicy(Excluded)
	named := map[string]int{}
	for i := range classes {
		c.outline(&classes[i], named)
	}
	return &Outline{c}, nil
}

// Names of the JDK's own class loaders.
const (
	appLoader      = "jdk/internal/loader/ClassLoaders$AppClassLoader"
	platformLoader = "jdk/internal/loader/ClassLoaders$PlatformClassLoader"
)

// outline adds a class to the hierarchy. named counts loaders of one class.
func (c *Catalog) outline(k *vmstructs.Class, named map[string]int) {
	id := uint32(k.Loader.Number)
	if _, ok := c.loaders[id]; !ok {
		ld := cha.Loader{ID: id, Kind: cha.LoaderOther}
		switch k.Loader.Class {
		case "":
			ld.Kind = cha.LoaderBoot
		case appLoader:
			ld.Kind, ld.Name = cha.LoaderApp, "app"
		case platformLoader:
			ld.Kind, ld.Name = cha.LoaderPlatform, "platform"
		default:
			ld.Name = strings.ReplaceAll(k.Loader.Class, "/", ".")
			named[ld.Name]++
			if k.Loader.Hash != 0 { // as the agent would say it
				ld.Name += fmt.Sprintf("@%x", k.Loader.Hash)
			} else if n := named[ld.Name]; n > 1 {
				ld.Name += fmt.Sprintf("#%d", n)
			}
		}
		c.loaders[id] = ld.Name
		c.h.AddLoader(ld)
	}
	hidden := strings.Contains(k.Name, "+0x")
	m := &cha.ClassMirror{ID: cha.ClassID{Loader: id, Name: k.Name}, Exact: []cha.ClassID{}, Hidden: hidden, Fixed: hidden, Methods: Outlined(k.Methods)}
	slices.SortFunc(m.Methods, func(a, b cha.Method) int { return strings.Compare(a.Name+a.Desc, b.Name+b.Desc) })
	c.h.Add(m)
}

// Classes is [Catalog.Classes], with its error.
func (o *Outline) Classes(_ context.Context, pattern string) ([]ClassInfo, error) {
	return o.c.Classes(pattern)
}

// Methods is [Catalog.Methods], with its error; a class's methods are in the order of their names.
func (o *Outline) Methods(_ context.Context, class string) ([]MethodInfo, error) {
	return o.c.Methods(class)
}

// Outlined are methods without what they call.
func Outlined(methods []vmstructs.Method) []cha.Method {
	out := make([]cha.Method, 0, len(methods))
	for _, f := range methods {
		m := cha.Method{Name: f.Name, Desc: f.Desc, Access: f.Access}
		m.HasCode = !m.IsNative() && !m.IsAbstract()
		out = append(out, m)
	}
	return out
}
