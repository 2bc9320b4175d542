package verify

import "fmt"

// A frame is what the locals and the stack hold before an instruction. Longs
// and doubles take two words, as on a real stack.
type frame struct {
	locals, stack []value
	offset        int  // of a stack map
	uninit        bool // flagThisUninit (§4.10.1.4)
	noReturn      bool // super() has failed (data flow only)
}

// pushWord puts one word.
func (c *checker) pushWord(v value) {
	if len(c.now.stack) >= c.maxStack {
		c.fail("operand stack overflow")
		return
	}
	c.now.stack = append(c.now.stack, v)
	c.deepest = max(c.deepest, len(c.now.stack))
}

// push puts a value with its second word.
func (c *checker) push(v value) {
	c.pushWord(v)
	if two := second[v.tag]; two != tagTop {
		c.pushWord(value{tag: two})
	}
}

// popWord takes one word.
func (c *checker) popWord() value {
	n := len(c.now.stack)
	if n == 0 {
		c.fail("operand stack underflow")
		return vTop
	}
	v := c.now.stack[n-1]
	c.now.stack = c.now.stack[:n-1]
	return v
}

// pop takes a value that must fit want.
func (c *checker) pop(want value) value {
	if two := second[want.tag]; two != tagTop {
		if v := c.popWord(); v.tag != two {
			c.mismatch(v, value{tag: two})
		}
	}
	v := c.popWord()
	if !c.fits(v, want) || want.tag == tagTop {
		c.mismatch(v, want)
	}
	return v
}

// popRef takes a reference, initialized or not.
func (c *checker) popRef() value {
	v := c.popWord()
	if !v.reference() && !v.uninitialized() {
		c.mismatch(v, object("reference"))
	}
	return v
}

// popArray takes null or an array whose component descriptor starts with one
// of the letters.
func (c *checker) popArray(letters string) value {
	v := c.popRef()
	if v.tag == tagNull {
		return v
	}
	if v.tag == tagObject && len(v.name) > 1 && v.name[0] == '[' {
		for i := range len(letters) {
			if v.name[1] == letters[i] {
				return v
			}
		}
	}
	c.mismatch(v, object("array of "+letters))
	return v
}

func (c *checker) mismatch(have, want value) {
	if c.err == nil {
		c.fail(fmt.Sprintf("%v where %v is expected", have, want))
	}
}

// local returns the value in a slot, of the kind want.
func (c *checker) local(slot int, want tag) value {
	words := 1
	if second[want] != tagTop {
		words = 2
	}
	if slot+words > len(c.now.locals) {
		c.fail("local variable beyond max_locals")
		return vTop
	}
	v := c.now.locals[slot]
	ok := v.tag == want
	switch {
	case want == tagObject:
		ok = v.reference() || v.uninitialized()
	case words == 2:
		ok = ok && c.now.locals[slot+1].tag == second[want]
	}
	if !ok {
		c.mismatch(v, value{tag: want, name: "reference"})
	}
	return v
}

// setLocal stores a value and makes the halves of longs and doubles that it
// cuts unusable.
func (c *checker) setLocal(slot int, v value) {
	words := 1
	if second[v.tag] != tagTop {
		words = 2
	}
	ls := c.now.locals
	if slot+words > len(ls) {
		c.fail("local variable beyond max_locals")
		return
	}
	if t := ls[slot].tag; slot > 0 && (t == tagLong2 || t == tagDouble2) {
		ls[slot-1] = vTop
	}
	last := slot + words - 1
	if second[ls[last].tag] != tagTop && last+1 < len(ls) {
		ls[last+1] = vTop
	}
	ls[slot] = v
	if words == 2 {
		ls[slot+1] = value{tag: second[v.tag]}
	}
}

// initialize replaces an uninitialized value everywhere.
func (c *checker) initialize(old, v value) {
	for i := range c.now.locals {
		if c.now.locals[i] == old {
			c.now.locals[i] = v
		}
	}
	for i := range c.now.stack {
		if c.now.stack[i] == old {
			c.now.stack[i] = v
		}
	}
	if old.tag == tagUninitThis {
		c.now.uninit = false
	}
}

// match reports whether control may go from a frame to a place whose stack map
// is want, and what is wrong if not.
func (c *checker) match(locals, stack []value, uninit bool, want *frame) string {
	if c.work += len(want.locals) + len(want.stack); c.work > maxWork {
		c.failWith(errWork)
		return errWork.Error()
	}
	if len(stack) != len(want.stack) {
		return fmt.Sprintf("stack of %d words where the stack map has %d", len(stack), len(want.stack))
	}
	for i, w := range want.locals { // locals beyond are top
		if !c.fits(locals[i], w) {
			return fmt.Sprintf("local %d is %v, %v in the stack map", i, locals[i], w)
		}
	}
	for i, w := range want.stack {
		if !c.fits(stack[i], w) {
			return fmt.Sprintf("stack word %d is %v, %v in the stack map", i, stack[i], w)
		}
	}
	if uninit && !want.uninit {
		return "this may be uninitialized, not so in the stack map"
	}
	return ""
}
