package verify_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/verify"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// judge defines and links each class of a file in a loader of its own, and
// prints what the JVM says: A accepted, R refused, N something else is missing.
const judge = `
import java.io.*;
public class Judge {
    static class One extends ClassLoader {
        final String name; final byte[] b;
        One(String name, byte[] b) { super(Judge.class.getClassLoader()); this.name = name; this.b = b; }
        @Override protected Class<?> loadClass(String n, boolean resolve) throws ClassNotFoundException {
            if (!n.equals(name)) return super.loadClass(n, resolve);
            Class<?> c = findLoadedClass(n);
            return c != null ? c : defineClass(n, b, 0, b.length);
        }
    }
    public static void main(String[] args) throws Exception {
        StringBuilder out = new StringBuilder();
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(new FileInputStream(args[0])))) {
            for (int n = in.readInt(); n > 0; n--) {
                String name = in.readUTF().replace('/', '.');
                byte[] b = new byte[in.readInt()];
                in.readFully(b);
                try {
                    Class.forName(name, false, new One(name, b)).getDeclaredMethods();
                    out.append("A\n");
                } catch (VerifyError | ClassFormatError e) {
                    out.append("R ").append(e.getMessage().split("\n")[0]).append('\n');
                } catch (Throwable e) {
                    out.append("N ").append(e.toString().split("\n")[0]).append('\n');
                }
            }
        }
        System.out.print(out);
    }
}`

// judged is the hierarchy as the judge sees it: a loader of its own defines the
// class that is judged, so every other class is in another runtime package, and
// those that name it as their superclass mean its twin in the parent loader.
type judged struct {
	verify.Classes
	class string
}

const twin = "twin of "

func (j judged) Class(name string) (super string, isInterface, ok bool) {
	super, isInterface, ok = j.Classes.Class(strings.TrimPrefix(name, twin))
	if super == j.class {
		super = twin + super
	}
	return super, isInterface, ok
}

func (j judged) Protected(class, name, desc string) (string, bool) {
	declarer, ok := j.Classes.Protected(class, name, desc)
	return "elsewhere/" + declarer, ok
}

// A mutant is a class with something wrong in one method, perhaps.
type mutant struct {
	class *classfile.Class
	at    int // the method
	bytes []byte
	what  string
}

// TestHotSpot lets HotSpot and us judge methods with a few bytes of code,
// tables or stack maps changed. RIVULET_MUTANTS sets how many; RIVULET_SEED
// repeats a run. A long run also uses the jars of the bench folder.
func TestHotSpot(t *testing.T) {
	n := 2000
	if s := os.Getenv("RIVULET_MUTANTS"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	r := rand.New(rand.NewPCG(classtest.Seed(t), 0))
	home := classtest.Home(t)
	h, pool, cp := subjects(t, home)
	mutants := make([]mutant, 0, n)
	var inferred []classtest.Class
	for _, c := range pool {
		if c.Bytes[7] < classfile.MajorStackMaps {
			inferred = append(inferred, c)
		}
	}
	for len(mutants) < n {
		from := pool
		if r.IntN(2) == 0 {
			from = inferred
		}
		if m, ok := mutate(from[r.IntN(len(from))], r); ok {
			mutants = append(mutants, m)
		}
	}
	verdicts := hotspot(t, home, cp, mutants)
	counts, why := map[string]int{}, map[string]int{}
	for i, m := range mutants {
		ours := "A"
		err := ourVerdict(m, judged{h, m.class.Name()})
		if err != nil {
			ours = "R"
		}
		theirs := verdicts[i][:1]
		words := strings.Fields(verdicts[i])
		why[strings.Join(words[1:min(len(words), 6)], " ")]++
		if errors.Is(err, verify.ErrSubroutines) {
			theirs = "N" // a goto became a jsr in an old class
		}
		if i%50 == 0 && os.Getenv("RIVULET_SHOW") != "" {
			t.Logf("%v | %s | %s", err, verdicts[i], m.what)
		}
		counts[ours+theirs]++
		if theirs != "N" && ours != theirs {
			t.Errorf("mutant %d: we say %v, HotSpot says %s (%s)", i, err, verdicts[i], m.what)
			if dir := os.Getenv("RIVULET_KEEP"); dir != "" {
				os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".class")), m.bytes, 0o644)
			}
		}
	}
	t.Logf("HotSpot's reasons: %v", why)
	t.Logf("both accept %d, both refuse %d, only we refuse %d, only HotSpot refuses %d, no verdict %d",
		counts["AA"], counts["RR"], counts["RA"], counts["AR"], counts["AN"]+counts["RN"])
}

