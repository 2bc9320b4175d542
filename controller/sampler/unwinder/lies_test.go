package unwinder

import (
	"math"
	"reflect"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
)

// anything is a memory that has something everywhere: the words of its own addresses, so that each pointer leads on.
type anything struct{ reads, bytes int }

func (a *anything) Read(p []byte, at uint64) error {
	a.reads++
	a.bytes += len(p)
	for i := range p {
		x := at + uint64(i)
		p[i] = byte((x &^ 7 * 0x9E3779B97F4A7C15) >> (8 * (x & 7)))
	}
	return nil
}

func (a *anything) ReadMany(spans []vmstructs.Span) error {
	for i := range spans {
		_ = a.Read(spans[i].P, spans[i].At) // never fails
		spans[i].OK = true
	}
	return nil
}

// TestLies gives each field of a JVM's tables, in turn, values that are not true: the walk ends, within the
// bounds of a walk.
func TestLies(t *testing.T) {
	for _, name := range []string{"jdk8-compiled", "jdk17-interpreted", "jdk25-compiled", "jdk25-native", "arm64-jdk25-c1", "arm64-jdk25-interpreted"} {
		c := openCore(t, "testdata/cores/"+name+".core.gz")
		fields := reflect.TypeFor[Layout]()
		for i := range fields.NumField() {
			lies := []uint64{0, 1, 7, 8, 500, 1 << 12, 1<<16 - 8, 1<<16 - 1, none} // package vmstructs takes no others
			switch {
			case fields.Field(i).Type.Kind() == reflect.Int64:
				lies = []uint64{0, 1, 1 << 31, 1 << 60, 1 << 63, math.MaxUint64}
			case fields.Field(i).Type.Kind() == reflect.Uint8:
				lies = []uint64{0, 1}
			case statics[fields.Field(i).Name]:
				lies = []uint64{0, 1, 1 << 12, 1 << 31, 1 << 46, 1<<47 - 8, 1 << 63, math.MaxUint64 - 7, none}
			}
			for _, lie := range lies {
				lying := *c
				v := reflect.ValueOf(&lying.Layout).Elem().Field(i)
				if v.Kind() == reflect.Uint64 && lie == none && needed(&lying.Layout, v.Addr().Interface().(*uint64)) {
					continue // NewLayout refuses it
				}
				switch {
				case v.Kind() == reflect.Bool:
					v.SetBool(lie != 0)
				case v.CanUint():
					v.SetUint(lie)
				default:
					v.SetInt(int64(lie))
				}
				if lying.Layout.complete() != nil {
					continue // it is refused
				}
				if w := lying.Walk(); len(w.Frames) > maxFrames*(maxScopes+1) {
					t.Errorf("%s, %s = %#x: %d frames", name, fields.Field(i).Name, lie, len(w.Frames))
				}
				memory := &anything{}
				u := New(&lying.Layout, memory, nil, false)
				u.Ready()
				u.Begin(1)
				u.Walk(c.Registers, c.Dump, c.Thread)
				u.Begin(2)
				threads := u.Threads()
				u.Begin(3)
				u.Flag("DebugNonSafepoints")
				u.ThreadName(c.Thread)
				u.MonitorClass(c.Registers.SP)
				u.locks(c)
				if memory.bytes > mostLies || len(threads) > maxThreads {
					t.Errorf("%s, %s = %#x: %d threads, %d reads of %d bytes", name, fields.Field(i).Name, lie, len(threads), memory.reads, memory.bytes)
				}
			}
		}
	}
}

// locks asks all that there is of locks.
func (u *Unwinder) locks(c *Core) {
	h := u.Holders([]Thread{c.Thread, {At: c.Registers.FP &^ 7, StackBase: c.Thread.StackBase + 1<<20}})
	for _, at := range []uint64{0, c.Registers.SP, c.Registers.FP, c.Thread.StackBase - 8} {
		h.Of(u.Monitor(at), at)
		for _, owner := range []uint64{1, 2, at, c.Thread.At} {
			h.Of(Lock{Object: at, Owned: true, owner: owner}, at)
		}
	}
	h.Of(u.Blocker(c.Thread), 0)
	u.Status(c.Thread)
	u.Daemon(c.Thread)
	u.Virtual()
	u.Collections()
	u.Objects()
	for name := range u.pools {
		u.File(name)
	}
	u.mirrored(c.Registers.SP)
}

// mostLies are the bytes of all that is asked for each time.
const mostLies = 512 << 20

// statics are the fields that are addresses.
var statics = map[string]bool{
	"Heap": true, "Heaps": true, "Interpreter": true, "CallStubReturn": true, "ThreadList": true, "ThreadArray": true, "Flags": true, "FlagCount": true,
	"ContinuationReturn": true, "ThreadKlass": true, "StringKlass": true, "OopBase": true, "OopShift": true, "KlassBase": true, "KlassShift": true,
	"JavaHeap": true, "MirrorKlass": true,
}

// needed reports whether each JVM has a field.
func needed(l *Layout, field *uint64) bool {
	for _, r := range append(l.codeRows(), l.otherRows()...) {
		if r.to == field {
			return !r.optional
		}
	}
	return field == &l.BlockSize || field == &l.DescSize || field == &l.ConstMethodSize || field == &l.PoolSize
}
