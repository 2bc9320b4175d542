package probe_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/interp"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/verify"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// TestExecuted runs a program from its class files, and once more with what it
// executes counted, in an interpreter that counts, too: the numbers are the same,
// method by method, and so are the results.
func TestExecuted(t *testing.T) {
	home := classtest.Home(t)
	for _, target := range []string{"8", "17"} {
		t.Run(target, func(t *testing.T) {
			dir := classtest.Compile(t, home, map[string]string{"Counted.java": readTestdata(t, "Counted.java")}, "--release", target)
			var files [][]byte
			for _, c := range classtest.ReadDir(t, dir) {
				files = append(files, c.Bytes)
			}
			x := compareCounts(t, 1_000_000, files, "t/Counted", "root", "(I)I", int32(60))
			if len(x) < 40 {
				t.Errorf("only %d methods were executed", len(x))
			}
		})
	}
}

// compareCounts runs a static method of a program both ways, and returns what the
// methods executed; nil for a program that executes more than most instructions.
func compareCounts(t testing.TB, most int64, files [][]byte, class, name, desc string, args ...interp.Value) map[string]int64 {
	t.Helper()
	executed := compareExecuted(t, false, most, files, class, name, desc, args...)
	compareExecuted(t, true, most, files, class, name, desc, args...)
	for k := probe.KindInvoke; k <= probe.KindBranch; k++ {
		compareKind(t, false, k, most, files, class, name, desc, args...)
	}
	return executed
}

// compareExecuted is compareCounts of one form: counting instructions, or whole blocks.
func compareExecuted(t testing.TB, blocks bool, most int64, files [][]byte, class, name, desc string, args ...interp.Value) map[string]int64 {
	t.Helper()
	return compareKind(t, blocks, probe.KindAll, most, files, class, name, desc, args...)
}

// compareKind is compareExecuted of one kind of instructions.
func compareKind(t testing.TB, blocks bool, kind probe.Kind, most int64, files [][]byte, class, name, desc string, args ...interp.Value) map[string]int64 {
	t.Helper()
	bare, err := interp.New(files...)
	if err != nil {
		t.Fatal(err)
	}
	bare.Most = most
	want, wantErr := bare.Call(class, name, desc, args...)
	if wantErr == interp.ErrEndless {
		return nil
	}
	executed := bare.Executed
	if blocks {
		executed = bare.Blockwise()
	}
	if kind != probe.KindAll {
		executed = bare.Of(kind.Has)
	}
	s := shadow{blocks: blocks, kind: kind}
	var rewritten [][]byte
	for _, f := range files {
		rewritten = append(rewritten, s.rewrite(t, f))
	}
	vm, err := interp.New(rewritten...)
	if err != nil {
		t.Fatal(err)
	}
	s.hook(vm)
	vm.Most = 100 * bare.Most
	got, gotErr := vm.Call(class, name, desc, args...)
	s.leave(0)
	if got != want || fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
		t.Errorf("result %v, %v with counting, %v, %v without", got, gotErr, want, wantErr)
	}
	if diff := cmp.Diff(bare.Made, s.made); diff != "" && (len(bare.Made) > 0 || len(s.made) > 0) {
		t.Errorf("allocated, -want +got:\n%s", diff)
	}
	counted := map[string]int64{}
	for id, n := range s.executed {
		counted[s.methods[id]] += n
	}
	for m, n := range executed {
		if s.varies[m] {
			continue
		}
		if counted[m] != n {
			t.Errorf("%s: counted %d, executed %d in %d calls (whole blocks: %v, kind %d)", m, counted[m], n, bare.Calls[m], blocks, kind)
		}
	}
	for m, n := range counted {
		if n != 0 && executed[m] == 0 {
			t.Errorf("%s: counted %d, executed nothing (whole blocks: %v)", m, n, blocks)
		}
	}
	return executed
}

