package probe_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/verify"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// stub is a probe class that does nothing. It is compiled under this name and
// renamed into java.lang, where every class can see it.
const stub = `
package rivulet;
public final class Stub {
    public static long enter(int id) { return id; }
    public static void exit(long token) { }
    public static void thrown(long token) { }
    public static void resync(long token) { }
    public static void point(int arg) { }
    public static void exit(long token, long n) { }
    public static void thrown(long token, long n) { }
    public static void count(int id) { }
    public static void thrown(int id) { }
    public static void leaf(int id, long n) { }
    public static void leafThrown(int id, long n) { }
    public static void thrown(int id, long n) { }
    public static void object(long token, int type) { }
    public static void boxed(long value, long token, int type) { }
    public static void survivor(Object made, long token, int type) { }
    public static void survivor(Object made, int length, long token, int type, int shape) { }
    public static void survivor(Object made, long value, long token, int type) { }
    public static void array(int length, long token, int type, int shape) { }
    public static void arrays(long n, long length, long token, int type, int shape) { }
}`

var stubHooks = probe.Hooks{Class: "java/lang/RivuletStub", Enter: "enter", Exit: "exit", Thrown: "thrown", Resync: "resync"}

// loader loads and links the classes named in a file; with a second file it
// then redefines the classes in that jar. It prints a line for each class that
// is refused.
const loader = `
import java.io.*;
import java.lang.instrument.*;
import java.nio.file.*;
import java.util.*;
import java.util.jar.*;
public class LoadAll {
    static Instrumentation inst;
    public static void premain(String args, Instrumentation i) { inst = i; }
    public static void main(String[] args) throws Throwable {
        int n = 0, missing = 0, redefined = 0, generated = 0;
        ClassLoader in = LoadAll.class.getClassLoader();
        for (String name : Files.readAllLines(Paths.get(args[0]))) {
            try {
                Class.forName(name, false, in).getDeclaredMethods(); // links
                n++;
            } catch (VerifyError | ClassFormatError | IncompatibleClassChangeError e) {
                System.out.println("REFUSED " + name + ": " + e);
            } catch (LinkageError | ClassNotFoundException | TypeNotPresentException e) {
                missing++; // something that the class needs is not there
            } catch (Throwable e) {
                System.out.println("REFUSED " + name + ": " + e);
            }
        }
        List<ClassDefinition> defs = new ArrayList<>();
        if (args.length > 1) try (JarFile jar = new JarFile(args[1])) {
            for (JarEntry e : Collections.list(jar.entries())) {
                ByteArrayOutputStream b = new ByteArrayOutputStream();
                byte[] buf = new byte[8192];
                try (InputStream s = jar.getInputStream(e)) {
                    for (int k; (k = s.read(buf)) > 0; ) b.write(buf, 0, k);
                }
                String name = e.getName().substring(0, e.getName().length() - 6).replace((char) 47, (char) 46);
                defs.add(new ClassDefinition(Class.forName(name, false, null), b.toByteArray()));
            }
        }
        for (ClassDefinition d : defs) {
            try {
                inst.redefineClasses(d);
                redefined++;
            } catch (UnsupportedOperationException | UnmodifiableClassException e) {
                generated++; // jlink made this class anew for the runtime image, or the JVM keeps it
            } catch (Throwable e) {
                System.out.println("REFUSED redefinition of " + d.getDefinitionClass() + ": " + e);
            }
        }
        System.out.println("linked " + n + " missing " + missing + " redefined " + redefined + " generated " + generated);
    }
}`

// buildStub returns the stub class with its name in the target.
func buildStub(t *testing.T, home string, flags ...string) classtest.Class {
	t.Helper()
	dir := classtest.Compile(t, home, map[string]string{"Stub.java": stub}, flags...)
	b, err := classfile.RenameUTF8(classtest.ReadDir(t, dir)[0].Bytes, func(s string) string {
		return strings.ReplaceAll(s, "rivulet/Stub", stubHooks.Class)
	})
	if err != nil {
		t.Fatal(err)
	}
	return classtest.Class{Name: stubHooks.Class, Bytes: b}
}

