//go:build corpus

package probe_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// live is a probe class that counts and looks at its tokens. It calls nothing,
// since everything is instrumented.
const live = `
package rivulet;
public final class Stub {
    public static volatile boolean on;
    public static long enters, exits, throwns, resyncs, wrong;
    public static long enter(int id) { if (on) enters++; return id * 0x9e3779b97f4a7c15L | 1; }
    public static void exit(long token) { if (on) exits++; if ((token & 1) == 0) wrong++; }
    public static void thrown(long token) { if (on) throwns++; if ((token & 1) == 0) wrong++; }
    public static void resync(long token) { if (on) resyncs++; if ((token & 1) == 0) wrong++; }
}`

// prepare is an agent that redefines the classes of a jar before main and
// prints the counts at the end.
const prepare = `
import java.io.*;
import java.lang.instrument.*;
import java.util.*;
import java.util.jar.*;
public class Prepare {
    public static void premain(String file, Instrumentation inst) throws Exception {
        final Class<?> stub = Class.forName("java.lang.RivuletStub");
        List<ClassDefinition> defs = new ArrayList<>();
        try (JarFile jar = new JarFile(file)) {
            for (JarEntry e : Collections.list(jar.entries())) {
                ByteArrayOutputStream b = new ByteArrayOutputStream();
                byte[] buf = new byte[8192];
                try (InputStream s = jar.getInputStream(e)) { for (int k; (k = s.read(buf)) > 0; ) b.write(buf, 0, k); }
                defs.add(new ClassDefinition(Class.forName(e.getName().replace(".class", "").replace('/', '.'), false, null), b.toByteArray()));
            }
        }
        int n = 0;
        for (ClassDefinition d : defs) try { inst.redefineClasses(d); n++; } catch (UnsupportedOperationException | UnmodifiableClassException x) { }
        final int redefined = n;
        Runtime.getRuntime().addShutdownHook(new Thread() { public void run() {
            try {
                stub.getField("on").setBoolean(null, false);
                StringBuilder s = new StringBuilder("BOOKS redefined " + redefined);
                for (String f : new String[] {"enters", "exits", "throwns", "resyncs", "wrong"}) s.append(' ').append(f).append(' ').append(stub.getField(f).getLong(null));
                System.out.println(s);
            } catch (Exception e) { e.printStackTrace(); }
        } });
        stub.getField("on").setBoolean(null, true);
    }
}`

// programs are the programs of the bench folder with small arguments.
var programs = []struct{ name, main, args, jars string }{
	{"sunflow", "wl.SunflowW", "1 128 1", "sunflow janino commons-compiler"},
	{"h2", "wl.SqlW", "2 h2 1500", "h2 slf4j-api"},
	{"xalan", "wl.XsltW", "8 org.apache.xalan.processor.TransformerFactoryImpl 1", "xalan2 serializer xercesImpl xml-apis"},
	{"ecj", "wl.EcjW", "1", "ecj"},
	{"javac", "wl.JavacW", "1", ""},
	{"batik", "wl.BatikW", "1 256", "batik-all xml-apis-ext xml-apis xmlgraphics-commons xercesImpl rhino commons-io commons-logging"},
}

var checksum = regexp.MustCompile(`checksum=\S+`)