// A shadow is what the probes' class is in the interpreter: it keeps a stack of
// invocations, and counts by method.
type shadow struct {
	blocks   bool          // whole blocks are counted
	kind     probe.Kind    // of the instructions that are counted
	methods  []string      // by id
	counts   []probe.Count // by id
	executed map[int32]int64
	varies   map[string]bool // constructors that executed different numbers before an exception out of super()
	stack    []int32         // ids of open invocations
	types    *types
	made     map[interp.Made]interp.Size
	survived map[interp.Made]interp.Size
}

// rewrite puts probes into all methods of a class, and has them verified.
func (s *shadow) rewrite(t testing.TB, file []byte) []byte {
	t.Helper()
	c, err := classfile.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	at := map[probe.MethodKey]int32{}
	if s.types == nil {
		s.types = newTypes()
	}
	in, err := countingOf(t, stubHooks.Class, s.blocks, s.kind).WithAllocated(allocated(stubHooks.Class, s.types))
	if err != nil {
		t.Fatal(err)
	}
	res, err := in.Rewrite(file, func(k probe.MethodKey) (int32, bool) {
		at[k] = int32(len(s.methods))
		s.methods = append(s.methods, c.Name()+"."+k.Name+k.Desc)
		s.counts = append(s.counts, probe.Count{})
		return at[k], true
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range res.Counts {
		s.counts[at[k.MethodKey]] = k
	}
	for _, u := range append(res.Uncounted, res.Skipped...) {
		if u.Reason != "abstract" {
			t.Errorf("%s.%s: %s", c.Name(), u.MethodKey, u.Reason)
		}
	}
	if bad, err := probe.Verify(res, unknown{}); err != nil || len(bad) > 0 {
		t.Errorf("%s: %v %v", c.Name(), bad, err)
	}
	if res.Bytes == nil {
		return file
	}
	return res.Bytes
}

// unknown is a hierarchy of which nothing is known.
type unknown struct{}

func (unknown) Class(string) (string, bool, bool) { return "", false, false }

var _ verify.Hierarchy = unknown{}

// leave ends invocations without an exit, until so many are open.
func (s *shadow) leave(open int) {
	for len(s.stack) > open {
		id := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		s.executed[id] += int64(s.counts[id].Super)
		if s.counts[id].SuperVaries {
			s.varies[s.methods[id]] = true
		}
	}
}

// hook gives a VM the probes. A token is the depth at which its invocation began,
// from 1.
func (s *shadow) hook(vm *interp.VM) {
	s.executed, s.varies = map[int32]int64{}, map[string]bool{}
	s.hookAllocated(vm)
	do := func(name string, f func(first int64, n int64)) {
		vm.Natives[stubHooks.Class+"."+name] = func(a []interp.Value) (interp.Value, error) {
			n := int64(0)
			if len(a) > 1 {
				n = a[1].(int64)
			}
			if id, ok := a[0].(int32); ok {
				f(int64(id), n)
			} else {
				f(a[0].(int64), n)
			}
			return nil, nil
		}
	}
	vm.Natives[stubHooks.Class+".enter(I)J"] = func(a []interp.Value) (interp.Value, error) {
		s.stack = append(s.stack, a[0].(int32))
		return int64(len(s.stack)), nil
	}
	end := func(token, n int64, each bool) {
		s.leave(int(token))
		id := s.stack[token-1]
		s.stack = s.stack[:token-1]
		s.executed[id] += n
		if each {
			s.executed[id] += int64(s.counts[id].Each)
		}
	}
	do("exit(J)V", func(token, _ int64) { end(token, 0, true) })
	do("exit(JJ)V", func(token, n int64) { end(token, n, true) })
	do("thrown(J)V", func(token, _ int64) { end(token, 0, false) })
	do("thrown(JJ)V", func(token, n int64) { end(token, n, false) })
	do("resync(J)V", func(token, _ int64) { s.leave(int(token)) })
	leaf := func(id, n int64) { s.executed[int32(id)] += n }
	do("count(I)V", func(id, _ int64) { leaf(id, int64(s.counts[id].Each)) })
	do("thrown(IJ)V", func(id, n int64) { leaf(id, n-int64(s.counts[id].Each)) })
	do("thrown(I)V", func(id, _ int64) { leaf(id, -int64(s.counts[id].Each)) })
	do("leaf(IJ)V", leaf)
	do("leafThrown(IJ)V", leaf)
}

// TestExecutedRandom does the same with methods whose blocks jump anywhere:
// critical edges, loops of one block, switches, handlers that cover each other or
// are jumped to.
func TestExecutedRandom(t *testing.T) {
	seed := classtest.Seed(t)
	for i := range uint64(3000) {
		text := spaghetti(rand.New(rand.NewPCG(seed, i)))
		ok := t.Run("", func(t *testing.T) {
			file := classtest.Assemble(t, text)
			for x := range int32(3) {
				compareExecuted(t, false, 10_000, [][]byte{file}, "T", "m", "(II)I", int32(60), x*7919)
			}
			compareExecuted(t, true, 10_000, [][]byte{file}, "T", "m", "(II)I", int32(60), int32(7919))
			compareKind(t, false, probe.KindArithmetic, 10_000, [][]byte{file}, "T", "m", "(II)I", int32(60), int32(7919))
			compareKind(t, false, probe.KindBranch, 10_000, [][]byte{file}, "T", "m", "(II)I", int32(60), int32(7919))
		})
		if !ok {
			t.Fatalf("seed %d, number %d:\n%s", seed, i, text)
		}
	}
}

// spaghetti is a class with one method. Local 0 says how many blocks are still to
// be run, local 1 where they go.
func spaghetti(r *rand.Rand) string {
	var b, frames, catches strings.Builder
	b.WriteString("class T extends java/lang/Object version 52\nmethod static m (II)I\nstack 4 locals 2\n")
	n, handlers := 1+r.IntN(9), r.IntN(3)
	block := func() string { return fmt.Sprint("b", r.IntN(n)) }
	line := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	frame := func(label, stack string) { fmt.Fprintf(&frames, "frame %s I I | %s\n", label, stack) }
	body := func() {
		for range r.IntN(3) {
			line("iinc 1 %d", r.IntN(100))
		}
		if r.IntN(3) == 0 { // throws for one of three
			line("iload_1\niload_1\niconst_3\nirem\nidiv\npop")
		}
		if r.IntN(3) > 0 {
			line("iload_1\nldc 1103515245\nimul\nsipush 12345\niadd\nistore_1")
		}
		for range r.IntN(3) {
			line("nop")
		}
	}
	bit := func() { line("iload_1\nbipush %d\niushr\niconst_3\niand", 8+r.IntN(16)) }
	leave := func() { // ends a block, or goes on
		switch r.IntN(7) {
		case 0, 1:
			bit()
			line("%s %s", []string{"ifeq", "ifne", "ifle"}[r.IntN(3)], block())
		case 2:
			bit()
			line("tableswitch %s 0 %s %s %s", block(), block(), block(), block())
		case 3:
			line("goto %s", block())
		case 4:
			if handlers > 0 {
				line("aconst_null\ngoto h%d", r.IntN(handlers))
			}
		case 5:
			if r.IntN(3) == 0 {
				line("iload_1\nireturn")
			}
		}
	}
	for i := range n {
		line("b%d:", i)
		frame(fmt.Sprint("b", i), "")
		if r.IntN(4) > 0 || i == n-1 {
			line("iinc 0 -1\niload_0\nifle out")
		}
		line("iinc 1 1") // no block is empty
		body()
		if i == n-1 {
			line("goto out") // nothing goes on from here
		} else {
			leave()
		}
	}
	line("out:\niload_1\nireturn")
	frame("out", "")
	for i := range handlers {
		line("h%d:\npop\niinc 0 -1\niload_0\nifle out", i)
		frame(fmt.Sprint("h", i), "Ljava/lang/Throwable;")
		body()
		line("goto %s", block())
		from := r.IntN(n)
		to := from + 1 + r.IntN(n-from)
		end := fmt.Sprint("b", to)
		if to == n {
			end = "out"
			if r.IntN(2) == 0 && i == handlers-1 {
				end = fmt.Sprint("h", i) // covers other handlers
			}
		}
		fmt.Fprintf(&catches, "catch b%d %s h%d\n", from, end, i)
	}
	return b.String() + catches.String() + frames.String() + "end\n"
}
