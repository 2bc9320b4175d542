package verify

import "github.com/rivulet-profiler/rivulet/hotswap/classfile"

// fitsOld is fits as the old verifier has it, which counts every interface as
// java/lang/Object. So an int[] passes as any interface: as an array of
// something it is an Object. A String[] does not.
func (c *checker) fitsOld(v, want value) bool {
	switch {
	case v.tag != tagObject || want.tag != tagObject:
		return v == want || v.tag == tagNull && want.tag == tagObject
	case v.name == want.name, want.name == nameObject, v.name == anyClass, want.name == anyClass:
		return true
	case v.name[0] != '[' && want.name[0] != '[':
		return assignable(c.classes, v.name, want.name, false)
	case anyArray(want.name):
		return true
	case anyArray(v.name):
		return false
	}
	if primitiveArray(want.name) {
		return false
	}
	from, n := elements(v.name)
	to, m := elements(want.name)
	if n == m {
		return c.fitsOld(object(from), object(to))
	}
	return n > m && (to == nameObject || anyArray(to))
}

// anyArray reports whether every array is one of these.
func anyArray(name string) bool { return name == nameCloneable || name == nameSerializable }

func primitiveArray(name string) bool {
	n := dims(name)
	return n > 0 && isPrimitive(name[n:])
}

// elements returns the class of the innermost elements of an array and its
// dimensions. The innermost array of a primitive type counts as an Object.
func elements(name string) (class string, dimensions int) {
	n := dims(name)
	if n > 0 && isPrimitive(name[n:]) {
		return nameObject, n - 1
	}
	return className(name[n:]), n
}

// meet returns what a word is when two paths bring different things.
func (c *checker) meet(a, b value) value {
	switch {
	case a == b:
		return a
	case !a.reference() || !b.reference():
		return vTop
	case a.tag == tagNull:
		return b
	case b.tag == tagNull:
		return a
	}
	return object(c.common(a.name, b.name))
}

// common returns the closest class that two different class or array types
// have in common, in the sense of the old verifier: interfaces are Object.
func (c *checker) common(a, b string) string {
	switch {
	case a == b:
		return a
	case a == nameObject || b == nameObject:
		return nameObject
	case a[0] != '[' && b[0] != '[':
		return c.super(a, b)
	case anyArray(b):
		return b
	case anyArray(a):
		return a
	case a == anyClass || b == anyClass:
		return anyClass
	}
	from, n := elements(a)
	to, m := elements(b)
	switch {
	case n == m:
		return arrayOf(c.common(from, to), n)
	case n < m && anyArray(from):
		return a
	case m < n && anyArray(to):
		return b
	}
	return arrayOf(nameObject, min(n, m))
}

func arrayOf(class string, dimensions int) string {
	if dimensions == 0 {
		return class
	}
	array := make([]byte, 0, dimensions+len(class)+2)
	for range dimensions {
		array = append(array, '[')
	}
	return string(array) + "L" + class + ";"
}

// super returns the closest common superclass.
func (c *checker) super(a, b string) string {
	chain := c.flow.chain[:0]
	for x := a; x != "" && len(chain) < maxSupers; {
		chain = append(chain, x)
		super, isInterface, ok := c.classes.Class(x)
		if !ok {
			break
		}
		if x == a && isInterface {
			return nameObject
		}
		x = super
	}
	c.flow.chain = chain
	c.work += len(chain)
	for x, n := b, 0; x != "" && n < maxSupers; n++ {
		super, isInterface, ok := c.classes.Class(x)
		if x == b && isInterface {
			return nameObject
		}
		for _, y := range chain {
			if x == y {
				return x
			}
		}
		if !ok {
			break
		}
		x = super
	}
	return anyClass
}

// popOld takes a reference as the old verifier does, for which only ifnull,
// ifnonnull and astore may see an object whose constructor was not called.
func (c *checker) popOld() value {
	if op := c.in.Op; op == classfile.OpIfnull || op == classfile.OpIfnonnull {
		return c.popRef()
	}
	return c.pop(object(nameObject))
}

// ownField reports whether the top of the stack is an uninitialized this, which
// putfield may use when the class itself declares the field. The old verifier
// lets it be the value, too.
func (c *checker) ownField(ref classfile.MemberRef) bool {
	n := len(c.now.stack)
	return c.in.Op == classfile.OpPutfield && n > 0 && c.now.stack[n-1].tag == tagUninitThis &&
		ref.Class == c.class.Name() && c.declares(ref)
}

// fieldValue takes the value that putfield and putstatic store.
func (c *checker) fieldValue(v value, ref classfile.MemberRef) {
	if !c.flow.on || v.tag != tagObject || !c.ownField(ref) {
		c.pop(v)
		return
	}
	if this := object(c.class.Name()); !c.fits(this, v) {
		c.mismatch(this, v)
	}
	c.popWord()
}
