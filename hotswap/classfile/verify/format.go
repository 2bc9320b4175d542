package verify

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// errFormat is inside what [Format] returns.
var errFormat = errors.New("name, descriptor or access flags are not legal")

// Format checks the names, descriptors and access flags of a class, in its
// constants and its members, as the parser of HotSpot does before anything is
// verified (§4.2.2, §4.3, §4.4, §4.6). It returns nil or an *[Error].
func Format(c *classfile.Class) error {
	for i := range c.Pool.Len() {
		if what := constant(c, uint16(i)); what != "" {
			return &Error{Class: c.Name(), Err: fmt.Errorf("constant %d: %s: %w", i, what, errFormat)}
		}
	}
	for i := range c.Fields {
		if f := &c.Fields[i]; !fieldName(f.Name, c.Major) || !fieldDesc(f.Desc, c.Major) {
			return &Error{Class: c.Name(), Method: f.Name, Desc: f.Desc, Err: errFormat}
		}
	}
	type key struct{ name, desc string }
	known := make(map[key]bool, len(c.Methods))
	for i := range c.Methods {
		m := key{c.Methods[i].Name, c.Methods[i].Desc}
		if known[m] {
			return &Error{Class: c.Name(), Method: m.name, Desc: m.desc, Err: fmt.Errorf("declared twice: %w", errFormat)}
		}
		known[m] = true
		if err := memberFormat(c, &c.Methods[i]); err != nil {
			return err
		}
	}
	return nil
}

// constant returns what is wrong with a constant.
func constant(c *classfile.Class, i uint16) string {
	p := &c.Pool
	switch tag := p.Tag(i); tag {
	case classfile.TagClass:
		if name, err := p.ClassName(i); err != nil || !classOrArray(name, c.Major) {
			return "class"
		}
	case classfile.TagMethodType:
		if desc, err := p.MethodType(i); err != nil || !methodDesc("", desc, c.Major) {
			return "method type"
		}
	case classfile.TagMethodHandle:
		if h, err := p.MethodHandle(i); err != nil || !handle(h, c.Major) {
			return "method handle"
		}
	case classfile.TagNameAndType:
		nt, err := p.NameAndType(i)
		method := methodName(nt.Name, c.Major) && methodDesc(nt.Name, nt.Desc, c.Major)
		if isMethod(nt.Desc) != method || !method && !(fieldName(nt.Name, c.Major) && fieldDesc(nt.Desc, c.Major)) || err != nil {
			return "name and type"
		}
	case classfile.TagDynamic, classfile.TagInvokeDynamic:
		if d, err := p.Dynamic(i); err != nil || isMethod(d.Desc) != (tag == classfile.TagInvokeDynamic) {
			return "descriptor of another kind"
		}
	case classfile.TagFieldref, classfile.TagMethodref, classfile.TagInterfaceMethodref:
		ref, err := p.MemberRef(i)
		if err != nil || isMethod(ref.Desc) != (tag != classfile.TagFieldref) {
			return "descriptor of another kind"
		}
		if tag == classfile.TagMethodref && strings.HasPrefix(ref.Name, "<") && ref.Name != nameInit {
			return "method name"
		}
	}
	return ""
}

// handle reports whether a method handle is of a member of the right kind
// (§4.4.8).
func handle(h classfile.MethodHandle, major uint16) bool {
	tag := h.Ref.Kind
	switch h.Kind {
	case classfile.RefGetField, classfile.RefGetStatic, classfile.RefPutField, classfile.RefPutStatic:
		return tag == classfile.TagFieldref
	case classfile.RefInvokeVirtual:
		return tag == classfile.TagMethodref && h.Ref.Name != nameInit
	case classfile.RefNewInvokeSpecial:
		return tag == classfile.TagMethodref && h.Ref.Name == nameInit
	case classfile.RefInvokeStatic, classfile.RefInvokeSpecial:
		return h.Ref.Name != nameInit && (tag == classfile.TagMethodref || tag == classfile.TagInterfaceMethodref && major >= majorInterfaceCalls)
	case classfile.RefInvokeInterface:
		return tag == classfile.TagInterfaceMethodref
	}
	return false
}

