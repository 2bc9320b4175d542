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
	at    int // the method, -1 for all
	bytes []byte
	what  string
}

// fixedMutants is how many mutants the test judges when nobody asks for more:
// always the same, so that the test can't fail by chance.
const (
	fixedMutants = 3000
	fixedSeed    = 1
	batch        = 50_000 // mutants for one JVM
)

// TestHotSpot lets HotSpot and us judge classes with a few bytes of a method's
// code, tables or stack maps changed, or of what the constant pool says about
// members. RIVULET_MUTANTS sets how many; then the seed is random, or
// RIVULET_SEED, which a failure names, and the jars of the bench folder are
// used, too.
func TestHotSpot(t *testing.T) {
	n, seed := fixedMutants, uint64(fixedSeed)
	long := os.Getenv("RIVULET_MUTANTS")
	if long != "" {
		var err error
		if n, err = strconv.Atoi(long); err != nil {
			t.Fatalf("RIVULET_MUTANTS: %v", err)
		}
		seed = classtest.Seed(t)
	}
	r := rand.New(rand.NewPCG(seed, 0))
	home := classtest.Home(t)
	h, pool, cp := subjects(t, home, long != "")
	var inferred []classtest.Class
	for _, c := range pool {
		if c.Bytes[7] < classfile.MajorStackMaps {
			inferred = append(inferred, c)
		}
	}
	counts := map[string]int{}
	for done := 0; done < n; {
		mutants := make([]mutant, 0, min(batch, n-done))
		for len(mutants) < cap(mutants) {
			from := pool
			if len(inferred) > 0 && r.IntN(2) == 0 {
				from = inferred
			}
			if m, ok := mutate(from[r.IntN(len(from))], r); ok {
				mutants = append(mutants, m)
			}
		}
		for i, verdict := range hotspot(t, home, cp, mutants) {
			agreement := compare(t, h, &mutants[i], verdict)
			counts[agreement]++
			if agreement == "AR" || agreement == "RA" {
				t.Errorf("that was mutant %d of RIVULET_MUTANTS=%s RIVULET_SEED=%d", done+i, long, seed)
				if dir := os.Getenv("RIVULET_KEEP"); dir != "" {
					os.WriteFile(filepath.Join(dir, fmt.Sprint(done+i, ".class")), mutants[i].bytes, 0o644)
				}
			}
		}
		done += len(mutants)
	}
	t.Logf("both accept %d, both refuse %d, only we refuse %d, only HotSpot refuses %d, no verdict %d",
		counts["AA"], counts["RR"], counts["RA"], counts["AR"], counts["AN"]+counts["RN"])
	if counts["AA"] < n/100 || counts["RR"] < n/100 {
		t.Error("hardly any mutant accepted, or refused: the test tests nothing")
	}
}

// compare returns our verdict on a mutant and HotSpot's, a letter each: A
// accepted, R refused, N none.
func compare(t *testing.T, h verify.Classes, m *mutant, verdict string) string {
	t.Helper()
	err := ourVerdict(m, judged{h, m.class.Name()})
	ours, theirs := "A", verdict[:1]
	if err != nil {
		ours = "R"
	}
	if errors.Is(err, verify.ErrSubroutines) {
		theirs = "N" // a goto became a jsr in an old class
	}
	if theirs != "N" && ours != theirs {
		t.Errorf("we say %v, HotSpot says %s (%s)", err, verdict, m.what)
	}
	return ours + theirs
}

// subjects returns classes to mutate, the hierarchy that they live in and
// their class path.
func subjects(t *testing.T, home string, long bool) (verify.Classes, []classtest.Class, string) {
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
	if !long {
		patterns = nil
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

func ourVerdict(m *mutant, h verify.Hierarchy) error {
	c, err := classfile.Parse(m.bytes)
	if err != nil {
		return err
	}
	if m.at < 0 {
		return verify.Class(c, h)
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
