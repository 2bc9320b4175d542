package application

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// ErrPackage is wrapped by errors about what is no package. Give a package as com.acme.
var ErrPackage = errors.New("no package")

// A Kind says whose a method is.
type Kind int

// The kinds of methods.
const (
	Caller    Kind = iota // its caller's: of the JDK, native, or unknown
	Framework             // a framework's
	Other                 // of no framework that is known: the application's, or a library's
	Own                   // the application's own
)

// Rules say which methods are the application's. They do not change.
type Rules struct {
	given      []string // packages that a person named
	own        string   // the package of the main class; "" if that says nothing
	frameworks []prefix
}

// A prefix is a beginning of names of classes, and what it says of them.
type prefix struct {
	name string
	kind Kind
}

// New makes rules of the packages that a person has named, such as com.acme, and of the
// target's main class or jar. With packages, all else is the frameworks'; nil leaves it to
// the list. The error wraps [ErrPackage].
func New(packages []string, main string) (*Rules, error) {
	r := &Rules{}
	for _, p := range packages {
		name, err := parse(p)
		if err != nil {
			return nil, err
		}
		r.given = append(r.given, name)
	}
	if _, class, ok := strings.Cut(main, "/"); ok && !strings.HasSuffix(main, ".jar") { // module/class
		main = class
	}
	for _, f := range List {
		itself := false
		for _, p := range f.Itself {
			itself = itself || within(main, p)
		}
		if itself {
			continue
		}
		for _, p := range f.Packages {
			r.frameworks = append(r.frameworks, prefix{p, Framework})
		}
		for _, p := range f.Except {
			r.frameworks = append(r.frameworks, prefix{p, Other})
		}
	}
	for _, p := range jdk {
		r.frameworks = append(r.frameworks, prefix{p, Caller})
	}
	if parts := strings.Split(main, "."); len(parts) > 1 && !strings.HasSuffix(main, ".jar") && r.listed(main) == Other {
		r.own = strings.Join(parts[:min(2, len(parts)-1)], ".")
	}
	return r, nil
}

// parse reads a package, also in the form of a pattern.
func parse(text string) (string, error) {
	name := strings.TrimSuffix(strings.TrimSuffix(text, ".**"), ".*")
	for part := range strings.SplitSeq(name, ".") {
		if part == "" || strings.ContainsAny(part, " *?()/;[") {
			return "", fmt.Errorf("%w: %q; give a package or class, as com.acme, which stands for all that is below it, too", ErrPackage, text)
		}
	}
	return name, nil
}

// within tells whether a class or method is below a package, or of a class.
func within(name, of string) bool {
	rest, ok := strings.CutPrefix(name, of)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '$')
}

// listed is what the list says of a class, or of the class that it is a relocated copy of: a
// program that is one jar may have org.eclipse.jetty as shop.shaded.org.eclipse.jetty.
func (r *Rules) listed(class string) Kind {
	kind := r.entry(class)
	for rest := class; kind == Other; {
		_, after, ok := strings.Cut(rest, ".")
		if !ok {
			break
		}
		rest = after
		for _, top := range relocated {
			if strings.HasPrefix(rest, top) && r.entry(rest) == Framework {
				return Framework
			}
		}
	}
	return kind
}

// relocated are how names begin that are looked for within others.
var relocated = []string{"org.", "com.", "io.", "net.", "jakarta.", "javax."}

// entry is what the longest entry says that a class is within.
func (r *Rules) entry(class string) Kind {
	kind, longest := Other, -1
	for _, p := range r.frameworks {
		if len(p.name) > longest && within(class, p.name) {
			kind, longest = p.kind, len(p.name)
		}
	}
	return kind
}

// Given tells whether a person has named the application's packages.
func (r *Rules) Given() bool { return len(r.given) > 0 }

// Kind says whose a method is.
func (r *Rules) Kind(m cct.Method) Kind {
	class := classOf(m.Name)
	if class == "" || m.Loader == "native" || m.Loader == "unknown" {
		return Caller
	}
	if Generated(class) {
		return Framework
	}
	for _, p := range r.given {
		if within(class, p) {
			return Own
		}
	}
	kind := r.listed(class)
	switch {
	case kind != Other:
	case r.Given():
		kind = Framework
	case r.own != "" && within(class, r.own):
		kind = Own
	}
	return kind
}

// Generated tells whether a framework has made a class at run time, as a proxy, by its name.
func Generated(class string) bool {
	for _, part := range generated {
		if strings.Contains(class, part) {
			return true
		}
	}
	return false
}

// classOf is the class in a method's name, which other profilers write without a
// descriptor; "" if it has none, as a native function.
func classOf(method string) string {
	head, _, _ := strings.Cut(method, "(")
	return head[:max(strings.LastIndexByte(head, '.'), 0)]
}

// packageOf names what a method belongs to, in up to three parts: a package, or what its
// class was generated as.
func packageOf(m cct.Method) string {
	class := classOf(m.Name)
	if Generated(class) {
		return "generated proxies"
	}
	if class == "" {
		return "native code"
	}
	parts := strings.Split(class, ".")
	if len(parts) == 1 {
		return class
	}
	return strings.Join(parts[:min(3, len(parts)-1)], ".")
}