// A tally counts what became of classes and methods.
type tally struct {
	classes, methods, rewritten int
	skipped                     map[string]int
	odd                         []string // skipped for other reasons than having no code
	time                        time.Duration
	bare                        []string // classes refused also as they are
	missing                     int      // classes that need what is not there

	in        *probe.Injector // nil for token probes
	uncounted map[string]int  // methods that don't count what they execute, by reason
	fixed     int             // methods that count nothing while they run
}

// rewriteAll rewrites all methods of all classes.
func (ta *tally) rewriteAll(t *testing.T, cs []classtest.Class) []classtest.Class {
	t.Helper()
	if ta.skipped == nil {
		ta.skipped = map[string]int{}
	}
	out := make([]classtest.Class, 0, len(cs))
	for i, c := range cs {
		id := int32(i) * 7 % 70000
		start := time.Now()
		all := func(probe.MethodKey) (int32, bool) { id++; return id, true }
		var res probe.Result
		var err error
		if ta.in != nil {
			res, err = ta.in.Rewrite(c.Bytes, all)
		} else {
			res, err = probe.Rewrite(c.Bytes, stubHooks, all)
		}
		ta.time += time.Since(start)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		ta.tallyCounts(&res)
		ta.classes++
		ta.rewritten += len(res.Rewritten)
		ta.methods += len(res.Rewritten) + len(res.Skipped)
		for _, s := range res.Skipped {
			ta.skipped[s.Reason]++
			if s.Reason != "native" && s.Reason != "abstract" {
				ta.odd = append(ta.odd, c.Name+"."+s.String()+": "+s.Reason)
			}
		}
		if res.Bytes == nil {
			res.Bytes = c.Bytes
		}
		out = append(out, classtest.Class{Name: c.Name, Bytes: res.Bytes})
	}
	return out
}

func (ta *tally) String() string {
	return fmt.Sprintf("classes %d methods %d rewritten %d skipped %v, %d ns a class",
		ta.classes, ta.methods, ta.rewritten, ta.skipped, int(ta.time)/max(ta.classes, 1))
}

// TestJavaBase rewrites all methods of classes of java.base and lets a JVM run
// and link them that way, with everything verified. TestCorpus does all there
// are.
func TestJavaBase(t *testing.T) {
	home := classtest.Home(t)
	cs := without(classtest.Read(t, classtest.JavaBase(home)), "module-info")
	javaBase(t, home, classtest.Sample(t, cs, 2500, classtest.Seed(t)), tally{})
}

