package classtest

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// Assemble turns text into a class file. It makes what compilers don't:
//
//	class T extends java/lang/Object version 52
//	method static m (I)I
//	stack 2 locals 1
//	top:
//	  iload_0
//	  ifne top
//	  repeat 100 nop
//	  lookupswitch dflt 1:a 20:b
//	  tableswitch dflt 0 a b
//	  invokestatic C.m(I)V
//	  new C
//	  iconst_0
//	  ireturn
//	frame top I Lsome/Class; T U new@label | N
//	catch from to handler java/lang/Exception
//	constants 1000
//	end
//
// A frame is a full one: locals, a bar, the stack, in letters of descriptors,
// with T for top, N for null, U for uninitializedThis, each perhaps with a
// number of times as in T*5. A catch without a class catches all. The line "constants n" fills the pool with n constants. What
// follows # is not read.
func Assemble(tb testing.TB, text string) []byte {
	tb.Helper()
	a := assembly{}
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if err := a.line(strings.Fields(line)); err != nil {
			tb.Fatalf("line %d: %s: %v", i+1, line, err)
		}
	}
	return a.class.Bytes()
}

// An assembly is a class being assembled.
type assembly struct {
	class  *classfile.Class
	method *classfile.Member
	code   classfile.Code
	labels map[string]int
	fixes  []fix
	frames [][]string
	catch  [][]string
	err    error
}

// A fix is an offset to fill in when all labels are known.
type fix struct {
	at, from, size int
	label          string
}

var ops = func() map[string]classfile.Op {
	m := map[string]classfile.Op{}
	for op := range 256 {
		if n := classfile.Op(op).Info().Name; n != "" {
			m[n] = classfile.Op(op)
		}
	}
	return m
}()

func (a *assembly) line(w []string) error {
	if len(w) == 0 {
		return nil
	}
	switch {
	case w[0] == "class":
		var err error
		a.class, err = classfile.New(uint16(num(w[5])), classfile.AccPublic|classfile.AccSuper, w[1], w[3])
		return err
	case w[0] == "constants":
		for i := range num(w[1]) {
			if _, err := a.class.Pool.AddUtf8(fmt.Sprint("constant ", i)); err != nil {
				return err
			}
		}
	case w[0] == "method":
		return a.begin(w[1:])
	case w[0] == "stack":
		a.code.MaxStack, a.code.MaxLocals = uint16(num(w[1])), uint16(num(w[3]))
	case w[0] == "frame":
		a.frames = append(a.frames, w[1:])
	case w[0] == "catch":
		a.catch = append(a.catch, w[1:])
	case w[0] == "end":
		return a.end()
	case w[0] == "repeat":
		for range num(w[1]) {
			a.instruction(w[2:])
		}
	case strings.HasSuffix(w[0], ":"):
		a.labels[strings.TrimSuffix(w[0], ":")] = len(a.code.Bytecode)
	default:
		a.instruction(w)
	}
	return a.err
}

func num(s string) int {
	n, err := strconv.ParseInt(s, 0, 64)
	if err != nil {
		panic(err)
	}
	return int(n)
}

func (a *assembly) begin(w []string) (err error) {
	access := classfile.AccPublic
	if w[0] == "static" {
		access |= classfile.AccStatic
		w = w[1:]
	}
	*a = assembly{class: a.class, labels: map[string]int{}}
	a.method, err = a.class.AddMethod(access, w[0], w[1])
	return err
}

func (a *assembly) put(bs ...byte) { a.code.Bytecode = append(a.code.Bytecode, bs...) }

func (a *assembly) put2(v int) { a.put(byte(v>>8), byte(v)) }

func (a *assembly) target(label string, from, size int) {
	a.fixes = append(a.fixes, fix{len(a.code.Bytecode), from, size, label})
	a.put(make([]byte, size)...)
}

func (a *assembly) instruction(w []string) {
	wide := w[0] == "wide"
	if wide {
		a.put(byte(classfile.OpWide))
		w = w[1:]
	}
	op, ok := ops[w[0]]
	if !ok {
		a.err = fmt.Errorf("no opcode %s", w[0])
		return
	}
	at := len(a.code.Bytecode)
	a.put(byte(op))
	switch op.Info().Layout {
	case classfile.LayoutByte, classfile.LayoutArrayType:
		a.put(byte(num(w[1])))
	case classfile.LayoutShort:
		a.put2(num(w[1]))
	case classfile.LayoutLocal, classfile.LayoutIinc:
		for _, x := range w[1:] {
			if wide {
				a.put2(num(x))
			} else {
				a.put(byte(num(x)))
			}
		}
	case classfile.LayoutConst1, classfile.LayoutConst2:
		a.constant(op, w[1])
	case classfile.LayoutBranch2:
		a.target(w[1], at, 2)
	case classfile.LayoutBranch4:
		a.target(w[1], at, 4)
	case classfile.LayoutTableSwitch, classfile.LayoutLookupSwitch:
		a.switches(op, at, w[1:])
	}
}

