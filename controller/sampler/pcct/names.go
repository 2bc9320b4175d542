package pcct

import (
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// Loaders of frames that are no Java methods; Java methods have none, since a
// sample doesn't say.
const (
	NativeLoader  = "native"  // a function of a library, the JVM's own
	KernelLoader  = "kernel"  // a function of the kernel
	SamplerLoader = "sampler" // no function: "(callers not known)" and the like
)

// names gives numbers to methods. Two methods of one name and loader have one
// number, such as a hidden class's in several copies.
type names struct {
	byMethod map[*stack.Method]int32
	byKey    map[cct.MethodKey]int32
	all      []cct.Method
}

func newNames() names {
	return names{byMethod: map[*stack.Method]int32{}, byKey: map[cct.MethodKey]int32{}}
}

// mostPointers bounds byMethod: a source that makes a Method for each sample must not fill memory.
const mostPointers = 1 << 20

func (n *names) of(f *stack.Frame) int32 {
	if f.Method == nil {
		return n.named("(unknown)", SamplerLoader)
	}
	if id, ok := n.byMethod[f.Method]; ok {
		return id
	}
	id := n.named(nameOf(f))
	if len(n.byMethod) >= mostPointers {
		clear(n.byMethod)
	}
	n.byMethod[f.Method] = id
	return id
}

func (n *names) named(name, loader string) int32 {
	k := cct.MethodKey{Name: name, Loader: loader}
	id, ok := n.byKey[k]
	if !ok {
		id = int32(len(n.all))
		n.byKey[k] = id
		n.all = append(n.all, cct.Method{Name: name, Loader: loader})
	}
	return id
}

// nameOf is a frame's method as reports have it.
func nameOf(f *stack.Frame) (name, loader string) {
	m := f.Method
	switch {
	case m.Class != "":
		return strings.ReplaceAll(ClassName(m.Class), "/", ".") + "." + m.Name + m.Desc, ""
	case f.Kind == stack.Kernel:
		return m.Name, KernelLoader
	}
	return m.Name, NativeLoader
}

// ClassName is the name of a class without the number that the JVM gives to hidden
// classes, "Shop$$Lambda" of "Shop$$Lambda+0x00007f2010" and "Shop$$Lambda$14/0x7f20",
// so that the same code has the same name in another run.
func ClassName(class string) string {
	for _, mark := range []string{"+0x", "/0x", ".0x"} {
		if at := strings.LastIndex(class, mark); at > 0 && isHex(class[at+len(mark):]) {
			class = class[:at]
			break
		}
	}
	if at := strings.Index(class, "$$Lambda$"); at > 0 { // up to JDK 20, with a running number
		rest := class[at+len("$$Lambda$"):]
		if number, _, _ := strings.Cut(rest, "/"); strings.Trim(number, "0123456789") == "" {
			class = class[:at+len("$$Lambda")]
		}
	}
	return class
}

func isHex(s string) bool { return s != "" && strings.Trim(s, "0123456789abcdefABCDEF") == "" }

// ownThreads name what the JVM's own threads do, by how their names begin; the
// first that fits. Kernels cut names to 15 bytes.
var ownThreads = []struct{ prefix, what string }{
	{"C1 Comp", "(JIT compiler C1)"},
	{"C2 Comp", "(JIT compiler C2)"},
	{"JVMCI", "(JIT compiler)"},
	{"Sweeper", "(code cache sweeper)"},
	{"GC Thread", "(garbage collector)"},
	{"GC task", "(garbage collector)"},
	{"G1 ", "(garbage collector)"},
	{"Z", "(garbage collector)"},
	{"Shenandoah", "(garbage collector)"},
	{"Concurrent Mark", "(garbage collector)"},
	{"ParGC", "(garbage collector)"},
	{"VM Thread", "(VM operations)"},
	{"VM Periodic", "(VM periodic tasks)"},
	{"Monitor Defl", "(monitor deflation)"},
	{"Service Thr", "(JVM service thread)"},
	{"Signal Disp", "(JVM signal dispatcher)"},
	{"Attach Listener", "(attach listener)"},
}

// ownThread is the entry for a thread without frames.
func (n *names) ownThread(s *stack.Stack) int32 {
	for _, o := range ownThreads {
		if strings.HasPrefix(s.Thread, o.prefix) {
			return n.named(o.what, SamplerLoader)
		}
	}
	if s.Java {
		return n.named("(no Java frames)", SamplerLoader)
	}
	return n.named("(native thread)", SamplerLoader)
}

// monitor is the entry for what a thread waits for.
func (n *names) monitor(s *stack.Stack) int32 {
	class := strings.ReplaceAll(ClassName(s.Monitor), "/", ".")
	if s.State == stack.Waiting {
		return n.named("(waits at a "+class+")", SamplerLoader)
	}
	return n.named("(blocked by the monitor of a "+class+")", SamplerLoader)
}

// beyond is the entry for outer frames that are not known.
func (n *names) beyond() int32 { return n.named("(callers not known)", SamplerLoader) }
