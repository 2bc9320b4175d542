package vmstructs_test

import (
	"errors"
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestReadMany reads more pieces than one call takes, with some in between that can't be read.
func TestReadMany(t *testing.T) {
	page := unix.Getpagesize()
	mem, err := unix.Mmap(-1, 0, 2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mem)
	if err := unix.Mprotect(mem[page:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	at := uint64(uintptr(unsafe.Pointer(&mem[0])))
	own := vmstructs.Process(os.Getpid())
	spans := make([]vmstructs.Span, 3000)
	for i := range spans {
		mem[i] = byte(i)
		spans[i] = vmstructs.Span{At: at + uint64(i), P: make([]byte, 1)}
		switch {
		case i%500 == 7:
			spans[i].At = at + uint64(page)
		case i%500 == 8: // in part
			spans[i] = vmstructs.Span{At: at + uint64(page) - 4, P: make([]byte, 8)}
		case i%500 == 9:
			spans[i].P = nil
		}
	}
	if err := own.ReadMany(spans); err != nil {
		t.Fatal(err)
	}
	for i, s := range spans {
		if want := i%500 != 7 && i%500 != 8; s.OK != want || s.OK && len(s.P) > 0 && s.P[0] != byte(i) {
			t.Errorf("piece %d: %v, %v", i, s.OK, s.P)
		}
	}
	if err := own.Read(make([]byte, 8), at+uint64(page)-4); !errors.Is(err, unix.EFAULT) {
		t.Error("in part:", err)
	}
	if err := vmstructs.Process(1<<22 + 1).ReadMany(spans); !errors.Is(err, unix.ESRCH) {
		t.Error("no process:", err)
	}
}

// TestReadTables finds what differs between JDKs: offsets that are the same in all, a static, a
// size and a constant.
func TestReadTables(t *testing.T) {
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		a := jvmtest.Open(t, "testdata/ran.txtar")
		p := jvmtest.Start(t, j, nil, "Ran", nil, a.Compile(t, j, 8))
		p.WaitLine("READY")
		tab, err := vmstructs.ReadTables(p.PID())
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]uint64{"PcDesc::_scope_decode_offset": 4, "Method::_constMethod": 8, "JavaFrameAnchor::_last_Java_fp": 16, "VirtualSpace::_high": 24} {
			if got, ok := tab.Offset("No::_such", name); !ok || got != want {
				t.Errorf("%s: %d, %v, want %d", name, got, ok, want)
			}
		}
		if at, ok := tab.Static("AbstractInterpreter::_code"); !ok || at%8 != 0 {
			t.Errorf("%#x, %v", at, ok)
		}
		if n, ok := tab.Size("PcDesc"); !ok || n != 16 {
			t.Errorf("%d, %v", n, ok)
		}
		if v, ok := tab.Constant("frame::entry_frame_call_wrapper_offset"); !ok || v != -6 {
			t.Errorf("%d, %v", v, ok)
		}
		_, o := tab.Offset("No::_such")
		_, s := tab.Static("No::_such")
		_, z := tab.Size("No")
		_, c := tab.Constant("No")
		if o || s || z || c {
			t.Error("there is what there is not")
		}
	})
}