// oldSource is for javac at the level of Java 5, whose classes have no stack
// maps.
const oldSource = `
import java.util.*;
public class Old {
    static abstract class Shape implements Comparable<Shape> {
        protected double size; final String name;
        Shape(String n, double s) { this(n == null ? "none" : n, s, n != null && s > 0); }
        Shape(String n, double s, boolean ok) { name = ok ? n : n + "!"; size = s; }
        abstract double area();
        public int compareTo(Shape o) { return area() < o.area() ? -1 : area() > o.area() ? 1 : 0; }
    }
    static class Circle extends Shape { Circle(double r) { super("circle", r); } double area() { return Math.PI * size * size; } }
    static class Square extends Shape implements Cloneable {
        Square(double a) { super(a > 3 ? "big" : "small", a); } double area() { return size * size; }
        public Square clone() { try { return (Square) super.clone(); } catch (CloneNotSupportedException e) { throw new Error(e); } }
    }
    class Inner { long n; Inner(long n) { this.n = n + total; } long get() { return n += total; } }
    long total; int[][] grid = new int[4][5];
    static Object pick(int i) { return i == 0 ? (Object) new ArrayList<String>() : i == 1 ? new LinkedList<String>() : i == 2 ? new int[3] : new Integer[i]; }
    static Number num(boolean a) { Number n; if (a) n = Integer.valueOf(1); else n = Double.valueOf(2); return n; }
    static Collection<?> both(boolean a) { AbstractCollection<String> c; if (a) c = new ArrayList<String>(); else c = new HashSet<String>(); return c; }
    long loop(int n, String s) {
        long sum = 0; double d = 1.5; float f = 2;
        outer:
        for (int i = 0; i < n; i++) {
            for (int j = n; j > i; j--) { if ((i ^ j) == 7) continue outer; if (sum > 1000000) break outer; sum += grid[i & 3][j % 5]; }
            switch (i) { case 1: sum++; case 2: d *= sum; break; case 1000: f -= d; break; case -5: return (long) f; default: sum ^= (long) d; }
            String t = s + i; Object o = i > 3 ? t : null; if (o != null) sum += o.hashCode();
        }
        return sum + (long) d + (int) f;
    }
    int tries(int n) {
        int k = n; Shape s = null; Object lock = this;
        try { if (n > 3) throw new IllegalStateException("x"); s = new Circle(n); k += s.compareTo(new Square(2)); }
        catch (IllegalStateException e) { k = e.getMessage().length(); s = new Square(n); }
        catch (RuntimeException e) { k = -1; }
        finally { total += k; }
        synchronized (lock) { k += s == null ? 0 : (int) s.area(); }
        return k;
    }
    static <T extends Comparable<T>> T max(List<T> ts) { T best = null; for (T t : ts) if (best == null || t.compareTo(best) > 0) best = t; return best; }
    static char[] chars(byte[] b, short[] s, boolean[] z) { char[] c = new char[b.length]; for (int i = 0; i < b.length; i++) { c[i] = (char) b[i]; s[i] = (short) c[i]; z[i] = !z[i]; b[i] = (byte) i; } return c; }
    static long bits(long a, int n) { return (a << n | a >>> 64 - n) & ~(a >> 1) ^ -a; }
    static float mix(int i, long l, float f, double d) { f = f > d ? i : l; d = f % 3; i = (int) (l / 2); return (float) (f * d - i + (l > i ? 1f : 0)); }
    Runnable anon(final int x) { return new Runnable() { int y = x; public void run() { total += x + y; } }; }
    public static void main(String[] a) { Old o = new Old(); System.out.println(o.loop(9, "q") + o.tries(5) + o.new Inner(3).get() + "" + max(Arrays.asList(1, 2)) + pick(1)); }
}
`

