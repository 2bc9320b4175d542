package chatest

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/rivulet-profiler/rivulet/cha"
)

// A Site is a call in a method of a World.
type Site struct {
	In   *Class
	Call cha.Call
}

// Sites returns the calls of all methods.
func (w *World) Sites() []Site {
	var ss []Site
	for _, c := range w.Classes {
		for _, m := range c.Methods {
			for _, call := range m.Calls {
				ss = append(ss, Site{c, call})
			}
		}
	}
	return ss
}

// Logger is the class whose static method hit(int) the methods of emitted
// classes call, with their place in [World.Numbered].
const Logger = "run/Worlds"

// Numbered returns the methods of the world by their number.
func (w *World) Numbered() []*Method {
	var ms []*Method
	for _, c := range w.Classes[1:] {
		ms = append(ms, c.Methods...)
	}
	return ms
}

// Emit returns the class file of a class, version 52. Its methods only say that
// they run. For each of the sites that is in the class it has a method
// site<number>(Object) that makes the call, with the argument as receiver where
// it needs one.
func (w *World) Emit(c *Class, sites []Site) []byte {
	e := emitter{index: map[string]uint16{}}
	numbers := map[*Method]int{}
	for i, m := range w.Numbered() {
		numbers[m] = i
	}
	count := 0
	var methods []byte
	add := func(access uint16, name, desc string, code []byte) {
		count++
		methods = be2(methods, access, e.utf8(name), e.utf8(desc))
		if code == nil {
			methods = be2(methods, 0)
			return
		}
		methods = be2(methods, 1, e.utf8("Code"))
		methods = binary.BigEndian.AppendUint32(methods, uint32(12+len(code)))
		methods = be2(methods, 4, 4)
		methods = binary.BigEndian.AppendUint32(methods, uint32(len(code)))
		methods = be2(append(methods, code...), 0, 0)
	}
	for _, m := range c.Methods {
		var code []byte
		if m.Access&(abstract|native) == 0 {
			code = be2([]byte{sipush}, uint16(numbers[m]))
			code = e.ref(code, invokestatic, Logger, "hit", "(I)V", false)
			if m.Name == "<init>" { // which says that it runs before its superclass's does
				code = e.ref(append(code, aload0), invokespecial, c.Super.ID.Name, m.Name, m.Desc, false)
			}
			code = append(code, returnOp)
		}
		add(m.Access, m.Name, m.Desc, code)
	}
	for i, s := range sites {
		if s.In == c {
			add(Public|static, siteName(i), "(Ljava/lang/Object;)V", e.site(w, s))
		}
	}
	body := be2(nil, c.Access|0x0020, e.class(c.ID.Name), e.class(c.Super.ID.Name), uint16(len(c.Interfaces)))
	if c.Interface() {
		body = be2(nil, c.Access, e.class(c.ID.Name), e.class(c.Super.ID.Name), uint16(len(c.Interfaces)))
	}
	for _, i := range c.Interfaces {
		body = be2(body, e.class(i.ID.Name))
	}
	body = be2(body, 0, uint16(count))
	body = be2(append(body, methods...), 0)
	out := be2([]byte{0xca, 0xfe, 0xba, 0xbe}, 0, 52, uint16(e.n+1))
	return append(append(out, e.pool.Bytes()...), body...)
}

// Opcodes (JVMS §6.5).
const (
	iconst0         = 3
	sipush          = 17
	aload0          = 42
	dup             = 89
	pop             = 87
	returnOp        = 177
	invokevirtual   = 182
	invokespecial   = 183
	invokestatic    = 184
	invokeinterface = 185
	newOp           = 187
	checkcast       = 192
)

// An emitter makes the constants of a class.
type emitter struct {
	pool  bytes.Buffer
	n     int
	index map[string]uint16
}

func be2(b []byte, vs ...uint16) []byte {
	for _, v := range vs {
		b = binary.BigEndian.AppendUint16(b, v)
	}
	return b
}

func (e *emitter) constant(b []byte) uint16 {
	if i, ok := e.index[string(b)]; ok {
		return i
	}
	e.n++
	e.pool.Write(b)
	e.index[string(b)] = uint16(e.n)
	return uint16(e.n)
}

func (e *emitter) utf8(s string) uint16 {
	return e.constant(append(be2([]byte{1}, uint16(len(s))), s...))
}

func (e *emitter) class(name string) uint16 { return e.constant(be2([]byte{7}, e.utf8(name))) }

