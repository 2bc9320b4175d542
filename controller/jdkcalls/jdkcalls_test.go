package jdkcalls_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/jdkcalls"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestImage reads classes out of real runtime images, and what they name.
func TestImage(t *testing.T) {
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		f, err := os.Open(filepath.Join(j.Home, "lib", "modules"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		m, err := jdkcalls.NewImage(f)
		if err != nil {
			t.Fatal(err)
		}
		if m.Len() < 5000 {
			t.Errorf("%d classes", m.Len())
		}
		n := jdkcalls.NewNames()
		for _, name := range []string{"java/util/TreeMap", "java/util/Map$Entry", "java/io/ObjectInputStream"} {
			b, err := m.Class(name)
			if err != nil {
				t.Fatal(err)
			}
			if c, err := classfile.Parse(b); err != nil || c.Name() != name {
				t.Fatalf("%s: %v", name, err)
			}
			if err := n.Class(b); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct {
			name, desc string
			want       bool
		}{
			{"compare", "(Ljava/lang/Object;Ljava/lang/Object;)I", true},
			{"readExternal", "()V", false},
			{"readExternal", "(Ljava/io/ObjectInput;)V", true},
			{"getNString", "(I)Ljava/lang/String;", false},
		} {
			if got := n.Calls(c.name, c.desc); got != c.want {
				t.Errorf("calls %s%s: %t", c.name, c.desc, got)
			}
		}
		if _, err := m.Class("java/util/NoSuchThing"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a class that is not there: %v", err)
		}
	}, 11, 17, 21, 25)
}

// TestImageBroken: what is wrong in an index is found, and is no panic.
func TestImageBroken(t *testing.T) {
	whole := image()
	if m, err := jdkcalls.NewImage(bytes.NewReader(whole)); err != nil || m.Len() != 1 {
		t.Fatalf("the whole one: %v", err)
	}
	for n := range whole[:len(whole)-4] { // the content is read when it is asked for
		if _, err := jdkcalls.NewImage(bytes.NewReader(whole[:n])); !errors.Is(err, jdkcalls.ErrImage) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
	m, _ := jdkcalls.NewImage(bytes.NewReader(whole[:len(whole)-1]))
	if _, err := m.Class("p/C"); !errors.Is(err, jdkcalls.ErrImage) {
		t.Errorf("content that is cut off: %v", err)
	}
}

// image is a runtime image of one class, p/C of module m.
func image() []byte {
	strings := "\x00class\x00m\x00p\x00C\x00" // at 0, 1, 7, 9, 11
	location := []byte{1 << 3, 7, 2 << 3, 9, 3 << 3, 11, 4 << 3, 1, 7 << 3, 4, 0}
	var b []byte
	for _, w := range []uint32{0xcafedada, 1 << 16, 0, 1, 1, uint32(len(location)), uint32(len(strings)), 0, 0} {
		b = binary.NativeEndian.AppendUint32(b, w)
	}
	b = append(b, location...)
	b = append(b, strings...)
	return append(b, 0xca, 0xfe, 0xba, 0xbe)
}

func FuzzImage(f *testing.F) {
	f.Add(image())
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := jdkcalls.NewImage(bytes.NewReader(b))
		if err != nil {
			if m != nil || !errors.Is(err, jdkcalls.ErrImage) {
				t.Errorf("%v, and %v", m, err)
			}
			return
		}
		m.Class("p/C")
	})
}

// TestWords finds what libraries of the JDK name: libjvm calls Thread.run, and
// libinstrument the transformers.
func TestWords(t *testing.T) {
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		n := jdkcalls.NewNames()
		for _, lib := range []string{"server/libjvm.so", "libinstrument.so"} {
			f, err := os.Open(filepath.Join(j.Home, "lib", lib))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			words, err := jdkcalls.Words(f)
			if err != nil {
				t.Fatal(err)
			}
			n.Native(words)
		}
		for name, want := range map[string]bool{"run": true, "loadClass": true, "transform": true, "getNString": false, "applyAsDouble": false} {
			if got := n.Calls(name, "()V"); got != want {
				t.Errorf("calls %s: %t", name, got)
			}
		}
	}, 17, 25)
	if _, err := jdkcalls.Words(strings.NewReader("no library")); err == nil {
		t.Error("words of what is no library")
	}
}

// TestNames: names of strings count with any descriptor, and of words also their
// ends.
func TestNames(t *testing.T) {
	n := jdkcalls.NewNames()
	n.Text("accept")
	n.Text("a text. Of no method")
	n.Native([]string{"dryRun", "zebra"})
	for name, want := range map[string]bool{"accept": true, "Run": true, "run": false, "bra": true, "ebr": false, "zzebra": false, "x": false} {
		if got := n.Calls(name, "()V"); got != want {
			t.Errorf("calls %s: %t", name, got)
		}
	}
	if n.Len() != 1 {
		t.Errorf("%d names", n.Len())
	}
	if err := n.Class([]byte{0xca, 0xfe}); err == nil {
		t.Error("a broken class")
	}
}
