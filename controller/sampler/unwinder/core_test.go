package unwinder

import (
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

var update = flag.Bool("update", false, "accept what the cores give now")

func openCore(t testing.TB, file string) *Core {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	c := &Core{}
	if err := json.NewDecoder(z).Decode(c); err != nil {
		t.Fatal(err)
	}
	return c
}

var kinds = map[stack.Kind]string{
	stack.Interpreted: "interpreted", stack.C1: "C1", stack.C2: "C2", stack.Inlined: "inlined", stack.JavaNative: "native", stack.Native: "library", stack.Stub: "stub",
}

// render writes a walk as a line for each frame, and how it ended.
func render(w *Walk) string {
	var b strings.Builder
	for _, f := range w.Frames {
		fmt.Fprintf(&b, "%s.%s%s %s bci %d line %d\n", f.Method.Class, f.Method.Name, f.Method.Desc, kinds[f.Kind], f.BCI, f.Line)
	}
	fmt.Fprintf(&b, "complete %v heuristic %v native top %v live %v%s\n", w.Complete, w.Heuristic, w.NativeTop, w.Live, w.Broken)
	return b.String()
}

// TestCores walks the stacks of real JVMs again that were recorded by "go run
// ./tools/stacks -core": compiled code with inlined methods, interpreted code, and native code
// on top, each of several JDKs; those of arm64 by "go run ./tools/armcores". To accept new answers: go test -update.
func TestCores(t *testing.T) {
	files, _ := filepath.Glob("testdata/cores/*.core.gz")
	if len(files) < 10 {
		t.Fatalf("%d cores", len(files))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			c := openCore(t, file)
			w := c.Walk()
			got := render(w)
			want := strings.TrimSuffix(file, ".core.gz") + ".want"
			if *update {
				if err := os.WriteFile(want, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			b, err := os.ReadFile(want)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(b) {
				t.Errorf("got:\n%swant:\n%s", got, b)
			}
			// What tells activations apart: each frame has its slot, further out than
			// those of its callees, and the slot holds the return address.
			last := uint64(0)
			for i, f := range w.Frames {
				inRegister := c.Layout.Arm64 && i == 0 // the return address, of a frame that has no words yet
				if f.Slot < last || f.Slot == 0 || f.Return == 0 || f.Words == 0 && !inRegister {
					t.Errorf("%s: slot %#x after %#x, return %#x, words %#x", f.Method.Name, f.Slot, last, f.Return, f.Words)
				}
				last = f.Slot
			}
		})
	}
}

// TestCoreTorn takes from a core, in turn, each piece of memory: the walk ends, and finds no
// name that the JVM does not have.
func TestCoreTorn(t *testing.T) {
	for _, name := range []string{"jdk8-compiled", "jdk17-interpreted", "jdk25-compiled", "arm64-jdk25-c1", "arm64-jdk25-interpreted"} {
		c := openCore(t, "testdata/cores/"+name+".core.gz")
		names := map[string]bool{}
		for _, f := range c.Walk().Frames {
			names[f.Method.Class+"."+f.Method.Name+f.Method.Desc] = true
		}
		for i := range c.Memory {
			torn := *c
			torn.Memory = append(append([]Piece(nil), c.Memory[:i]...), c.Memory[i+1:]...)
			for _, f := range torn.Walk().Frames {
				if f.Method != unknown && !names[f.Method.Class+"."+f.Method.Name+f.Method.Desc] {
					t.Errorf("%s without piece %d at %#x: %v", name, i, c.Memory[i].At, *f.Method)
				}
			}
		}
	}
}

// FuzzCore changes bytes of a core's memory and of its stack, as a target that lies or
// changes would: whatever comes of it, the walk ends within its bounds.
func FuzzCore(f *testing.F) {
	var cores []*Core
	for _, name := range []string{"jdk8-compiled", "jdk11-interpreted", "jdk17-compiled", "jdk25-native", "jdk25-compiled", "jdk25-interpreted", "arm64-jdk25-c2", "arm64-jdk25-interpreted"} {
		cores = append(cores, openCore(f, "testdata/cores/"+name+".core.gz"))
	}
	f.Add(byte(0), []byte{1, 2, 3, 4, 5})
	f.Add(byte(3), []byte{0, 0, 8, 0xFF, 0xFF, 9, 1, 0, 0x7F, 0x41})
	f.Fuzz(func(t *testing.T, which byte, changes []byte) {
		c := *cores[int(which)%len(cores)]
		c.Memory = append([]Piece(nil), c.Memory...)
		c.Dump = append([]byte(nil), c.Dump...)
		for ; len(changes) >= 5; changes = changes[5:] {
			piece, at := int(changes[0])|int(changes[1])<<8, int(changes[2])|int(changes[3])<<8
			if piece%4 == 3 && len(c.Dump) > 0 {
				c.Dump[at%len(c.Dump)] = changes[4]
				continue
			}
			p := &c.Memory[piece%len(c.Memory)]
			if len(p.Bytes) > 0 {
				p.Bytes = append([]byte(nil), p.Bytes...)
				p.Bytes[at%len(p.Bytes)] = changes[4]
			}
		}
		if w := c.Walk(); len(w.Frames) > maxFrames*(maxScopes+1) {
			t.Errorf("%d frames", len(w.Frames))
		}
	})
}
