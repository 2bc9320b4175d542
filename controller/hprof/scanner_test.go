package hprof_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/hprof"
	"github.com/rivulet-profiler/rivulet/controller/hprof/hproftest"
)

// sample is a dump with a record of each kind.
func sample(idSize, segment int) []byte {
	w := hproftest.New(idSize)
	w.Segment = segment
	w.Class(0x100, "java/lang/Object", 0, 0, nil, nil, 0)
	w.Class(0x108, "p/Node", 0x100, 0x200,
		[]hproftest.Field{hproftest.Of("all", hprof.Object, 0x210), hproftest.Of("n", hprof.Int, 7), hproftest.Of("d", hprof.Double, 1<<62)},
		[]hproftest.Field{hproftest.Of("next", hprof.Object, 0), hproftest.Of("flag", hprof.Boolean, 0)}, uint32(idSize+1))
	w.Root(hprof.RootStickyClass, 0x100)
	w.Root(hprof.RootJNIGlobal, 0x200)
	w.Root(hprof.RootThread, 0x208, 3, 4)
	w.Root(hprof.RootJavaFrame, 0x210, 3, 1)
	w.Instance(0x210, 0x108, append(hproftest.Refs(0x218), hproftest.Bits(hprof.Boolean, 1)))
	w.Objects(0x218, 0x100, 0x210, 0, 0x220)
	w.Prims(0x220, hprof.Char, []byte("\x00h\x00i"))
	return w.Bytes()
}

// text reads a dump and writes a line for each record.
func text(t testing.TB, dump []byte) (lines []string, err error) {
	t.Helper()
	h, err := hprof.ReadHeader(bytes.NewReader(dump))
	if err != nil {
		return nil, err
	}
	s := hprof.NewScanner(bytes.NewReader(dump), int64(len(dump)), h)
	for {
		r, err := s.Next()
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return lines, err
		}
		line := fmt.Sprintf("%d %x %x %q", r.Kind, r.ID, r.Class, r.Body)
		switch r.Kind {
		case hprof.KindClass:
			line = fmt.Sprintf("class %x super %x loader %x %v %v %d", r.ID, r.Dump.Super, r.Dump.Loader, r.Dump.Statics, r.Dump.Fields, r.Dump.InstanceSize)
		case hprof.KindRoot:
			line = fmt.Sprintf("root %x %v thread %d depth %d", r.ID, r.Root, r.Serial, r.Depth)
		case hprof.KindObjectArray, hprof.KindPrimArray:
			for {
				b, err := s.Elements()
				if err != nil {
					return lines, err
				}
				if b == nil {
					break
				}
				line += fmt.Sprintf(" [%x]", b)
			}
		}
		lines = append(lines, line)
	}
}

func TestRecords(t *testing.T) {
	for _, idSize := range []int{4, 8} {
		whole, err := text(t, sample(idSize, 0))
		if err != nil {
			t.Fatal(err)
		}
		parts, err := text(t, sample(idSize, 1))
		if err != nil {
			t.Fatal(err)
		}
		var heap []string
		for _, l := range append(whole, parts...) {
			if strings.HasPrefix(l, "class 108") || strings.HasPrefix(l, "root") || strings.HasPrefix(l, "6") || strings.HasPrefix(l, "8") || strings.HasPrefix(l, "9") || strings.HasPrefix(l, "7") {
				heap = append(heap, l)
			}
		}
		zeros := strings.Repeat("0", 2*idSize-3)
		one := []string{
			fmt.Sprintf("class 108 super 100 loader 200 [{3 Object 528} {4 int 7} {5 double 4611686018427387904}] [{6 Object} {7 boolean}] %d", idSize+1),
			"root 100 system class thread 0 depth -1",
			"root 200 JNI global reference thread 0 depth -1",
			"root 208 thread thread 3 depth -1",
			"root 210 local variable thread 3 depth 1",
			fmt.Sprintf("7 210 108 %q", strings.Repeat("\x00", idSize-2)+"\x02\x18\x01"),
			fmt.Sprintf("8 218 100 \"\" [%s210%s000%s220]", zeros, zeros, zeros),
			`9 220 0 "" [00680069]`,
		}
		want := strings.Join(append(one, one...), "\n")
		if got := strings.Join(heap, "\n"); got != want {
			t.Errorf("%d-byte identifiers:\n%s\nwant:\n%s", idSize, got, want)
		}
	}
}

