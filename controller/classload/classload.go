// Package classload reads from Flight Recorder's events which classes a JVM has loaded, who
// needed them, and how long that took.
//
// jdk.ClassLoad is written for each lookup of a class that no earlier one has answered, and once
// more for each loader that it was passed on by: [Events] makes one [Load] of those that belong together.
// Loads that a program asks a loader for without the JVM (a loader's defineClass behind loadClass)
// have no event.
//
// Everything here is for one goroutine at a time.
package classload

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/jfr"
)

// Event is the event that tells of loads.
const Event = "jdk.ClassLoad"

// most bounds what [Events] keeps.
const most = 500_000

// A Load is a lookup that a class came from.
type Load struct {
	Class      string // as in sources; of a hidden class with what the JVM puts behind its name
	Loader     string // that has defined it, "boot" or its class
	ThreadName string
	Thread     int64   // Java's number
	Start, End int64   // ns since 1970
	Own        int64   // ns of these that were no other load's
	Defined    bool    // the class was new, else only this loader had not looked it up before
	Stack      []Frame // who needed it, innermost first; those of the JVM's own loading left in
	Whole      bool    // the stack is
	within     int     // the load that it was part of, by its place in the list, from 1; 0 for none
}

// A Frame is a method, as it is named in trees without its loader: "pkg.C.m(I)V".
type Frame = string

// Inside is the place in the list of the load that this one was part of; -1 for none.
func (l *Load) Inside() int { return l.within - 1 }

// loading are the classes of the JDK whose methods find classes for others, or make them.
var loading = []string{
	"java.lang.ClassLoader.", "java.lang.Class.", "java.net.URLClassLoader", "java.security.SecureClassLoader.", "java.security.AccessController.",
	"jdk.internal.loader.", "sun.misc.Launcher$", "java.lang.invoke.", "jdk.internal.reflect.", "sun.reflect.", "java.lang.reflect.Proxy", "jdk.internal.misc.Unsafe.", "sun.misc.Unsafe.",
}

// Cause is the method that needed the class: the innermost frame that does not itself find or make classes; the innermost
// of all if there is no other, and "" without a stack.
func (l *Load) Cause() Frame {
	for _, f := range l.Stack {
		if !slices.ContainsFunc(loading, func(prefix string) bool { return strings.HasPrefix(string(f), prefix) }) {
			return f
		}
	}
	if len(l.Stack) == 0 {
		return ""
	}
	return l.Stack[0]
}

// Events are the loads of a recording between two moments, ns since 1970, in the order in which they began;
// lost is how many found no room. An error comes with what was read before it.
func Events(ctx context.Context, r *jfr.Reader, from, until int64) (loads []Load, lost int64, err error) {
	var stacks jfr.Stacks
	names := map[string]Frame{}
	err = jfr.Each(ctx, r, func(t *jfr.Type) bool { return t.Name == Event }, func(e *jfr.Event) error {
		l := Load{Start: e.Start()}
		l.End = l.Start + e.Duration()
		if l.End < from || l.Start > until {
			return nil
		}
		if len(loads) >= most {
			lost++
			return nil
		}
		class := e.Field("loadedClass")
		l.Class = className(class.Field("name").Text())
		defining, initiating := e.Field("definingClassLoader"), e.Field("initiatingClassLoader")
		l.Loader = loaderName(defining.Field("type").Field("name").Text())
		l.Defined = defining.Key() == initiating.Key()
		thread := e.Field("eventThread")
		l.ThreadName, _ = jfr.Thread(thread)
		l.Thread = thread.Field("javaThreadId").Int()
		frames, whole := stacks.Frames(e, "stackTrace")
		l.Whole = whole && len(frames) > 0
		for _, f := range frames {
			key := f.Method.Class + "." + f.Method.Name + f.Method.Desc
			if names[key] == "" {
				names[key] = Frame(strings.ReplaceAll(f.Method.Class, "/", ".") + "." + f.Method.Name + f.Method.Desc)
			}
			l.Stack = append(l.Stack, names[key])
		}
		loads = append(loads, l)
		return nil
	})
	return Nested(loads), lost, err
}

// Nested puts the loads of all threads in order, makes one of those that a class went through from loader to loader, and
// finds which were part of which.
func Nested(loads []Load) []Load {
	slices.SortStableFunc(loads, func(a, b Load) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	var out []Load
	open := map[int64][]int{} // by thread: the loads under way, by their places in out
	for _, l := range loads {
		path := open[l.Thread]
		for len(path) > 0 && out[path[len(path)-1]].End < l.End {
			path = path[:len(path)-1]
		}
		if n := len(path); n > 0 && out[path[n-1]].Class == l.Class { // passed on to another loader
			out[path[n-1]].Defined = out[path[n-1]].Defined || l.Defined
			open[l.Thread] = path
			continue
		}
		l.Own = l.End - l.Start
		if n := len(path); n > 0 {
			l.within = path[n-1] + 1
			out[path[n-1]].Own -= l.Own
		}
		open[l.Thread] = append(path, len(out))
		out = append(out, l)
	}
	return out
}

// hidden matches the name of a hidden class in events: behind its class file's name an address, or until JDK 14 a hash code,
// and later both.
var hidden = regexp.MustCompile(`^(.+?)[+/.](0x[0-9a-f]+|[0-9]+)([./][0-9]+)?$`)

// className is a class's name as Class.getName has it, of one in internal form.
func className(text string) string {
	number := ""
	if m := hidden.FindStringSubmatch(text); m != nil {
		text, number = m[1], "/"+m[2]
	}
	return strings.ReplaceAll(text, "/", ".") + number
}

// loaderName is a loader by its class, in internal form: the JDK's own by their short names.
func loaderName(class string) string {
	class = strings.ReplaceAll(class, "/", ".")
	switch class {
	case "":
		return "boot"
	case "jdk.internal.loader.ClassLoaders$PlatformClassLoader", "sun.misc.Launcher$ExtClassLoader":
		return "platform"
	case "jdk.internal.loader.ClassLoaders$AppClassLoader", "sun.misc.Launcher$AppClassLoader":
		return "app"
	}
	return class
}
