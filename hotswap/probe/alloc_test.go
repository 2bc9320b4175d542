package probe_test

import (
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/interp"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// types gives numbers to types.
type types struct {
	ids   map[string]int32
	names []string
}

func newTypes() *types { return &types{ids: map[string]int32{}} }

func (t *types) id(name string) int32 {
	id, ok := t.ids[name]
	if !ok {
		id = int32(len(t.names))
		t.ids[name] = id
		t.names = append(t.names, name)
	}
	return id
}

// shapeOf tells that a shape arrives with its type.
func shapeOf(id int32) int32 { return id*7 + 1 }

func allocated(class string, t *types) probe.Allocated {
	return probe.Allocated{
		Class: class, Object: "object", Array: "array", Arrays: "arrays",
		Type:  func(name string) (int32, bool) { return t.id(name), true },
		Shape: func(name string) int32 { return shapeOf(t.id(name)) },
		Boxed: "boxed", BoxedInt: "boxed",
		Survivors: class, Survivor: "survivor", SurvivingArray: "survivor", SurvivingBox: "survivor",
		Foreign: func(string) bool { return true },
		Missed:  func(probe.MethodKey, string) {},
	}
}

// hookAllocated gives a VM the probes of allocations.
func (s *shadow) hookAllocated(vm *interp.VM) {
	s.made, s.survived = map[interp.Made]interp.Size{}, map[interp.Made]interp.Size{}
	add := func(token int64, id int32, n, elements int64) {
		s.leave(int(token))
		if n == 0 {
			return
		}
		k := interp.Made{Method: s.methods[s.stack[token-1]], Type: s.types.names[id]}
		was := s.made[k]
		s.made[k] = interp.Size{Objects: was.Objects + n, Elements: was.Elements + elements}
	}
	check := func(id, shape int32) int32 {
		if shape != shapeOf(id) {
			panic("the shape is another type's")
		}
		return id
	}
	vm.Natives[stubHooks.Class+".object(JI)V"] = func(a []interp.Value) (interp.Value, error) {
		add(a[0].(int64), a[1].(int32), 1, 0)
		return nil, nil
	}
	vm.Natives[stubHooks.Class+".array(IJII)V"] = func(a []interp.Value) (interp.Value, error) {
		add(a[1].(int64), check(a[2].(int32), a[3].(int32)), 1, int64(a[0].(int32)))
		return nil, nil
	}
	survived := func(o interp.Value, token int64, id int32) {
		s.leave(int(token))
		made := o.(*interp.Object)
		name, _, _ := strings.Cut(s.types.names[id], ":")
		if made.Class != name && made.Class != "lambda" {
			panic("an object of class " + made.Class + " is told as one of " + name)
		}
		k := interp.Made{Method: s.methods[s.stack[token-1]], Type: made.Class}
		was := s.survived[k]
		s.survived[k] = interp.Size{Objects: was.Objects + 1, Elements: was.Elements + int64(len(made.Elements))}
	}
	vm.Natives[stubHooks.Class+".survivor(Ljava/lang/Object;JI)V"] = func(a []interp.Value) (interp.Value, error) {
		survived(a[0], a[1].(int64), a[2].(int32))
		return nil, nil
	}
	vm.Natives[stubHooks.Class+".survivor(Ljava/lang/Object;IJII)V"] = func(a []interp.Value) (interp.Value, error) {
		if n := len(a[0].(*interp.Object).Elements); n != int(a[1].(int32)) {
			panic("the length is another array's")
		}
		survived(a[0], a[2].(int64), check(a[3].(int32), a[4].(int32)))
		return nil, nil
	}
	vm.Natives[stubHooks.Class+".arrays(JJJII)V"] = func(a []interp.Value) (interp.Value, error) {
		n := a[0].(int64)
		add(a[2].(int64), check(a[3].(int32), a[4].(int32)), n, n*a[1].(int64))
		return nil, nil
	}
}

// TestAllocated compares what is counted with what an interpreter allocates: the
// arrays of Binder 2005, figure 3, objects that are never initialised (its appendix A)
// or by one of two constructors (B), and those whose constructor throws.
func TestAllocated(t *testing.T) {
	home := classtest.Home(t)
	dir := classtest.Compile(t, home, map[string]string{"Allocating.java": readTestdata(t, "Allocating.java")}, "--release", "8")
	files := [][]byte{classtest.Assemble(t, readTestdata(t, "Uninitialized.txt")), classtest.Assemble(t, readTestdata(t, "TwoConstructors.txt"))}
	for _, c := range classtest.ReadDir(t, dir) {
		files = append(files, c.Bytes)
	}
	compareCounts(t, 1_000_000, files, "t/Allocating", "root", "(I)I", int32(20))
	compareCounts(t, 1_000_000, files[:1], "t/Uninitialized", "make", "(I)V", int32(3))
	compareCounts(t, 1_000_000, files[1:2], "t/TwoConstructors", "make", "()V")
}

// TestSurvivors compares the objects that probes get behind constructors with those that an
// interpreter allocates: all but those whose constructor throws, or is never called, and
// arrays within others.
func TestSurvivors(t *testing.T) {
	home := classtest.Home(t)
	dir := classtest.Compile(t, home, map[string]string{"Allocating.java": readTestdata(t, "Allocating.java")}, "--release", "8")
	s := &shadow{}
	var files [][]byte
	for _, c := range classtest.ReadDir(t, dir) {
		files = append(files, s.rewrite(t, c.Bytes))
	}
	vm, err := interp.New(files...)
	if err != nil {
		t.Fatal(err)
	}
	s.hook(vm)
	vm.Most = 10_000_000
	if _, err := vm.Call("t/Allocating", "root", "(I)I", int32(20)); err != nil {
		t.Fatal(err)
	}
	const in = "t/Allocating."
	lost := map[interp.Made]int64{
		{Method: in + "argument(I)I", Type: "t/Allocating$Point"}: 10, // 1 / 0
		{Method: in + "root(I)I", Type: "t/Allocating$Fails"}:     8,  // of 3 and 4, 4 times each
	}
	for _, k := range []interp.Made{ // arrays within others
		{Method: in + "figure(III)I", Type: "[[Ljava/lang/Object;"},
		{Method: in + "figure(III)I", Type: "[Ljava/lang/Object;"},
		{Method: in + "figure(III)I", Type: "[[I"},
		{Method: in + "figure(III)I", Type: "[I"},
		{Method: in + "partial(II)I", Type: "[[I"},
		{Method: in + "partial(II)I", Type: "[[[Ljava/lang/String;"},
		{Method: in + "partial(II)I", Type: "[J"},
		{Method: in + "negative(I)I", Type: "[I"},
	} {
		lost[k] = s.made[k].Objects - s.survived[k].Objects
	}
	for k, n := range s.made {
		if got := s.survived[k].Objects; got != n.Objects-lost[k] {
			t.Errorf("%s in %s: %d of %d, %d are lost", k.Type, k.Method, got, n.Objects, lost[k])
		}
	}
	if len(s.survived) < 20 {
		t.Errorf("objects of %d kinds", len(s.survived))
	}
}
