package vmstructs

// Bounds of what is followed. A structure that changes while it is read may lead in
// circles.
const (
	mostLoaders = 1 << 16
	mostClasses = 1 << 19
	mostMethods = 1 << 16 // of a class
)

// Invoked are the methods that a JVM has invoked. It is safe for concurrent use.
type Invoked struct {
	classes map[string]map[string]struct{} // by name, in all loaders
	methods int
}

// Has reports whether a method had been invoked in a class of that name, in whichever
// loader. The class's name is in internal form, as in "java/lang/Object".
func (v *Invoked) Has(class, name, desc string) bool {
	_, ok := v.classes[class][name+desc]
	return ok
}

// Len is how many methods had been.
func (v *Invoked) Len() int { return v.methods }

// Read asks a JVM's memory. It takes some 40 ms where 27,000 methods are loaded. It wraps
// [ErrUnknown] where the JVM doesn't say, os.ErrPermission where its memory may not be
// read.
func Read(pid int) (*Invoked, error) {
	at, err := library(pid)
	if err != nil {
		return nil, err
	}
	return gather(newMemory(Process(pid)), at)
}

func gather(m *memory, at exported) (*Invoked, error) {
	l, err := newLayout(m, at)
	if err != nil {
		return nil, err
	}
	out := &Invoked{classes: map[string]map[string]struct{}{}}
	l.eachClass(m, func(class uint64) { l.class(m, class, out) })
	if m.err != nil {
		return nil, m.err
	}
	return out, nil
}

// eachClass calls f for the classes of all loaders, except arrays and what is half made.
func (l *layout) eachClass(m *memory, f func(class uint64)) {
	loader := m.u64(l.statics[graphHead])
	classes := 0
	for n := 0; loader != 0 && n < mostLoaders && m.err == nil; n++ {
		class := m.u64(loader + l.offsets["ClassLoaderData::_klasses"])
		for class != 0 && classes < mostClasses && m.err == nil {
			classes++
			if int32(m.u32(class+l.offsets["Klass::_layout_helper"])) > 0 {
				f(class)
			}
			class = m.u64(class + l.offsets["Klass::_next_link"])
		}
		loader = m.u64(loader + l.offsets["ClassLoaderData::_next"])
	}
}

// method is the name of a method and its descriptor, by its ConstMethod; "" where
// there is none.
func (l *layout) method(m *memory, fixed uint64) string {
	pool := m.u64(fixed+l.offsets["ConstMethod::_constants"]) + l.sizes["ConstantPool"]
	name := l.symbol(m, m.u64(pool+8*uint64(m.u16(fixed+l.offsets["ConstMethod::_name_index"]))))
	desc := l.symbol(m, m.u64(pool+8*uint64(m.u16(fixed+l.offsets["ConstMethod::_signature_index"]))))
	if name == "" || desc == "" {
		return ""
	}
	return name + desc
}

// class adds the methods of one class.
func (l *layout) class(m *memory, class uint64, out *Invoked) {
	methods := m.u64(class + l.offsets["InstanceKlass::_methods"])
	n := int(m.u32(methods + l.offsets["Array<int>::_length"]))
	if n <= 0 || n > mostMethods {
		return
	}
	var names map[string]struct{}
	counters := l.offsets["Method::_method_counters"]
	first := methods + l.offsets["Array<Method*>::_data"]
	for i := range uint64(n) {
		method := m.u64(first + 8*i)
		if m.err != nil {
			return
		}
		if method == 0 || m.u64(method+counters) == 0 {
			continue
		}
		key := l.method(m, m.u64(method+l.offsets["Method::_constMethod"]))
		if key == "" {
			continue
		}
		if names == nil {
			of := l.symbol(m, m.u64(class+l.offsets["Klass::_name"]))
			if names = out.classes[of]; names == nil {
				names = map[string]struct{}{}
				out.classes[of] = names
			}
		}
		if _, ok := names[key]; !ok {
			names[key] = struct{}{}
			out.methods++
			m.keep(len(key) + 32)
		}
	}
}

// symbol is a name of the JVM's; classes, methods and descriptors have such.
func (l *layout) symbol(m *memory, at uint64) string {
	n := int(m.u16(at + l.offsets["Symbol::_length"]))
	if at == 0 {
		return ""
	}
	return string(m.bytes(at+l.offsets["Symbol::_body"], n))
}