// TestWholePrograms runs programs with every method of theirs and of the JDK
// instrumented, and verified: their checksums are what they are without.
func TestWholePrograms(t *testing.T) {
	j := jvmtest.Need(t, 17)
	w := instrumentJDK(t, j)
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			bench := classtest.Bench()
			cp := []string{filepath.Join(bench, "classes")}
			own := w.ta.rewriteAll(t, classtest.ReadDir(t, cp[0]))
			for jar := range strings.FieldsSeq(p.jars) {
				file := filepath.Join(bench, "root", "usr", "share", "java", jar+".jar")
				if _, err := os.Stat(file); err != nil {
					continue // not all are there, nor needed
				}
				cp = append(cp, file)
				own = append(own, w.ta.rewriteAll(t, classtest.Read(t, file))...)
			}
			mine := filepath.Join(t.TempDir(), "mine.jar")
			classtest.Jar(t, mine, firstOfEach(own))
			run := func(flags []string, cp []string) string {
				t.Helper()
				args := append(flags, "-Djava.awt.headless=true", "-Dwl.home="+bench, "-cp", strings.Join(cp, ":"), p.main)
				cmd := exec.Command(j.Java(), append(args, strings.Fields(p.args)...)...)
				cmd.Dir = bench
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%.3000s", err, out)
				}
				return string(out)
			}
			bare := checksum.FindString(run(nil, cp))
			out := run(w.flags, append([]string{mine}, cp...))
			if got := checksum.FindString(out); got != bare || bare == "" {
				t.Errorf("%q, without probes %q\n%.2000s", got, bare, out)
			}
			t.Logf("%s; %s", bare, w.books(t, out))
		})
	}
	t.Run("shop", func(t *testing.T) { wholeShop(t, j, w) })
}

// A whole is a JDK with everything instrumented.
type whole struct {
	ta    tally
	flags []string // for its java
}

// instrumentJDK makes a whole of the JDK at hand.
func instrumentJDK(t *testing.T, j jvmtest.JDK) *whole {
	t.Helper()
	var w whole
	var modules []module
	for _, a := range classtest.Archives(t, j.Home) {
		name := strings.TrimSuffix(filepath.Base(a), filepath.Ext(a))
		cs := without(classtest.Read(t, a), "module-info")
		cs = without(cs, probe.CrashesCompilers) // the rest of probe.Never does well with probes that only count
		modules = append(modules, module{name, w.ta.rewriteAll(t, cs)})
	}
	dir := t.TempDir()
	agent := filepath.Join(dir, "agent.jar")
	manifest := classtest.File{Name: "META-INF/MANIFEST.MF", Text: "Premain-Class: Prepare\nCan-Redefine-Classes: true\n"}
	classtest.Jar(t, agent, classtest.ReadDir(t, classtest.Compile(t, j.Home, map[string]string{"Prepare.java": prepare})), manifest)
	stub := classtest.ReadDir(t, classtest.Compile(t, j.Home, map[string]string{"Stub.java": live}))[0]
	renamed, err := classfile.RenameUTF8(stub.Bytes, func(s string) string { return strings.ReplaceAll(s, "rivulet/Stub", stubHooks.Class) })
	if err != nil {
		t.Fatal(err)
	}
	im := patchJDK(t, j.Home, modules, loaderJar(t, j.Home), classtest.Class{Name: stubHooks.Class, Bytes: renamed})
	w.flags = append([]string{"-Xverify:all", "-javaagent:" + agent + "=" + im.early}, im.flags...)
	return &w
}

// firstOfEach leaves out classes that a class path hides, and modules.
func firstOfEach(cs []classtest.Class) (first []classtest.Class) {
	seen := map[string]bool{}
	for _, c := range cs {
		if !seen[c.Name] && !strings.HasSuffix(c.Name, "module-info") {
			seen[c.Name] = true
			first = append(first, c)
		}
	}
	return first
}

// books checks what the probe class counted.
func (w *whole) books(t *testing.T, out string) string {
	t.Helper()
	_, books, _ := strings.Cut(out, "BOOKS ")
	var redefined, enters, exits, throwns, resyncs, wrong int
	fmt.Sscanf(books, "redefined %d enters %d exits %d throwns %d resyncs %d wrong %d", &redefined, &enters, &exits, &throwns, &resyncs, &wrong)
	if enters < 1_000_000 || wrong != 0 || redefined < 300 {
		t.Errorf("books: %s", books)
	}
	line, _, _ := strings.Cut(books, "\n")
	return line
}
