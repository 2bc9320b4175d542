package scheme

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

func jmod(t testing.TB, name string) map[string][]byte {
	b, err := os.ReadFile("/usr/lib/jvm/java-17-openjdk-amd64/jmods/" + name)
	if err != nil {
		t.Skip(err)
	}
	z, err := zip.NewReader(bytes.NewReader(b[4:]), int64(len(b)-4))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, f := range z.File {
		if strings.HasPrefix(f.Name, "classes/") && strings.HasSuffix(f.Name, ".class") && !strings.HasSuffix(f.Name, "module-info.class") {
			r, _ := f.Open()
			out[strings.TrimSuffix(f.Name[8:], ".class")], _ = io.ReadAll(r)
		}
	}
	return out
}

func TestBig(t *testing.T) {
	base, comp := jmod(t, "java.base.jmod"), jmod(t, "jdk.compiler.jmod")
	for k, v := range jmod(t, "java.compiler.jmod") {
		base[k] = v
	}
	for _, mk := range []func(*cha.Hierarchy) Scheme{NewA, NewB} {
		h := cha.New()
		h.AddLoader(cha.Loader{ID: 1, Kind: cha.LoaderApp})
		var m0, m1 runtime.MemStats
		start := time.Now()
		parsed := map[string]*classfile.Class{}
		for n, b := range base {
			c, err := classfile.Parse(b)
			if err != nil {
				t.Fatal(n, err)
			}
			parsed[n] = c
		}
		runtime.GC()
		runtime.ReadMemStats(&m0)
		t.Log("parse base", time.Since(start))
		start = time.Now()
		for n, c := range parsed {
			h.Add(&cha.ClassMirror{ID: cha.ClassID{Name: n}, Super: c.Super(), Interfaces: c.Interfaces(), Access: uint16(c.Access)})
		}
		runtime.GC()
		runtime.ReadMemStats(&m1)
		t.Log("add base", len(base), time.Since(start), (m1.HeapAlloc-m0.HeapAlloc)/uint64(len(base)))
		start = time.Now()
		for n, b := range comp {
			c, err := classfile.Parse(b)
			if err != nil {
				t.Fatal(n, err)
			}
			m, err := cha.NewMirror(cha.ClassID{Loader: 1, Name: n}, c)
			if err != nil {
				t.Fatal(err)
			}
			h.Add(m)
		}
		t.Log("mirror compiler", len(comp), time.Since(start))
		start = time.Now()
		need := h.NeedBytes()
		for _, id := range need {
			m, err := cha.NewMirror(id, parsed[id.Name])
			if err != nil {
				t.Fatal(err)
			}
			h.Add(m)
		}
		t.Log("needed", len(need), len(h.NeedBytes()), time.Since(start))
		start = time.Now()
		s := mk(h)
		root := cha.MethodID{Class: cha.ClassID{Loader: 1, Name: "com/sun/tools/javac/main/JavaCompiler"}, Name: "compile", Desc: "(Ljava/util/Collection;Ljava/util/Collection;Ljava/lang/Iterable;Ljava/util/Collection;)V"}
		p := s.Roots([]cha.MethodID{root})
		t.Log(s.Name(), "roots", len(p.Steps), len(p.Skipped), time.Since(start))
		start = time.Now()
		n, steps := 0, p.Steps
		fresh := 0
		var longest time.Duration
		for len(steps) > 0 {
			st := steps[0]
			steps = steps[1:]
			if !st.Fresh {
				continue
			}
			fresh++
			b := time.Now()
			q := s.Entered(st.Method)
			longest = max(longest, time.Since(b))
			n++
			steps = append(steps, q.Steps...)
		}
		t.Log("entered", n, fresh, time.Since(start), longest)
	}
}
