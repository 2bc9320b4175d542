package verify

import (
	"strings"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// majorAnyName is the version from which names may hold nearly anything
// (§4.2.2); before it they are identifiers of the Java language.
const majorAnyName = 49

const (
	nameInit   = "<init>"
	nameClinit = "<clinit>"
)

// identifier reports whether a name is one of the Java language. Letters
// beyond ASCII are taken for letters.
func identifier(name string) bool {
	for i := range len(name) {
		b := name[i]
		letter := b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_' || b == '$' || b >= 0x80
		if !letter && (i == 0 || b < '0' || b > '9') {
			return false
		}
	}
	return name != ""
}

func fieldName(name string, major uint16) bool {
	if major < majorAnyName {
		return identifier(name)
	}
	return name != "" && !strings.ContainsAny(name, ".;[/")
}

func methodName(name string, major uint16) bool {
	switch {
	case name != "" && name[0] == '<':
		return name == nameInit || name == nameClinit
	case major < majorAnyName:
		return identifier(name)
	}
	return name != "" && !strings.ContainsAny(name, ".;[/<>")
}

// classOrArray reports whether a Class constant may have this name.
func classOrArray(name string, major uint16) bool {
	if name != "" && name[0] == '[' {
		return fieldDesc(name, major)
	}
	for part := range strings.SplitSeq(name, "/") {
		if !fieldName(part, major) {
			return false
		}
	}
	return true
}

// fieldDesc reports whether a descriptor names one type (§4.3.2).
func fieldDesc(desc string, major uint16) bool {
	var room [1]string
	params, _, err := classfile.Params("("+desc+")V", room[:0])
	if err != nil || len(params) != 1 {
		return false
	}
	return classNames(params, major)
}

// methodDesc reports whether a method of this name may have this descriptor
// (§4.3.3): those that the JVM calls return nothing.
func methodDesc(name, desc string, major uint16) bool {
	var room [16]string
	params, ret, err := classfile.Params(desc, room[:0])
	if err != nil || strings.HasPrefix(name, "<") && ret != "V" {
		return false
	}
	return classNames(append(params, ret), major)
}

// classNames reports whether the classes in descriptors have names.
func classNames(types []string, major uint16) bool {
	for _, t := range types {
		t = t[dims(t):]
		if t[0] == 'L' && !classOrArray(t[1:len(t)-1], major) || strings.HasPrefix(t, "L[") {
			return false
		}
	}
	return true
}
