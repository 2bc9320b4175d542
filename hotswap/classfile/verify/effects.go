package verify

import "github.com/rivulet-profiler/rivulet/hotswap/classfile"

// effects says what the instructions with fixed types take from the stack and
// put onto it, first taken and put last: "II>I" for iadd. Capitals are I int, F
// float, J long, D double, R reference (initialized or not), O object, T
// throwable, N null. Small letters are arrays: of int, float, long (j), double,
// char, short, byte or boolean (b). An instruction in neither this table nor
// specials is not legal.
var effects = map[string][]string{
	"":     {"nop", "goto", "goto_w"},
	">N":   {"aconst_null"},
	">I":   {"iconst_m1", "iconst_0", "iconst_1", "iconst_2", "iconst_3", "iconst_4", "iconst_5", "bipush", "sipush"},
	">J":   {"lconst_0", "lconst_1"},
	">F":   {"fconst_0", "fconst_1", "fconst_2"},
	">D":   {"dconst_0", "dconst_1"},
	"iI>I": {"iaload"},
	"jI>J": {"laload"},
	"fI>F": {"faload"},
	"dI>D": {"daload"},
	"bI>I": {"baload"},
	"cI>I": {"caload"},
	"sI>I": {"saload"},
	"iII>": {"iastore"},
	"jIJ>": {"lastore"},
	"fIF>": {"fastore"},
	"dID>": {"dastore"},
	"bII>": {"bastore"},
	"cII>": {"castore"},
	"sII>": {"sastore"},
	"II>I": {"iadd", "isub", "imul", "idiv", "irem", "ishl", "ishr", "iushr", "iand", "ior", "ixor"},
	"JJ>J": {"ladd", "lsub", "lmul", "ldiv", "lrem", "land", "lor", "lxor"},
	"JI>J": {"lshl", "lshr", "lushr"},
	"FF>F": {"fadd", "fsub", "fmul", "fdiv", "frem"},
	"DD>D": {"dadd", "dsub", "dmul", "ddiv", "drem"},
	"I>I":  {"ineg", "i2b", "i2c", "i2s"},
	"J>J":  {"lneg"},
	"F>F":  {"fneg"},
	"D>D":  {"dneg"},
	"I>J":  {"i2l"},
	"I>F":  {"i2f"},
	"I>D":  {"i2d"},
	"J>I":  {"l2i"},
	"J>F":  {"l2f"},
	"J>D":  {"l2d"},
	"F>I":  {"f2i"},
	"F>J":  {"f2l"},
	"F>D":  {"f2d"},
	"D>I":  {"d2i"},
	"D>J":  {"d2l"},
	"D>F":  {"d2f"},
	"JJ>I": {"lcmp"},
	"FF>I": {"fcmpl", "fcmpg"},
	"DD>I": {"dcmpl", "dcmpg"},
	"I>":   {"ifeq", "ifne", "iflt", "ifge", "ifgt", "ifle", "tableswitch", "lookupswitch"},
	"II>":  {"if_icmpeq", "if_icmpne", "if_icmplt", "if_icmpge", "if_icmpgt", "if_icmple"},
	"RR>":  {"if_acmpeq", "if_acmpne"},
	"R>":   {"ifnull", "ifnonnull", "monitorenter", "monitorexit"},
	"T>":   {"athrow"},
}

// An effect is a row of effects, taken apart.
type effect struct {
	known     bool
	pop, push string
}

// byOp is effects by opcode.
var byOp = func() (t [256]effect) {
	ops := map[string]classfile.Op{}
	for op := range 256 {
		ops[classfile.Op(op).Info().Name] = classfile.Op(op)
	}
	for spec, names := range effects {
		e := effect{known: true, pop: spec}
		for i := range len(spec) {
			if spec[i] == '>' {
				e.pop, e.push = spec[:i], spec[i+1:]
			}
		}
		for _, n := range names {
			t[ops[n]] = e
		}
	}
	return t
}()

// letters are the values that capitals stand for.
var letters = [256]value{
	'I': vInt, 'F': vFloat, 'J': vLong, 'D': vDouble, 'N': vNull,
	'O': object(nameObject), 'T': object(nameThrowable),
}

// arrays are the component letters that small letters stand for.
var arrays = [256]string{
	'i': "I", 'f': "F", 'j': "J", 'd': "D", 'c': "C", 's': "S", 'b': "BZ",
}

// apply does what the row says.
func (c *checker) apply(e *effect) {
	for i := len(e.pop) - 1; i >= 0; i-- {
		switch l := e.pop[i]; {
		case l == 'R' && c.flow.on:
			c.popOld()
		case l == 'R':
			c.popRef()
		case arrays[l] != "":
			c.popArray(arrays[l])
		default:
			c.pop(letters[l])
		}
	}
	for i := range len(e.push) {
		c.push(letters[e.push[i]])
	}
}