// TestVerifier lets our own verifier check java.base with all methods
// rewritten: they pass, and max_stack is what is needed.
func TestVerifier(t *testing.T) {
	cs := classtest.Read(t, classtest.JavaBase(classtest.Home(t)))
	var ta tally
	h := verify.Classes{}
	var parsed []*classfile.Class
	for _, cf := range append(ta.rewriteAll(t, cs), buildStub(t, classtest.Home(t))) {
		c, err := classfile.Parse(cf.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		h.Add(c)
		parsed = append(parsed, c)
	}
	for _, c := range parsed {
		for i := range c.Methods {
			m := &c.Methods[i]
			sum, err := verify.Method(c, m, h)
			if err != nil && !errors.Is(err, verify.ErrSubroutines) {
				t.Errorf("%v", err)
				continue
			}
			if code, _ := c.Code(m); code != nil && sum.MaxStack != int(code.MaxStack) {
				t.Errorf("%s.%s%s: max_stack %d, needed %d", c.Name(), m.Name, m.Desc, code.MaxStack, sum.MaxStack)
			}
		}
	}
}

// javaBase is for JDK 9 and later. The classes that a JVM loads before main,
// some of which it calls before it can run all bytecode, are redefined when it
// stands; the others are loaded as rewritten.
func javaBase(t *testing.T, home string, cs []classtest.Class, ta tally) {
	cs = ta.rewriteAll(t, cs)
	prog := loaderJar(t, home)
	early := loadedEarly(t, home, prog)
	var patched, redefined []classtest.Class
	for _, c := range cs {
		if early[c.Name] {
			redefined = append(redefined, c)
		} else {
			patched = append(patched, c)
		}
	}
	dir := t.TempDir()
	patch, boot := filepath.Join(dir, "patch.jar"), filepath.Join(dir, "boot.jar")
	classtest.Jar(t, patch, append(patched, buildStub(t, home)))
	classtest.Jar(t, boot, redefined)
	link(t, home, patched, &ta, []string{boot}, "-cp", prog, "-javaagent:"+prog, "--patch-module", "java.base="+patch)
}

// loaderJar returns a jar with the loader program, which is an agent too.
func loaderJar(t *testing.T, home string) string {
	t.Helper()
	dir := classtest.Compile(t, home, map[string]string{"LoadAll.java": loader})
	file := filepath.Join(t.TempDir(), "loader.jar")
	manifest := classtest.File{Name: "META-INF/MANIFEST.MF", Text: "Premain-Class: LoadAll\nCan-Redefine-Classes: true\n"}
	classtest.Jar(t, file, classtest.ReadDir(t, dir), manifest)
	return file
}

// loadedEarly returns the classes that the loader program loads when it does
// nothing.
func loadedEarly(t *testing.T, home, prog string) map[string]bool {
	t.Helper()
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := classtest.Java(t, home, "-Xshare:off", "-verbose:class", "-javaagent:"+prog, "-cp", prog, "LoadAll", empty, prog)
	early := map[string]bool{}
	for line := range strings.Lines(out) {
		_, rest, ok := strings.Cut(line, "[class,load] ")
		if !ok {
			_, rest, _ = strings.Cut(line, "[Loaded ") // JDK 8
		}
		name, _, _ := strings.Cut(rest, " ")
		early[strings.ReplaceAll(name, ".", "/")] = true
	}
	if len(early) < 300 {
		t.Fatalf("%d classes loaded early: %v\n%.2000s", len(early), err, out)
	}
	return early
}

func without(cs []classtest.Class, name string) []classtest.Class {
	var out []classtest.Class
	for _, c := range cs {
		if c.Name != name {
			out = append(out, c)
		}
	}
	return out
}

// nameList writes the names of classes into a file for the loader program.
func nameList(t *testing.T, cs []classtest.Class) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "list")
	var names strings.Builder
	for _, c := range cs {
		names.WriteString(strings.ReplaceAll(c.Name, "/", ".") + "\n")
	}
	if err := os.WriteFile(file, []byte(names.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// link loads and links classes in a JVM that verifies everything.
func link(t *testing.T, home string, cs []classtest.Class, ta *tally, more []string, flags ...string) (refused int) {
	t.Helper()
	args := append([]string{"-Xverify:all", "-XX:TieredStopAtLevel=1", "-Xmx1g"}, flags...)
	args = append(append(args, "LoadAll", nameList(t, cs)), more...)
	start := time.Now()
	out, err := classtest.Java(t, home, args...)
	refused = strings.Count(out, "REFUSED")
	for _, name := range ta.bare {
		refused -= strings.Count(out, "REFUSED "+name+":")
	}
	_, rest, _ := strings.Cut(out, " missing ")
	missing := 0
	fmt.Sscan(rest, &missing)
	ta.missing += missing
	if err != nil || refused > 0 || !strings.Contains(out, "linked ") {
		t.Errorf("%s: %v\n%.20000s", home, err, out)
	}
	t.Logf("%v; verify errors %d; %s in %v", ta, refused, strings.TrimSpace(out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:]), time.Since(start).Round(time.Millisecond))
	for i, s := range ta.odd {
		if i == 20 {
			t.Logf("and %d more", len(ta.odd)-i)
			break
		}
		t.Log(s)
	}
	return refused
}