func isMethod(desc string) bool { return strings.HasPrefix(desc, "(") }

// memberFormat checks the name, the descriptor and the flags of a method.
func memberFormat(c *classfile.Class, m *classfile.Member) error {
	var what string
	words, _, err := classfile.MethodWords(m.Desc)
	if !static(c, m) {
		words++
	}
	code := m.Attribute(classfile.AttrCode) != nil
	bare := m.Name != nameClinit && m.Access&(classfile.AccNative|classfile.AccAbstract) != 0
	switch {
	case !methodName(m.Name, c.Major):
		what = "method name"
	case err != nil || !methodDesc(m.Name, m.Desc, c.Major) || m.Name == nameClinit && c.Major >= classfile.MajorTypeCheck && m.Desc != "()V":
		what = "descriptor"
	case words > maxWords:
		what = "more than 255 words of parameters"
	case !methodFlags(c, m):
		what = "access flags"
	case code == bare:
		what = "code of a native or abstract method, or none of another"
	default:
		return nil
	}
	return &Error{Class: c.Name(), Method: m.Name, Desc: m.Desc, Err: fmt.Errorf("%s: %w", what, errFormat)}
}

// static reports whether a method has no receiver. Before version 51 a class
// initializer is static whatever its flags say (§2.9.2).
func static(c *classfile.Class, m *classfile.Member) bool {
	return m.Access.Has(classfile.AccStatic) || m.Name == nameClinit && c.Major < classfile.MajorTypeCheck
}

// maxWords is the largest number of words of parameters (§4.3.3).
const maxWords = 255

// Versions in which rules on flags change.
const (
	majorBridge   = 49
	majorNoStrict = 60
)

// methodFlags checks the access flags of a method (§4.6).
func methodFlags(c *classfile.Class, m *classfile.Member) bool {
	a := m.Access
	const visible = classfile.AccPublic | classfile.AccPrivate | classfile.AccProtected
	one := a&visible == 0 || a&visible&(a&visible-1) == 0
	strict := classfile.Access(0)
	if c.Major < majorNoStrict && c.Major >= majorBridge {
		strict = classfile.AccStrict
	}
	const final, native, static, synchronized = classfile.AccFinal, classfile.AccNative, classfile.AccStatic, classfile.AccSynchronized
	switch {
	case m.Name == nameClinit:
		return c.Major < classfile.MajorTypeCheck || a.Has(static)
	case !c.Access.Has(classfile.AccInterface):
		if m.Name == nameInit {
			bad := static | final | synchronized | native | classfile.AccAbstract
			if c.Major >= majorBridge {
				bad |= classfile.AccBridge
			}
			return one && a&bad == 0
		}
		bad := final | native | classfile.AccPrivate | static | strict
		if c.Major >= majorBridge {
			bad |= synchronized
		}
		return one && (!a.Has(classfile.AccAbstract) || a&bad == 0)
	case m.Name == nameInit:
		return false
	case c.Major >= majorInterfaceCalls:
		return a.Has(classfile.AccPublic) != a.Has(classfile.AccPrivate) &&
			a&(native|classfile.AccProtected|final|synchronized) == 0 &&
			(!a.Has(classfile.AccAbstract) || a&(classfile.AccPrivate|static|strict) == 0)
	case c.Major >= majorBridge:
		return a.Has(classfile.AccPublic|classfile.AccAbstract) &&
			a&(classfile.AccPrivate|classfile.AccProtected|static|final|synchronized|native|classfile.AccStrict) == 0
	}
	return a.Has(classfile.AccPublic|classfile.AccAbstract) && a&(static|final|native) == 0
}
