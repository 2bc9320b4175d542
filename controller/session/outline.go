package session

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
type Outline struct{ l *loop }

// ReadOutline reads the memory of a JVM. Its errors are those of [vmstructs.Classes];
// then a [Session] can tell the same.
func ReadOutline(pid int) (*Outline, error) {
	classes, err := vmstructs.Classes(pid)
	if err != nil {
		return nil, err
	}
	l := &loop{h: cha.New(), loaders: map[uint32]string{}}
	l.h.SetPolicy(l.excluded)
	named := map[string]int{}
	for i := range classes {
		l.outline(&classes[i], named)
	}
	return &Outline{l}, nil
}

// Names of the JDK's own class loaders.
const (
	appLoader      = "jdk/internal/loader/ClassLoaders$AppClassLoader"
	platformLoader = "jdk/internal/loader/ClassLoaders$PlatformClassLoader"
)

// outline adds a class to the hierarchy. named counts loaders of one class.
func (l *loop) outline(c *vmstructs.Class, named map[string]int) {
	id := uint32(c.Loader.Number)
	if _, ok := l.loaders[id]; !ok {
		ld := cha.Loader{ID: id, Kind: cha.LoaderOther}
		switch c.Loader.Class {
		case "":
			ld.Kind = cha.LoaderBoot
		case appLoader:
			ld.Kind, ld.Name = cha.LoaderApp, "app"
		case platformLoader:
			ld.Kind, ld.Name = cha.LoaderPlatform, "platform"
		default:
			ld.Name = strings.ReplaceAll(c.Loader.Class, "/", ".")
			named[ld.Name]++
			if c.Loader.Hash != 0 { // as the agent would say it
				ld.Name += fmt.Sprintf("@%x", c.Loader.Hash)
			} else if n := named[ld.Name]; n > 1 {
				ld.Name += fmt.Sprintf("#%d", n)
			}
		}
		l.loaders[id] = ld.Name
		l.h.AddLoader(ld)
	}
	hidden := strings.Contains(c.Name, "+0x")
	m := &cha.ClassMirror{ID: cha.ClassID{Loader: id, Name: c.Name}, Exact: []cha.ClassID{}, Hidden: hidden, Fixed: hidden, Methods: outlined(c.Methods)}
	slices.SortFunc(m.Methods, func(a, b cha.Method) int { return strings.Compare(a.Name+a.Desc, b.Name+b.Desc) })
	l.h.Add(m)
}

// Classes is [Session.Classes].
func (o *Outline) Classes(_ context.Context, pattern string) ([]ClassInfo, error) {
	match, err := matcher(pattern)
	if err != nil {
		return nil, err
	}
	return o.l.classInfos(match), nil
}

// Methods is [Session.Methods]; a class's methods are in the order of their names.
func (o *Outline) Methods(_ context.Context, class string) ([]MethodInfo, error) {
	return o.l.methodsOf(class)
}
