package cha

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// NewMirror makes the mirror of a class from its bytes. The name in id counts,
// also for references of the class to itself: a hidden class has another name
// than its file. An error means that the JVM would not load the class either.
func NewMirror(id ClassID, cf *classfile.Class) (*ClassMirror, error) {
	m := &ClassMirror{
		ID:         id,
		Super:      cf.Super(),
		Interfaces: cf.Interfaces(),
		Source:     cf.SourceFile(),
		Access:     uint16(cf.Access),
		Hidden:     cf.Name() != id.Name,
		Methods:    make([]Method, len(cf.Methods)),
	}
	m.Fixed = m.Hidden
	s := mirrorScan{
		cf: cf, name: id.Name,
		calls: map[Call]int{}, inits: map[string]struct{}{}, followed: map[uint16]struct{}{},
		lambdas: map[uint16]Lambda{},
	}
	var err error
	if s.bootstraps, err = cf.BootstrapMethods(); err != nil {
		return nil, err
	}
	s.fields = make(map[string]bool, len(cf.Fields))
	for i := range cf.Fields {
		s.fields[cf.Fields[i].Name] = true
	}
	var code classfile.Code
	for i := range cf.Methods {
		d := &cf.Methods[i]
		m.Methods[i] = Method{Name: d.Name, Desc: d.Desc, Access: uint16(d.Access), Intrinsic: intrinsic(id.Name, cf, d)}
		has, err := cf.ReadCode(d, &code)
		if err == nil && has {
			m.Methods[i].Line = uint16(code.FirstLine())
			err = s.method(&m.Methods[i], code.Bytecode)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", MethodID{id, d.Name, d.Desc}, err)
		}
	}
	for _, i := range slices.Sorted(maps.Keys(s.lambdas)) {
		m.Lambdas = append(m.Lambdas, s.lambdas[i])
	}
	return m, nil
}

// A mirrorScan collects the calls and initializations of one method at a time.
type mirrorScan struct {
	cf         *classfile.Class
	name       string
	bootstraps []classfile.Bootstrap
	fields     map[string]bool // declared by the class
	m          *Method
	calls      map[Call]int // places in m.Calls
	inits      map[string]struct{}
	followed   map[uint16]struct{} // dynamic constants
	likely     bool                // the instruction
	lambdas    map[uint16]Lambda   // by call site constant, of the whole class
}

// callsOf maps the instructions that call.
var callsOf = map[classfile.Op]CallKind{
	classfile.OpInvokevirtual:   Virtual,
	classfile.OpInvokeinterface: Interface,
	classfile.OpInvokespecial:   Special,
	classfile.OpInvokestatic:    Static,
}

// handlesOf maps the method handles that call (JVMS table 5.4.3.5-A). The
// others access fields.
var handlesOf = map[classfile.RefKind]CallKind{
	classfile.RefInvokeVirtual:    Virtual,
	classfile.RefInvokeInterface:  Interface,
	classfile.RefInvokeSpecial:    Special,
	classfile.RefNewInvokeSpecial: Special,
	classfile.RefInvokeStatic:     Static,
}

func (s *mirrorScan) method(m *Method, code []byte) error {
	s.m = m
	m.HasCode = true
	clear(s.calls)
	clear(s.inits)
	clear(s.followed)
	in, on := classfile.Scan(code), newCourse(code)
	for in.Next() {
		s.likely = on.pass(&in.Instr)
		if err := s.instr(&in.Instr); err != nil {
			return fmt.Errorf("at %d: %w", in.Offset, err)
		}
	}
	return in.Err()
}

func (s *mirrorScan) instr(in *classfile.Instr) error {
	i := uint16(in.A)
	switch in.Op {
	case classfile.OpInvokevirtual, classfile.OpInvokeinterface, classfile.OpInvokespecial, classfile.OpInvokestatic:
		ref, err := s.cf.Pool.MemberRef(i)
		if err != nil {
			return err
		}
		kind := callsOf[in.Op]
		s.call(Call{Kind: kind, Owner: ref.Class, Name: ref.Name, Desc: ref.Desc})
		if kind == Static {
			s.init(ref.Class)
		}
	case classfile.OpGetstatic, classfile.OpPutstatic:
		ref, err := s.cf.Pool.MemberRef(i)
		if err != nil {
			return err
		}
		s.field(ref)
	case classfile.OpNew:
		name, err := s.cf.Pool.ClassName(i)
		if err != nil {
			return err
		}
		s.init(name)
	case classfile.OpInvokedynamic:
		return s.dynamic(i)
	case classfile.OpLdc, classfile.OpLdcW, classfile.OpLdc2W:
		return s.constant(i)
	}
	return nil
}

func (s *mirrorScan) call(c Call) {
	if c.Owner == s.cf.Name() {
		c.Owner = s.name
	}
	i, ok := s.calls[c]
	if !ok {
		i = len(s.m.Calls)
		s.calls[c] = i
		s.m.Calls = append(s.m.Calls, c)
		s.m.Likely = append(s.m.Likely, false)
	}
	s.m.Likely[i] = s.m.Likely[i] || s.likely
}

// init notes the initialization of a class. Code of a class runs when the class
// itself is initialized or about to be.
func (s *mirrorScan) init(name string) {
	if name != s.cf.Name() {
		s.initAny(name)
	}
}

