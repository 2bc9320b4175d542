package vmstructs

import "fmt"

// A Loader is a class loader of a JVM. Its zero value is the bootstrap loader.
type Loader struct {
	Number int    // from 1 on, by the order in which the JVM lists them
	Class  string // its class's name in internal form
	Hash   uint32 // its identity hash; 0 if nobody has asked for it yet
}

// A Class is a loaded class or interface, no array.
type Class struct {
	Name    string // in internal form; of a hidden class as the JVM has it, "shop/Main$$Lambda+0x0000"
	Loader  Loader
	Methods []Method // with initializers
}

// A Method is one that a class declares.
type Method struct {
	Name, Desc string
	Access     uint16 // JVMS §4.6
	Code       int    // bytes of its bytecode; 0 where it has none
}

// Classes lists the loaded classes of a JVM with their loaders and methods, from its
// memory. It takes some 100 ms where 100,000 methods are loaded. Its errors are those of
// [Read]; [ErrUnknown] also where a collector moves objects behind pointers that only the
// JVM can read (ZGC), and where headers of objects are compact.
func Classes(pid int) ([]Class, error) {
	at, err := library(pid)
	if err != nil {
		return nil, err
	}
	m := newMemory(Process(pid))
	set, err := flags(m, at, []string{"UseZGC", "UseCompactObjectHeaders", "UseCompressedClassPointers"})
	if err != nil {
		return nil, err
	}
	if set["UseZGC"] != 0 || set["UseCompactObjectHeaders"] != 0 {
		return nil, fmt.Errorf("%w: its objects can't be read from outside (ZGC, compact headers)", ErrUnknown)
	}
	l, err := newLayout(m, at)
	if err != nil {
		return nil, err
	}
	c := &classReader{layout: l, m: m, loaders: map[uint64]Loader{}, narrow: set["UseCompressedClassPointers"] != 0}
	if err := c.prepare(); err != nil {
		return nil, err
	}
	return c.all()
}

// A classReader reads classes.
type classReader struct {
	*layout
	m       *memory
	loaders map[uint64]Loader // by the object's address
	narrow  bool              // an object has its class as 32 bits
	base    uint64            // of such
	shift   uint64

	loader, class, access, code uint64 // offsets
}

// prepare finds what is needed beside what [Read] needs.
func (c *classReader) prepare() error {
	var ok [4]bool
	c.loader, ok[0] = c.Offset("ClassLoaderData::_class_loader")
	c.access, ok[1] = c.Offset("Method::_access_flags")
	c.class, ok[2] = c.Offset("oopDesc::_metadata._klass")
	c.code, ok[3] = c.Offset("ConstMethod::_code_size")
	if c.narrow {
		c.class, ok[2] = c.Offset("oopDesc::_metadata._compressed_klass")
		base, known := c.Static("CompressedKlassPointers::_base", "CompressedKlassPointers::_narrow_klass._base", "Universe::_narrow_klass._base")
		shift, too := c.Static("CompressedKlassPointers::_shift", "CompressedKlassPointers::_narrow_klass._shift", "Universe::_narrow_klass._shift")
		if !known || !too {
			return fmt.Errorf("%w: no compressed class pointers", ErrUnknown)
		}
		c.base, c.shift = c.m.u64(base), uint64(c.m.u32(shift)&63)
	}
	if ok != [4]bool{true, true, true, true} {
		return fmt.Errorf("%w: no class loaders or sizes of methods", ErrUnknown)
	}
	return c.m.err
}

// all walks through the loaders.
func (c *classReader) all() (out []Class, err error) {
	data := c.m.u64(c.statics[graphHead])
	for n := 0; data != 0 && n < mostLoaders && c.m.err == nil; n++ {
		loader, err := c.loaderOf(data)
		if err != nil {
			return nil, err
		}
		class := c.m.u64(data + c.offsets["ClassLoaderData::_klasses"])
		for class != 0 && len(out) < mostClasses && c.m.err == nil {
			if int32(c.m.u32(class+c.offsets["Klass::_layout_helper"])) > 0 {
				out = append(out, Class{Name: c.symbol(c.m, c.m.u64(class+c.offsets["Klass::_name"])), Loader: loader, Methods: c.methods(class)})
			}
			class = c.m.u64(class + c.offsets["Klass::_next_link"])
		}
		data = c.m.u64(data + c.offsets["ClassLoaderData::_next"])
	}
	return out, c.m.err
}

// loaderOf is the loader of a list of classes; hidden classes have lists of their own.
func (c *classReader) loaderOf(data uint64) (Loader, error) {
	handle := c.m.u64(data + c.loader)
	if handle == 0 {
		return Loader{}, c.m.err
	}
	object := c.m.u64(handle)
	if object == 0 {
		return Loader{}, c.m.err
	}
	if l, ok := c.loaders[object]; ok {
		return l, nil
	}
	class := c.m.u64(object + c.class)
	if c.narrow {
		class = c.base + uint64(c.m.u32(object+c.class))<<c.shift
	}
	name := c.symbol(c.m, c.m.u64(class+c.offsets["Klass::_name"]))
	if c.m.err != nil {
		return Loader{}, c.m.err
	}
	if name == "" {
		return Loader{}, fmt.Errorf("%w: a class loader without a class", ErrUnknown)
	}
	l := Loader{Number: len(c.loaders) + 1, Class: name, Hash: identity(c.m.u64(object))}
	c.loaders[object] = l
	return l, nil
}

// identity is the hash in an object's header (markWord.hpp), 0 where there is none, or
// the header is elsewhere since a thread has the object's monitor.
func identity(header uint64) uint32 {
	const lock, unlocked, shift, mask = 7, 1, 8, 1<<31 - 1
	if header&lock != unlocked {
		return 0
	}
	return uint32(header >> shift & mask)
}

func (c *classReader) methods(class uint64) (out []Method) {
	methods := c.m.u64(class + c.offsets["InstanceKlass::_methods"])
	n := int(c.m.u32(methods + c.offsets["Array<int>::_length"]))
	if n <= 0 || n > mostMethods {
		return nil
	}
	first := methods + c.offsets["Array<Method*>::_data"]
	for i := range uint64(n) {
		method := c.m.u64(first + 8*i)
		if c.m.err != nil {
			return nil
		}
		if method == 0 {
			continue
		}
		fixed := c.m.u64(method + c.offsets["Method::_constMethod"])
		name, desc := c.names(fixed)
		if name == "" || desc == "" {
			continue
		}
		c.m.keep(len(name) + len(desc) + 64)
		if c.m.err != nil {
			return nil
		}
		out = append(out, Method{Name: name, Desc: desc, Access: c.m.u16(method + c.access), Code: int(c.m.u16(fixed + c.code))})
	}
	return out
}

// names are a method's name and descriptor, by its ConstMethod.
func (c *classReader) names(fixed uint64) (name, desc string) {
	pool := c.m.u64(fixed+c.offsets["ConstMethod::_constants"]) + c.sizes["ConstantPool"]
	name = c.symbol(c.m, c.m.u64(pool+8*uint64(c.m.u16(fixed+c.offsets["ConstMethod::_name_index"]))))
	desc = c.symbol(c.m, c.m.u64(pool+8*uint64(c.m.u16(fixed+c.offsets["ConstMethod::_signature_index"]))))
	return name, desc
}