// subjects returns classes to mutate, the hierarchy that they live in and
// their class path.
func subjects(t *testing.T, home string) (verify.Classes, []classtest.Class, string) {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("..", "..", "probe", "testdata", "Behave.java"))
	if err != nil {
		t.Fatal(err)
	}
	truth, err := os.ReadFile(filepath.Join("..", "..", "probe", "testdata", "Truth.java"))
	if err != nil {
		t.Fatal(err)
	}
	big := "public class Big { static int wide(int n) { return n; } static int huge(int n) { return n; } static int many(int n) { return n; } static int chain(int n) { return n; } static int near(int n) { return n; } }"
	cp := classtest.Compile(t, home, map[string]string{"Behave.java": string(src), "Truth.java": string(truth), "Big.java": big})
	pool := classtest.ReadDir(t, cp)
	// Half of the mutants come from classes that JDK 17 verifies by inference.
	old := classtest.Compile(t, jvmtest.Need(t, 8).Home, map[string]string{"Old.java": oldSource}, "-source", "1.5", "-target", "1.5")
	pool = append(pool, classtest.ReadDir(t, old)...)
	cp += ":" + old
	patterns := []string{"batik-*1.16.jar", "xalan2.jar", "h2.jar", "sunflow.jar", "janino.jar", "serializer.jar"}
	if os.Getenv("RIVULET_MUTANTS") == "" {
		patterns = nil // a short run
	}
	for _, pattern := range patterns {
		jars, _ := filepath.Glob(filepath.Join(classtest.Bench(), "root", "usr", "share", "java", pattern))
		for _, j := range jars {
			pool = append(pool, classtest.Read(t, j)...)
			cp += ":" + j
		}
	}
	h := verify.Classes{}
	known := []string{classtest.JavaBase(home)}
	if len(patterns) > 0 {
		more, _ := filepath.Glob(filepath.Join(classtest.Bench(), "root", "usr", "share", "java", "*.jar")) // named in manifests
		known = append(more, classtest.Archives(t, home)...)
	}
	for _, cf := range append(classtest.Read(t, known...), pool...) {
		if c, err := classfile.Parse(cf.Bytes); err == nil {
			h.Add(c)
		}
	}
	return h, accepted(t, home, cp, pool), cp
}

// accepted returns the classes that HotSpot accepts when a loader of its own
// defines each: not those that use protected members of their package.
func accepted(t *testing.T, home, cp string, pool []classtest.Class) (good []classtest.Class) {
	t.Helper()
	var ms []mutant
	for _, cf := range pool {
		if c, err := classfile.Parse(cf.Bytes); err == nil && c.Name() == cf.Name {
			ms = append(ms, mutant{class: c, bytes: cf.Bytes})
		}
	}
	for i, v := range hotspot(t, home, cp, ms) {
		if v == "A" {
			good = append(good, classtest.Class{Name: ms[i].class.Name(), Bytes: ms[i].bytes})
		}
	}
	t.Logf("%d of %d classes accepted as they are", len(good), len(ms))
	return good
}

// mutate changes one method of a class.
func mutate(cf classtest.Class, r *rand.Rand) (mutant, bool) {
	c, err := classfile.Parse(cf.Bytes)
	if err != nil || len(c.Methods) == 0 || c.Name() == "module-info" {
		return mutant{}, false
	}
	at := r.IntN(len(c.Methods))
	m := &c.Methods[at]
	a := m.Attribute(classfile.AttrCode)
	if a == nil {
		return mutant{}, false
	}
	a.Info = append([]byte(nil), a.Info...)
	code, err := c.Code(m) // shares memory with a.Info
	if err != nil {
		return mutant{}, false
	}
	what := fmt.Sprintf("%s.%s%s", c.Name(), m.Name, m.Desc)
	for range 1 + r.IntN(2) {
		what += change(a, code, r)
	}
	return mutant{c, at, c.Bytes(), what}, true
}

