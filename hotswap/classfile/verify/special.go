package verify

import "github.com/rivulet-profiler/rivulet/hotswap/classfile"

// specials are the instructions whose types depend on operands or on what is
// on the stack.
var specials [256]func(*checker)

// stores are the instructions that change a local.
var stores [256]bool

func init() {
	for _, row := range []struct {
		ops []classfile.Op
		f   func(*checker)
	}{
		{[]classfile.Op{classfile.OpLdc, classfile.OpLdcW}, func(c *checker) { c.ldc(1) }},
		{[]classfile.Op{classfile.OpLdc2W}, func(c *checker) { c.ldc(2) }},
		{[]classfile.Op{classfile.OpAaload}, (*checker).aaload},
		{[]classfile.Op{classfile.OpAastore}, (*checker).aastore},
		{[]classfile.Op{classfile.OpPop}, func(c *checker) { c.shuffle(1, 0) }},
		{[]classfile.Op{classfile.OpPop2}, func(c *checker) { c.shuffle(2, 0) }},
		{[]classfile.Op{classfile.OpDup}, func(c *checker) { c.shuffle(1, 0, 0, 0) }},
		{[]classfile.Op{classfile.OpDupX1}, func(c *checker) { c.shuffle(1, 1, 1, 0, 1) }},
		{[]classfile.Op{classfile.OpDupX2}, func(c *checker) { c.shuffle(1, 2, 2, 0, 1, 2) }},
		{[]classfile.Op{classfile.OpDup2}, func(c *checker) { c.shuffle(2, 0, 0, 1, 0, 1) }},
		{[]classfile.Op{classfile.OpDup2X1}, func(c *checker) { c.shuffle(2, 1, 1, 2, 0, 1, 2) }},
		{[]classfile.Op{classfile.OpDup2X2}, func(c *checker) { c.shuffle(2, 2, 2, 3, 0, 1, 2, 3) }},
		{[]classfile.Op{classfile.OpSwap}, func(c *checker) { c.shuffle(1, 1, 1, 0) }},
		{[]classfile.Op{classfile.OpIinc}, func(c *checker) { c.local(int(c.in.A), tagInt) }},
		{[]classfile.Op{classfile.OpReturn}, (*checker).returnVoid},
		{[]classfile.Op{classfile.OpGetstatic, classfile.OpPutstatic, classfile.OpGetfield, classfile.OpPutfield}, (*checker).field},
		{[]classfile.Op{classfile.OpInvokevirtual, classfile.OpInvokespecial, classfile.OpInvokestatic, classfile.OpInvokeinterface, classfile.OpInvokedynamic}, (*checker).invoke},
		{[]classfile.Op{classfile.OpNew}, (*checker).newObject},
		{[]classfile.Op{classfile.OpNewarray}, (*checker).newArray},
		{[]classfile.Op{classfile.OpAnewarray}, (*checker).newObjectArray},
		{[]classfile.Op{classfile.OpMultianewarray}, (*checker).newMultiArray},
		{[]classfile.Op{classfile.OpArraylength}, func(c *checker) { c.popArray("BCDFIJSZL["); c.push(vInt) }},
		{[]classfile.Op{classfile.OpCheckcast}, func(c *checker) { c.cast(true) }},
		{[]classfile.Op{classfile.OpInstanceof}, func(c *checker) { c.cast(false) }},
	} {
		for _, op := range row.ops {
			specials[op] = row.f
		}
	}
	// Loads, stores and returns come in the order of these kinds.
	kinds := [...]value{vInt, vLong, vFloat, vDouble, object("")}
	for i, v := range kinds {
		n := classfile.Op(i)
		load := func(c *checker) { c.load(v.tag) }
		store := func(c *checker) { c.store(v) }
		specials[classfile.OpIload+n] = load
		specials[classfile.OpIstore+n], stores[classfile.OpIstore+n] = store, true
		for j := range classfile.Op(4) {
			specials[classfile.OpIload0+4*n+j] = load
			specials[classfile.OpIstore0+4*n+j], stores[classfile.OpIstore0+4*n+j] = store, true
		}
		specials[classfile.OpIreturn+n] = func(c *checker) { c.returnValue(v) }
	}
}

func (c *checker) load(want tag) {
	slot, _ := c.in.Local()
	if v := c.local(slot, want); c.err == nil {
		c.push(v)
	}
}

func (c *checker) store(want value) {
	slot, _ := c.in.Local()
	var v value
	if want.tag == tagObject {
		v = c.popRef()
	} else {
		v = c.pop(want)
	}
	if c.err == nil {
		c.setLocal(slot, v)
	}
}

func (c *checker) returnValue(want value) {
	var v value
	if want.tag == tagObject {
		v = c.popRef()
	} else {
		v = c.pop(want)
	}
	if c.err == nil && (c.ret.tag == tagTop || !c.fits(v, c.ret)) {
		c.mismatch(v, c.ret)
	}
}

func (c *checker) returnVoid() {
	switch {
	case c.ret.tag != tagTop:
		c.fail("method expects a return value")
	case c.now.uninit:
		c.fail("constructor must call super() or this() before return")
	case c.now.noReturn:
		c.fail("return after super() or this() failed")
	}
}

