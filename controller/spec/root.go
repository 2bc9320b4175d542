package spec

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/rivulet-profiler/rivulet/controller/filter"
)

// RootForm says how a root is written.
const RootForm = "give a root as pkg.Class.method, pkg.Outer$Inner.method or pkg.Class.method(DESCRIPTOR)RETURN, such as shop.Price.of(IJ)V, or as a pattern such as shop.*Service.find*; rivulet methods PID CLASS prints them in this form"

// ParseRoot checks the form of a root, and returns it in the form that reports use:
// dots between packages. The name of the class may be given with slashes, and the method
// after # or ::, as stack traces and editors write them. The error is an [*Error].
func ParseRoot(s string) (string, error) {
	fail := func(format string, args ...any) error {
		return wrong("root", s, "%s; %s", fmt.Sprintf(format, args...), RootForm)
	}
	name, descriptor, described := strings.Cut(strings.TrimSpace(s), "(")
	for _, sep := range []string{"::", "#"} {
		name = strings.Replace(name, sep, ".", 1)
	}
	name = strings.ReplaceAll(name, "/", ".")
	if filter.Has(name) {
		return rootPattern(s, name, descriptor, described)
	}
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return "", fail("no class before the method")
	}
	class, method := name[:dot], name[dot+1:]
	for part := range strings.SplitSeq(class, ".") {
		if err := CheckName(part); err != nil {
			return "", fail("class %q: %v", class, err)
		}
	}
	if method != "<init>" && method != "<clinit>" {
		if err := CheckName(method); err != nil {
			return "", fail("method %q: %v", method, err)
		}
		if strings.ContainsAny(method, "<>") {
			return "", fail("method %q: only <init> and <clinit> have angle brackets", method)
		}
	}
	if !described {
		return class + "." + method, nil
	}
	if err := checkDescriptor(descriptor); err != nil {
		return "", fail("descriptor %q: %v", "("+descriptor, err)
	}
	return class + "." + method + "(" + descriptor, nil
}

// rootPattern checks a pattern of roots.
func rootPattern(s, name, descriptor string, described bool) (string, error) {
	if described {
		name += "(" + descriptor
	}
	if _, err := filter.Parse(name); err != nil {
		return "", wrong("root", s, "%v; patterns are com.acme.*Service.find*, com.acme.**.handle, com.acme.Foo.get(*)J", err)
	}
	return name, nil
}

// CheckName says why a part of a name between dots can't be one (JVMS §4.2.2), or is one
// that no compiler ever writes. The error is text for whoever wrote the name.
func CheckName(s string) error {
	if s == "" {
		return errors.New("a name is empty")
	}
	for _, r := range s {
		switch {
		case strings.ContainsRune(";[*)", r):
			return fmt.Errorf("%q can't be in a name", r)
		case unicode.IsControl(r) || r == unicode.ReplacementChar:
			return errors.New("a name has a control character")
		}
	}
	return nil
}

// checkDescriptor reads what follows the opening bracket (JVMS §4.3.3).
func checkDescriptor(s string) error {
	rest := s
	for !strings.HasPrefix(rest, ")") {
		next, err := fieldType(rest)
		if err != nil {
			return err
		}
		rest = next
	}
	switch result := rest[1:]; result {
	case "":
		return errors.New("the return type is missing, V for void")
	case "V":
		return nil
	default:
		after, err := fieldType(result)
		if err == nil && after != "" {
			err = fmt.Errorf("%q follows the return type", after)
		}
		return err
	}
}

// fieldType reads one type and returns what follows.
func fieldType(s string) (rest string, err error) {
	t := strings.TrimLeft(s, "[")
	if len(s)-len(t) > 255 {
		return "", errors.New("more than 255 array dimensions")
	}
	switch {
	case t == "":
		return "", errors.New("it ends too early")
	case strings.IndexByte("BCDFIJSZ", t[0]) >= 0:
		return t[1:], nil
	case t[0] == 'L':
		class, rest, ended := strings.Cut(t[1:], ";")
		if !ended || class == "" || strings.ContainsAny(class, ".[()") {
			return "", errors.New("a class in it is written Lpkg/Class;")
		}
		return rest, nil
	}
	return "", fmt.Errorf("it does not go on with a type at %q (I is int, J long, Z boolean, Ljava/lang/String; a class, [I an array)", t)
}