// change makes one change and says which.
func change(a *classfile.Attribute, code *classfile.Code, r *rand.Rand) string {
	maps := code.Attribute(classfile.AttrStackMapTable)
	switch k := r.IntN(40); {
	case k >= 20: // an opcode for a like one, or another constant or slot
		ins := instructions(code.Bytecode)
		in := ins[r.IntN(len(ins))]
		at := in.Offset + r.IntN(in.Size)
		code.Bytecode[at] = byte(int(code.Bytecode[at]) + 1 - 2*r.IntN(2))
		return fmt.Sprintf(", %s at %d byte %d now %d", in.Op, in.Offset, at, code.Bytecode[at])
	case k < 5 && maps != nil: // a byte of the stack maps
		i := r.IntN(len(maps.Info))
		maps.Info[i] = byte(r.IntN(12))
		return fmt.Sprintf(", stack map byte %d is %d", i, maps.Info[i])
	case k == 5: // max_stack
		binary.BigEndian.PutUint16(a.Info, uint16(max(0, int(code.MaxStack)-1)))
		return ", max_stack one less"
	case k == 6: // max_locals
		binary.BigEndian.PutUint16(a.Info[2:], uint16(max(0, int(code.MaxLocals)-1)))
		return ", max_locals one less"
	case k == 7 && len(code.Handlers) > 0: // a handler
		i := 8 + len(code.Bytecode) + 2 + r.IntN(len(code.Handlers)*classfile.HandlerSize)
		a.Info[i] = byte(r.IntN(len(code.Bytecode) + 1))
		return fmt.Sprintf(", exception table byte at %d is %d", i, a.Info[i])
	case k < 14: // an opcode for another
		ins := instructions(code.Bytecode)
		in := ins[r.IntN(len(ins))]
		code.Bytecode[in.Offset] = byte(r.IntN(202))
		return fmt.Sprintf(", %s at %d became %s", in.Op, in.Offset, classfile.Op(code.Bytecode[in.Offset]))
	case k < 17: // an instruction becomes nothing
		ins := instructions(code.Bytecode)
		in := ins[r.IntN(len(ins))]
		clear(code.Bytecode[in.Offset : in.Offset+in.Size])
		return fmt.Sprintf(", %s at %d became nops", in.Op, in.Offset)
	default: // any byte
		i := r.IntN(len(code.Bytecode))
		code.Bytecode[i] = byte(r.IntN(256))
		return fmt.Sprintf(", byte %d is %d", i, code.Bytecode[i])
	}
}

func instructions(code []byte) (ins []classfile.Instr) {
	s := classfile.Scan(code)
	for s.Next() {
		ins = append(ins, s.Instr)
	}
	if len(ins) == 0 {
		ins = append(ins, classfile.Instr{Size: 1})
	}
	return ins
}

func ourVerdict(m mutant, h verify.Hierarchy) error {
	c, err := classfile.Parse(m.bytes)
	if err != nil {
		return err
	}
	_, err = verify.Method(c, &c.Methods[m.at], h)
	return err
}

// hotspot returns the lines of the judge.
func hotspot(t *testing.T, home, cp string, ms []mutant) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "mutants")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	binary.Write(w, binary.BigEndian, int32(len(ms)))
	for _, m := range ms {
		name := m.class.Name()
		binary.Write(w, binary.BigEndian, uint16(len(name)))
		w.WriteString(name)
		binary.Write(w, binary.BigEndian, int32(len(m.bytes)))
		w.Write(m.bytes)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	dir := classtest.Compile(t, home, map[string]string{"Judge.java": judge})
	out, err := classtest.Java(t, home, "-Xmx1g", "-XX:TieredStopAtLevel=1", "-cp", dir+":"+cp, "Judge", file)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err != nil || len(lines) != len(ms) {
		t.Fatalf("%d verdicts: %v\n%.2000s", len(lines), err, out)
	}
	return lines
}
