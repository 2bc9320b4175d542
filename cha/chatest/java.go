package chatest

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// Mirror parses a class file into the mirror of a class of a loader.
func Mirror(t testing.TB, loader uint32, b []byte) *cha.ClassMirror {
	t.Helper()
	cf, err := classfile.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	m, err := cha.NewMirror(cha.ClassID{Loader: loader, Name: cf.Name()}, cf)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Mirrors parses all class files of a folder.
func Mirrors(t testing.TB, dir string, loader uint32) []*cha.ClassMirror {
	t.Helper()
	var ms []*cha.ClassMirror
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".class") {
			var b []byte
			if b, err = os.ReadFile(path); err == nil {
				ms = append(ms, Mirror(t, loader, b))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ms
}

const dumper = `
import java.io.*;
import java.util.*;
public class Dump {
    static Set<Class<?>> done = new HashSet<>();
    static DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out));
    public static void main(String[] names) throws Exception {
        for (String n : names)
            if (n.startsWith("module:")) module(n.substring(7));
            else dump(Class.forName(n.replace('/', '.'), false, null));
        out.flush();
    }
    static void module(String name) throws Exception {
        java.nio.file.Path root = java.nio.file.FileSystems.getFileSystem(java.net.URI.create("jrt:/")).getPath("modules", name);
        Iterator<java.nio.file.Path> it = java.nio.file.Files.walk(root).iterator();
        while (it.hasNext()) {
            java.nio.file.Path p = it.next();
            if (!p.toString().endsWith(".class") || p.toString().endsWith("-info.class")) continue;
            byte[] b = java.nio.file.Files.readAllBytes(p);
            out.writeInt(b.length);
            out.write(b);
        }
    }
    static void dump(Class<?> c) throws Exception {
        if (c == null || !done.add(c)) return;
        dump(c.getSuperclass());
        for (Class<?> i : c.getInterfaces()) dump(i);
        ByteArrayOutputStream b = new ByteArrayOutputStream();
        try (InputStream in = ClassLoader.getSystemResourceAsStream(c.getName().replace('.', '/') + ".class")) {
            byte[] buf = new byte[8192];
            for (int n; (n = in.read(buf)) > 0; ) b.write(buf, 0, n);
        }
        out.writeInt(b.size());
        b.writeTo(out);
    }
}
`

// Platform returns the mirrors of classes of the JDK's boot loader and of all
// their supertypes, supertypes first.
func Platform(t testing.TB, j jvmtest.JDK, names ...string) []*cha.ClassMirror {
	t.Helper()
	var ms []*cha.ClassMirror
	for _, b := range Dump(t, j, names...) {
		ms = append(ms, Mirror(t, 0, b))
	}
	return ms
}

// Dump returns the class files of classes of the JDK's boot loader and of all
// their supertypes, supertypes first; of "module:name", those of all classes of
// a module (JDK 9 and later).
func Dump(t testing.TB, j jvmtest.JDK, names ...string) [][]byte {
	t.Helper()
	dir := jvmtest.Compile(t, j, 8, map[string]string{"Dump.java": dumper})
	cmd := exec.Command(j.Java(), append([]string{"-Xshare:auto", "-cp", dir, "Dump"}, names...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("dump of %v: %v\n%s", names, err, &errs)
	}
	var files [][]byte
	for len(out) > 0 {
		n := binary.BigEndian.Uint32(out)
		files = append(files, out[4:4+n])
		out = out[4+n:]
	}
	return files
}

// Hierarchy returns the hierarchy of all classes of a folder, in loader 1, and
// of their supertypes in the JDK.
func Hierarchy(t testing.TB, j jvmtest.JDK, dir string) *cha.Hierarchy {
	t.Helper()
	h := cha.New()
	h.AddLoader(cha.Loader{ID: 1, Name: "app", Kind: cha.LoaderApp})
	missing := []string{"java/lang/Object"}
	ms := Mirrors(t, dir, 1)
	for _, m := range ms {
		h.Add(m)
	}
	for _, m := range ms {
		missing = append(missing, h.Missing(m.ID)...)
	}
	for _, m := range Platform(t, j, missing...) {
		h.Add(m)
	}
	return h
}