// shuffle takes words and puts some of them again: first top words that are
// whole values together, then below words that are too. What to put is counted
// from the deepest word taken.
func (c *checker) shuffle(top, below int, put ...int) {
	n := top + below
	at := len(c.now.stack) - n
	if at < 0 {
		c.fail("operand stack underflow")
		return
	}
	var words [4]value
	copy(words[:], c.now.stack[at:])
	if !whole(words[below:n]) || !whole(words[:below]) {
		c.fail("long or double cut in half")
		return
	}
	c.now.stack = c.now.stack[:at]
	for _, i := range put {
		c.pushWord(words[i])
	}
}

// whole reports whether words, at most two, are one or two whole values.
func whole(ws []value) bool {
	if len(ws) == 2 && second[ws[0].tag] != tagTop {
		return ws[1].tag == second[ws[0].tag]
	}
	for _, w := range ws {
		if !w.oneWord() {
			return false
		}
	}
	return true
}

func (c *checker) aaload() {
	c.pop(vInt)
	a := c.popArray("L[")
	if a.tag == tagNull || c.err != nil {
		c.push(vNull)
		return
	}
	c.push(object(className(a.name[1:])))
}

func (c *checker) aastore() {
	c.pop(object(nameObject))
	c.pop(vInt)
	c.popArray("L[")
}

// ldcTypes are the classes that constants of these kinds are loaded as.
var ldcTypes = map[classfile.Tag]value{
	classfile.TagInteger: vInt, classfile.TagFloat: vFloat, classfile.TagLong: vLong, classfile.TagDouble: vDouble,
	classfile.TagString:       object("java/lang/String"),
	classfile.TagClass:        object("java/lang/Class"),
	classfile.TagMethodHandle: object("java/lang/invoke/MethodHandle"),
	classfile.TagMethodType:   object("java/lang/invoke/MethodType"),
}

// ldcSince holds the versions from which constants can be loaded, 0 for all.
var ldcSince = [32]uint16{classfile.TagClass: 49, classfile.TagMethodHandle: 51, classfile.TagMethodType: 51, classfile.TagDynamic: 55}

func (c *checker) ldc(words int) {
	i := uint16(c.in.A)
	if c.class.Major < ldcSince[c.class.Pool.Tag(i)] {
		c.fail("constant of a kind that this version can't load")
	}
	v, ok := ldcTypes[c.class.Pool.Tag(i)]
	if c.class.Pool.Tag(i) == classfile.TagDynamic {
		d, err := c.class.Pool.Dynamic(i)
		if err != nil || d.Desc == "" {
			c.fail("bad constant")
			return
		}
		v, ok = typeOf(d.Desc), true
	}
	have := 1
	if second[v.tag] != tagTop {
		have = 2
	}
	if !ok || have != words {
		c.fail("constant of a kind that can't be loaded so")
		return
	}
	c.push(v)
}

// className returns the Class constant that the instruction names.
func (c *checker) className() string {
	name, err := c.class.Pool.ClassName(uint16(c.in.A))
	if err == nil && name == "" {
		c.fail("class without a name")
	}
	c.failWith(err)
	return name
}

func (c *checker) cast(push bool) {
	name := c.className()
	c.pop(object(nameObject))
	if push {
		c.push(object(name))
	} else {
		c.push(vInt)
	}
}

func (c *checker) newObject() {
	if name := c.className(); name != "" && name[0] == '[' {
		c.fail("new of an array class")
	}
	v := value{tag: tagUninit, data: uint16(c.in.Offset)}
	if c.flow.on {
		c.renew(v)
	}
	c.push(v)
}

// arrayTypes are the types of newarray by its operand (table 6.5.newarray-A).
var arrayTypes = [...]string{4: "[Z", 5: "[C", 6: "[F", 7: "[D", 8: "[B", 9: "[S", 10: "[I", 11: "[J"}

func (c *checker) newArray() {
	if int(c.in.A) >= len(arrayTypes) || arrayTypes[c.in.A] == "" {
		c.fail("newarray of no type")
		return
	}
	c.pop(vInt)
	c.push(object(arrayTypes[c.in.A]))
}

// maxDims is the largest number of array dimensions (§4.3.2).
const maxDims = 255

func (c *checker) newObjectArray() {
	name := c.className()
	if c.err != nil {
		return
	}
	c.pop(vInt)
	if name[0] != '[' {
		c.push(object("[L" + name + ";"))
		return
	}
	if dims(name) >= maxDims {
		c.fail("array of more than 255 dimensions")
	}
	c.push(object("[" + name))
}

func (c *checker) newMultiArray() {
	name := c.className()
	if c.err != nil {
		return
	}
	if n := int(c.in.B); n < 1 || dims(name) < n {
		c.fail("multianewarray of more dimensions than the type has")
	}
	for range c.in.B {
		c.pop(vInt)
	}
	c.push(object(name))
}

func dims(desc string) (n int) {
	for n < len(desc) && desc[n] == '[' {
		n++
	}
	return n
}
