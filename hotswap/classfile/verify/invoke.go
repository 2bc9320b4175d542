package verify

import (
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// member returns the member that the instruction names.
func (c *checker) member() classfile.MemberRef {
	ref, err := c.class.Pool.MemberRef(uint16(c.in.A))
	if err == nil && (ref.Class == "" || ref.Name == "" || ref.Desc == "") {
		c.fail("member without a name")
	}
	c.failWith(err)
	return ref
}

// field verifies getfield, putfield and their static siblings.
func (c *checker) field() {
	ref := c.member()
	if c.err == nil && ref.Kind != classfile.TagFieldref {
		c.fail("no field")
	}
	if c.err != nil {
		return
	}
	v := typeOf(ref.Desc)
	static := c.in.Op == classfile.OpGetstatic || c.in.Op == classfile.OpPutstatic
	if !static && ref.Class[0] == '[' && !c.flow.on {
		c.fail("field of an array")
	}
	if c.in.Op == classfile.OpPutstatic || c.in.Op == classfile.OpPutfield {
		c.fieldValue(v, ref)
	}
	if !static {
		c.fieldOwner(ref)
	}
	if c.in.Op == classfile.OpGetstatic || c.in.Op == classfile.OpGetfield {
		c.push(v)
	}
}

// fieldOwner takes the object off the stack. A constructor may set its own
// fields before super().
func (c *checker) fieldOwner(ref classfile.MemberRef) {
	if c.ownField(ref) {
		c.popWord()
		return
	}
	c.guard(c.pop(object(ref.Class)), ref)
}

func (c *checker) declares(ref classfile.MemberRef) bool {
	for i := range c.class.Fields {
		if f := &c.class.Fields[i]; f.Name == ref.Name && f.Desc == ref.Desc {
			return true
		}
	}
	return false
}

// guard checks that a protected member of a superclass in another package is
// used on this class or a subclass only (§4.10.1.8).
func (c *checker) guard(v value, ref classfile.MemberRef) {
	h, ok := c.classes.(Protected)
	if !ok || c.err != nil || v.tag != tagObject || v.name == c.class.Name() {
		return
	}
	if is, _ := subclass(h, c.class.Super(), ref.Class); !is {
		return
	}
	declarer, ok := h.Protected(ref.Class, ref.Name, ref.Desc)
	if !ok || packageOf(declarer) == packageOf(c.class.Name()) {
		return
	}
	if v.name[0] == '[' && ref.Class == nameObject && ref.Name == "clone" {
		return // arrays have a public one
	}
	if !assignable(h, v.name, c.class.Name(), true) {
		c.fail("access to a protected member of another class")
	}
}

func packageOf(class string) string { return class[:strings.LastIndexByte(class, '/')+1] }

// invokeTags are the constants that calls may name. Calls of interface methods
// by invokestatic and invokespecial came with version 52.
var invokeTags = map[classfile.Op][]classfile.Tag{
	classfile.OpInvokevirtual:   {classfile.TagMethodref},
	classfile.OpInvokespecial:   {classfile.TagMethodref, classfile.TagInterfaceMethodref},
	classfile.OpInvokestatic:    {classfile.TagMethodref, classfile.TagInterfaceMethodref},
	classfile.OpInvokeinterface: {classfile.TagInterfaceMethodref},
}

const majorInterfaceCalls = 52

// invoke verifies all calls.
func (c *checker) invoke() {
	if c.in.Op == classfile.OpInvokedynamic {
		d, err := c.class.Pool.Dynamic(uint16(c.in.A))
		c.failWith(err)
		if b := c.code.Bytecode[c.in.Offset:]; c.err == nil && (d.Kind != classfile.TagInvokeDynamic || b[3] != 0 || b[4] != 0) {
			c.fail("malformed invokedynamic")
		}
		if c.err == nil && (c.class.Major < classfile.MajorTypeCheck || strings.HasPrefix(d.Name, "<")) {
			c.fail("invokedynamic not allowed")
		}
		c.call(d.Desc, nil)
		return
	}
	ref := c.member()
	if c.err == nil {
		c.invokable(ref)
	}
	if c.err != nil {
		return
	}
	c.call(ref.Desc, func() { c.receiver(ref) })
}

// invokable checks that the instruction may name the method.
func (c *checker) invokable(ref classfile.MemberRef) {
	if c.err != nil {
		return
	}
	ok := false
	for i, t := range invokeTags[c.in.Op] {
		ok = ok || t == ref.Kind && (i == 0 || c.class.Major >= majorInterfaceCalls)
	}
	if !ok {
		c.fail("call of a constant that is no such method")
		return
	}
	if ref.Name[0] == '<' && (ref.Name != nameInit || c.in.Op != classfile.OpInvokespecial) {
		c.fail("illegal call of an internal method")
	}
	if ref.Name[0] != '<' && c.in.Op == classfile.OpInvokespecial {
		c.special(ref)
	}
}

// call takes the arguments, lets the receiver be taken, and puts the result.
func (c *checker) call(desc string, receiver func()) {
	if c.err != nil {
		return
	}
	var room [16]string
	params, ret, err := classfile.Params(desc, room[:0])
	if err != nil {
		c.failWith(err)
		return
	}
	before := len(c.now.stack)
	for i := len(params) - 1; i >= 0 && c.err == nil; i-- {
		c.pop(typeOf(params[i]))
	}
	if c.in.Op == classfile.OpInvokeinterface {
		b := c.code.Bytecode[c.in.Offset:]
		if c.err == nil && (int(b[3]) != before-len(c.now.stack)+1 || b[4] != 0) {
			c.fail("malformed invokeinterface")
		}
	}
	if receiver != nil && c.err == nil {
		receiver()
	}
	if v := typeOf(ret); v.tag != tagTop && c.err == nil {
		c.push(v)
	}
}

// special checks that invokespecial names this class, a superclass or a direct
// superinterface.
func (c *checker) special(ref classfile.MemberRef) {
	if ref.Class == c.class.Name() || ref.Class == c.class.Super() {
		return
	}
	if !c.flow.on && slices.Contains(c.class.Interfaces(), ref.Class) {
		return
	}
	if _, isInterface, ok := c.classes.Class(ref.Class); c.flow.on && ok && isInterface {
		c.fail("invokespecial of an interface")
	}
	if ref.Kind == classfile.TagInterfaceMethodref || !assignable(c.classes, c.class.Super(), ref.Class, false) {
		c.fail("invokespecial of a class that is no superclass")
	}
}

// receiver takes the object that a method is called on.
func (c *checker) receiver(ref classfile.MemberRef) {
	switch {
	case c.in.Op == classfile.OpInvokestatic:
	case ref.Name == nameInit:
		c.construct(ref)
	case c.in.Op == classfile.OpInvokespecial:
		c.pop(object(c.class.Name()))
	default:
		v := c.pop(object(ref.Class))
		if c.in.Op == classfile.OpInvokevirtual {
			c.guard(v, ref)
		}
	}
}

// construct verifies the call of a constructor. Handlers see the object as it
// was and, after the instruction, as it is, so none that can tell may cover it.
func (c *checker) construct(ref classfile.MemberRef) {
	v := c.popRef()
	if c.err != nil {
		return
	}
	covered := c.in.Offset >= c.exMin && c.in.Offset < c.exMax
	name := ""
	switch v.tag {
	case tagUninitThis:
		if ref.Class != c.class.Name() && ref.Class != c.class.Super() {
			c.fail("constructor of neither this class nor its superclass")
			return
		}
		name, c.newThis = c.class.Name(), true
	case tagUninit:
		index := uint16(c.code.Bytecode[v.data+1])<<8 | uint16(c.code.Bytecode[v.data+2])
		var err error
		if name, err = c.class.Pool.ClassName(index); err != nil {
			c.failWith(err)
			return
		}
		if name != ref.Class {
			c.fail("constructor of another class than that of new")
			return
		}
		c.guard(object(name), ref)
	default:
		c.mismatch(v, value{tag: tagUninit})
		return
	}
	if covered && c.err == nil && !c.flow.on {
		c.throw(c.now.uninit || c.newThis)
	}
	c.newInit = true
	c.initialize(v, object(name))
}