// ref appends an instruction that calls.
func (e *emitter) ref(code []byte, op byte, owner, name, desc string, inInterface bool) []byte {
	tag := byte(10)
	if inInterface {
		tag = 11
	}
	pair := e.constant(be2([]byte{12}, e.utf8(name), e.utf8(desc)))
	return be2(append(code, op), e.constant(be2([]byte{tag}, e.class(owner), pair)))
}

// site makes the code of a call.
func (e *emitter) site(w *World, s Site) []byte {
	c := s.Call
	owner := w.Find(s.In.ID.Loader, c.Owner)
	cast := func(name string) []byte { return be2([]byte{aload0, checkcast}, e.class(name)) }
	var code []byte
	op := byte(invokevirtual)
	words := byte(1)
	switch how := c.How(); {
	case c.Name == "<init>":
		code = append(be2([]byte{newOp}, e.class(c.Owner)), dup)
		op = invokespecial
	case how == cha.Static:
		op = invokestatic
		words = 0
	case how == cha.Special:
		code = cast(s.In.ID.Name)
		op = invokespecial
	default:
		code = cast(c.Owner)
		if owner.Interface() {
			op = invokeinterface
		}
	}
	if c.Desc == "(I)V" {
		code = append(code, iconst0)
		words++
	}
	code = e.ref(code, op, c.Owner, c.Name, c.Desc, owner.Interface())
	if op == invokeinterface {
		code = append(code, words, 0)
	}
	if c.Name == "<init>" {
		code = append(code, pop)
	}
	return append(code, returnOp)
}

// siteName is the name of the method that makes call i of a world.
func siteName(i int) string { return fmt.Sprint("site", i) }

// WorldRunner is the source of Logger. Its main reads a list of classes and
// calls from standard input (see cha.TestReal) and prints, for each receiver,
// what ran: "site receiver method".
const WorldRunner = `
package run;
import java.io.*;
import java.lang.reflect.*;
import java.util.*;
public class Worlds {
    static int first;
    public static void hit(int method) { if (first < 0) first = method; }

    static class L extends ClassLoader {
        final Map<String, byte[]> own = new HashMap<>();
        L(ClassLoader parent) { super(parent); }
        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            Class<?> c = findLoadedClass(name);
            if (c != null) return c;
            byte[] b = own.get(name);
            return b == null ? super.loadClass(name, resolve) : defineClass(name, b, 0, b.length);
        }
    }

    public static void main(String[] args) throws Exception {
        Field f = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe");
        f.setAccessible(true);
        Object unsafe = f.get(null);
        Method allocate = unsafe.getClass().getMethod("allocateInstance", Class.class);
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in));
        PrintStream out = new PrintStream(new BufferedOutputStream(System.out));
        for (int worlds = in.readInt(), w = 0; w < worlds; w++) {
            L one = new L(Worlds.class.getClassLoader());
            L[] loaders = {null, one, new L(one), new L(one)};
            int n = in.readInt();
            int[] loader = new int[n];
            String[] name = new String[n];
            for (int i = 0; i < n; i++) {
                loader[i] = in.readInt();
                name[i] = in.readUTF().replace('/', '.');
                byte[] b = new byte[in.readInt()];
                in.readFully(b);
                loaders[loader[i]].own.put(name[i], b);
            }
            Object[] objects = new Object[n];
            Class<?>[] classes = new Class<?>[n];
            for (int i = 0; i < n; i++) {
                try {
                    classes[i] = Class.forName(name[i], true, loaders[loader[i]]);
                    if (!classes[i].isInterface() && !Modifier.isAbstract(classes[i].getModifiers())) objects[i] = allocate.invoke(unsafe, classes[i]);
                } catch (LinkageError e) {
                    out.println("REFUSED " + w + " " + i + " " + e);
                }
            }
            for (int i = 0; i < n; i++) {
                if (classes[i] == null) continue;
                Method[] ms;
                try {
                    ms = classes[i].getDeclaredMethods();
                } catch (LinkageError e) {
                    continue;
                }
                for (Method m : ms) {
                    if (!m.getName().startsWith("site")) continue;
                    for (int x = 0; x < n; x++) {
                        if (objects[x] == null) continue;
                        first = -1;
                        try {
                            m.invoke(null, objects[x]);
                        } catch (InvocationTargetException e) {
                            if (!(e.getCause() instanceof ClassCastException || e.getCause() instanceof LinkageError)) throw e;
                        }
                        if (first >= 0) out.println("RAN " + w + " " + m.getName().substring(4) + " " + x + " " + first);
                    }
                }
            }
        }
        out.println("END");
        out.flush();
    }
}
`