// TestCut cuts a dump everywhere: what was read before is the same, and the error names
// a place before the cut.
func TestCut(t *testing.T) {
	dump := sample(8, 0)
	all, err := text(t, dump)
	if err != nil {
		t.Fatal(err)
	}
	for n := range dump {
		got, err := text(t, dump[:n])
		var wrong *hprof.FormatError
		if n < len(dump) && err != nil {
			if !errors.As(err, &wrong) || wrong.Offset > int64(n) || !errors.Is(err, hprof.ErrCut) && !errors.Is(err, hprof.ErrNotHprof) {
				t.Fatalf("cut at %d: %v", n, err)
			}
		}
		if len(got) > len(all) || strings.Join(got, "\n") != strings.Join(all[:len(got)], "\n") {
			t.Fatalf("cut at %d: %q", n, got)
		}
	}
}

// TestUnfinished: JDK 8 writes a segment's length last.
func TestUnfinished(t *testing.T) {
	w := hproftest.New(8)
	w.Sub([]byte{0x23, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 1, 8, 42})
	dump := w.Bytes()
	dump = dump[:len(dump)-9] // HEAP_DUMP_END
	copy(dump[len(dump)-19-4:], []byte{0, 0, 0, 0})
	lines, err := text(t, dump)
	if len(lines) != 1 || !errors.Is(err, hprof.ErrCut) {
		t.Errorf("%q, %v", lines, err)
	}
}

func TestWrong(t *testing.T) {
	head := hproftest.New(8)
	headLength := int64(len(head.Bytes()) - 9)
	for _, c := range []struct {
		sub  []byte
		want string
		at   int64
	}{
		{[]byte{0x99}, "no record of a heap dump with tag 0x99", 9},
		{append([]byte{0x23}, make([]byte, 17)...), "an array of type 0", 9},
		{[]byte{0x23, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 11}, "an array goes beyond the end of the file", 9},
		{[]byte{0x05, 0, 0, 0, 0, 0, 0, 0}, "a record goes 1 bytes beyond the end of its segment", 9},
	} {
		w := hproftest.New(8)
		w.Sub(c.sub)
		_, err := text(t, w.Bytes())
		var wrong *hprof.FormatError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) || wrong.Offset != headLength+c.at {
			t.Errorf("%x: %v, want offset %d: %s", c.sub, err, headLength+c.at, c.want)
		}
	}
	if _, err := text(t, []byte("#!/bin/sh")); !errors.Is(err, hprof.ErrNotHprof) {
		t.Error(err)
	}
}

func TestGzip(t *testing.T) {
	dump := sample(8, 100)
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(dump)
	z.Close()
	for _, c := range []struct {
		name string
		data []byte
		cut  bool
	}{{"whole", b.Bytes(), false}, {"cut", b.Bytes()[:b.Len()-12], true}, {"plain", dump, false}} {
		path := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(path, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := hprof.Open(t.Context(), path, t.TempDir(), nil)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := f.Damage != nil; got != c.cut || !c.cut && f.Size != int64(len(dump)) {
			t.Errorf("%s: %d bytes, damage %v", c.name, f.Size, f.Damage)
		}
		f.Close()
	}
}

func FuzzScanner(f *testing.F) {
	f.Add(sample(4, 0))
	f.Add(sample(8, 50))
	f.Fuzz(func(t *testing.T, dump []byte) {
		_, err := text(t, dump)
		var wrong *hprof.FormatError
		if err != nil && (!errors.As(err, &wrong) || wrong.Offset < 0 || wrong.Offset > int64(len(dump))) {
			t.Errorf("%v", err)
		}
	})
}
