package verify

import "github.com/rivulet-profiler/rivulet/hotswap/classfile"

// static checks what the old verifier asks of every instruction, reached or
// not (§4.9.1): that its operands make sense by themselves.
func (c *checker) static() {
	in := &c.in
	if !byOp[in.Op].known && specials[in.Op] == nil {
		c.fail("bad instruction")
		return
	}
	if slot, ok := in.Local(); ok {
		if info := in.Op.Info(); in.Op != classfile.OpIinc {
			slot += int(max(info.Pop, info.Push)) - 1
		}
		if slot >= int(c.code.MaxLocals) {
			c.fail("local variable beyond max_locals")
		}
		return
	}
	tag := c.class.Pool.Tag(uint16(in.A))
	switch in.Op {
	case classfile.OpLdc, classfile.OpLdcW, classfile.OpLdc2W:
		v, ok := ldcTypes[tag]
		if wide := second[v.tag] != tagTop; !ok || wide != (in.Op == classfile.OpLdc2W) || c.class.Major < ldcSince[tag] {
			c.fail("constant of a kind that can't be loaded so")
		}
	case classfile.OpGetstatic, classfile.OpPutstatic, classfile.OpGetfield, classfile.OpPutfield:
		if tag != classfile.TagFieldref {
			c.fail("no field")
		}
	case classfile.OpTableswitch, classfile.OpLookupswitch:
		c.switchForm()
	case classfile.OpInvokevirtual, classfile.OpInvokespecial, classfile.OpInvokestatic, classfile.OpInvokeinterface:
		c.invokable(c.member())
		if b := c.code.Bytecode[in.Offset:]; in.Op == classfile.OpInvokeinterface && (b[3] == 0 || b[4] != 0) {
			c.fail("malformed invokeinterface")
		}
	case classfile.OpInvokedynamic:
		c.fail("invokedynamic not allowed")
	case classfile.OpNew, classfile.OpAnewarray, classfile.OpCheckcast, classfile.OpInstanceof, classfile.OpMultianewarray:
		name := c.className()
		switch {
		case c.err != nil:
		case in.Op == classfile.OpNew && name[0] == '[':
			c.fail("new of an array class")
		case in.Op == classfile.OpAnewarray && dims(name) >= maxDims:
			c.fail("array of more than 255 dimensions")
		case in.Op == classfile.OpMultianewarray && (in.B < 1 || dims(name) < int(in.B)):
			c.fail("multianewarray of more dimensions than the type has")
		}
	case classfile.OpNewarray:
		if int(in.A) >= len(arrayTypes) || arrayTypes[in.A] == "" {
			c.fail("newarray of no type")
		}
	}
}