func (s *mirrorScan) initAny(name string) {
	if _, ok := s.inits[name]; !ok {
		s.inits[name] = struct{}{}
		s.m.Inits = append(s.m.Inits, name)
	}
}

// field notes the access of a static field. One that is inherited may belong to
// an interface, which the initialization of the class leaves alone (§5.5).
func (s *mirrorScan) field(ref classfile.MemberRef) {
	switch {
	case ref.Class != s.cf.Name():
		s.initAny(ref.Class)
	case !s.fields[ref.Name]:
		s.initAny(s.name)
	}
}

// constant looks into a loadable constant.
func (s *mirrorScan) constant(i uint16) error {
	switch s.cf.Pool.Tag(i) {
	case classfile.TagMethodHandle:
		return s.handle(i)
	case classfile.TagDynamic:
		return s.dynamic(i)
	}
	return nil
}

func (s *mirrorScan) handle(i uint16) error {
	mh, err := s.cf.Pool.MethodHandle(i)
	if err != nil {
		return err
	}
	if c, ok := s.handleCall(mh); ok {
		s.call(c)
	}
	switch mh.Kind {
	case classfile.RefInvokeStatic, classfile.RefNewInvokeSpecial:
		s.init(mh.Ref.Class)
	case classfile.RefGetStatic, classfile.RefPutStatic:
		s.field(mh.Ref)
	}
	return nil
}

func (s *mirrorScan) handleCall(mh classfile.MethodHandle) (c Call, ok bool) {
	kind, ok := handlesOf[mh.Kind]
	c = Call{Kind: Handle, Ref: kind, Owner: mh.Ref.Class, Name: mh.Ref.Name, Desc: mh.Ref.Desc}
	if c.Owner == s.cf.Name() {
		c.Owner = s.name
	}
	return c, ok
}

// dynamic follows a call site or dynamic constant into its bootstrap row, once
// in a method: the arguments may be dynamic constants in turn, and nobody has
// checked that they form no circle (§4.7.23).
func (s *mirrorScan) dynamic(i uint16) error {
	if _, ok := s.followed[i]; ok {
		return nil
	}
	s.followed[i] = struct{}{}
	d, err := s.cf.Pool.Dynamic(i)
	if err != nil {
		return err
	}
	if d.Bootstrap >= len(s.bootstraps) {
		return fmt.Errorf("no bootstrap method %d (JVMS §4.7.23)", d.Bootstrap)
	}
	row := s.bootstraps[d.Bootstrap]
	mh, err := s.cf.Pool.MethodHandle(row.Handle)
	if err != nil {
		return err
	}
	desc := d.Desc
	if d.Kind == classfile.TagDynamic {
		desc = "()" + desc
	}
	if mh.Ref.Class == lambdaMetafactory {
		if err := s.lambda(i, &d, row.Args); err != nil {
			return err
		}
	}
	s.call(Call{Kind: Dynamic, Owner: mh.Ref.Class, Name: mh.Ref.Name, Desc: desc})
	if err := s.handle(row.Handle); err != nil {
		return err
	}
	for _, arg := range row.Args {
		if err := s.constant(arg); err != nil {
			return err
		}
	}
	return nil
}

// Arguments of LambdaMetafactory.altMetafactory, after the three that it shares
// with metafactory.
const (
	lambdaMetafactory = "java/lang/invoke/LambdaMetafactory"
	flagMarkers       = 1 << 1
	flagBridges       = 1 << 2
)

// lambda notes the object that a call site of LambdaMetafactory makes.
func (s *mirrorScan) lambda(i uint16, d *classfile.Dynamic, args []uint16) error {
	_, typ, ok := strings.Cut(d.Desc, ")L")
	if !ok || len(args) < 3 {
		return nil // the JVM will refuse to link it
	}
	pool := &s.cf.Pool
	desc, err := pool.MethodType(args[0])
	if err != nil {
		return err
	}
	mh, err := pool.MethodHandle(args[1])
	if err != nil {
		return err
	}
	l := Lambda{Interfaces: []string{strings.TrimSuffix(typ, ";")}, Name: d.Name, Descs: []string{desc}}
	if l.Impl, ok = s.handleCall(mh); !ok {
		return nil
	}
	s.lambdas[i] = l
	if args = args[3:]; len(args) == 0 {
		return nil
	}
	flags, err := pool.Integer(args[0])
	if err != nil {
		return err
	}
	args = args[1:]
	if flags&flagMarkers != 0 {
		if args, err = s.counted(args, pool.ClassName, &l.Interfaces); err != nil {
			return err
		}
	}
	if flags&flagBridges != 0 {
		if _, err = s.counted(args, pool.MethodType, &l.Descs); err != nil {
			return err
		}
	}
	s.lambdas[i] = l
	return nil
}

// counted appends what get makes of a counted list of arguments, each once, and
// returns the arguments behind it.
func (s *mirrorScan) counted(args []uint16, get func(uint16) (string, error), to *[]string) ([]uint16, error) {
	if len(args) == 0 {
		return nil, nil
	}
	n, err := s.cf.Pool.Integer(args[0])
	if err != nil {
		return nil, err
	}
	args = args[1:]
	for ; n > 0 && len(args) > 0; n, args = n-1, args[1:] {
		v, err := get(args[0])
		if err != nil {
			return nil, err
		}
		if !slices.Contains(*to, v) {
			*to = append(*to, v)
		}
	}
	return args, nil
}