func (a *assembly) constant(op classfile.Op, s string) {
	var i uint16
	p := &a.class.Pool
	switch op {
	case classfile.OpLdc, classfile.OpLdcW:
		i, a.err = p.AddInteger(int32(num(s)))
	case classfile.OpInvokespecial, classfile.OpInvokestatic, classfile.OpInvokevirtual:
		paren := strings.IndexByte(s, '(')
		dot := strings.LastIndexByte(s[:paren], '.')
		i, a.err = p.AddMethodref(s[:dot], s[dot+1:paren], s[paren:])
	default:
		i, a.err = p.AddClass(s)
	}
	if op == classfile.OpLdc {
		a.put(byte(i))
		return
	}
	a.put2(int(i))
}

func (a *assembly) switches(op classfile.Op, at int, w []string) {
	for range classfile.SwitchPadding(at) {
		a.put(0)
	}
	word := func(v int) { a.put(byte(v>>24), byte(v>>16), byte(v>>8), byte(v)) }
	a.target(w[0], at, 4)
	if op == classfile.OpTableswitch {
		low := num(w[1])
		word(low)
		word(low + len(w) - 3)
		for _, l := range w[2:] {
			a.target(l, at, 4)
		}
		return
	}
	word(len(w) - 1)
	for _, x := range w[1:] {
		key, label, _ := strings.Cut(x, ":")
		word(num(key))
		a.target(label, at, 4)
	}
}

func (a *assembly) end() error {
	for _, f := range a.fixes {
		to, ok := a.labels[f.label]
		if !ok {
			return fmt.Errorf("no label %s", f.label)
		}
		b := a.code.Bytecode[f.at:]
		if f.size == 2 {
			binary.BigEndian.PutUint16(b, uint16(to-f.from))
		} else {
			binary.BigEndian.PutUint32(b, uint32(to-f.from))
		}
	}
	for _, c := range a.catch {
		h := classfile.Handler{Start: uint16(a.labels[c[0]]), End: uint16(a.labels[c[1]]), Handler: uint16(a.labels[c[2]])}
		if len(c) > 3 {
			h.CatchType, a.err = a.class.Pool.AddClass(c[3])
		}
		a.code.Handlers = append(a.code.Handlers, h)
	}
	if len(a.frames) > 0 {
		var w classfile.FrameWriter
		w.Start(nil)
		for _, f := range a.frames {
			a.frame(&w, f)
		}
		maps, err := a.class.NewAttribute(classfile.AttrStackMapTable, w.Finish())
		if err != nil {
			return err
		}
		a.code.Attributes = append(a.code.Attributes, maps)
	}
	attr, err := a.class.NewAttribute(classfile.AttrCode, a.code.Append(nil))
	if err != nil {
		return err
	}
	a.method.Attributes = append(a.method.Attributes, attr)
	return a.err
}

func (a *assembly) frame(w *classfile.FrameWriter, f []string) {
	var lists [2][]classfile.VType
	at := 0
	for _, s := range f[1:] {
		if s == "|" {
			at = 1
			continue
		}
		s, times, ok := strings.Cut(s, "*")
		n := 1
		if ok {
			n = num(times)
		}
		for range n {
			lists[at] = append(lists[at], a.vtype(s))
		}
	}
	w.Frame(a.labels[f[0]], false, lists[0], lists[1])
}

func (a *assembly) vtype(s string) classfile.VType {
	if label, ok := strings.CutPrefix(s, "new@"); ok {
		return classfile.VType{Tag: classfile.VUninitialized, Data: uint16(a.labels[label])}
	}
	if t, ok := map[string]classfile.VTag{"T": classfile.VTop, "N": classfile.VNull, "U": classfile.VUninitializedThis}[s]; ok {
		return classfile.VType{Tag: t}
	}
	t, err := a.class.Pool.VTypeOf(s)
	if err != nil {
		a.err = err
	}
	return t
}
