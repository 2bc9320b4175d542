package perf

import (
	"encoding/binary"
	"errors"
	"os"
	"reflect"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// record makes a record of a ring.
func record(kind uint32, words ...uint64) []byte {
	p := binary.LittleEndian.AppendUint32(nil, kind)
	p = binary.LittleEndian.AppendUint16(p, 0)
	p = binary.LittleEndian.AppendUint16(p, uint16(headSize+8*len(words)))
	for _, w := range words {
		p = binary.LittleEndian.AppendUint64(p, w)
	}
	return p
}

// sampled are the words of a sample of thread 8 of process 7.
func sampled(stack ...uint64) []uint64 {
	words := append([]uint64{7 | 8<<32, 1000, 99, abi64, 1, 2, 3, 4, 5, uint64(8 * len(stack))}, stack...)
	return append(words, uint64(8*len(stack)))
}

// ringOf is one in which the records begin so many bytes before its end.
func ringOf(size, before int, records ...[]byte) *ring {
	r := &ring{page: &unix.PerfEventMmapPage{}, data: make([]byte, size)}
	r.page.Data_tail = uint64(3*size - before)
	head := r.page.Data_tail
	for _, p := range records {
		for _, b := range p {
			r.data[head%uint64(size)] = b
			head++
		}
	}
	r.page.Data_head = head
	return r
}

// TestDrain reads records wherever the ring ends in them.
func TestDrain(t *testing.T) {
	records := [][]byte{
		record(recordSample, sampled(10, 11, 12)...),
		record(recordLost, 99, 5),
		record(77, 1),
		record(recordSample, 7|9<<32, 1001, 99, 0),            // without registers
		record(recordSample, 70|9<<32, 1001, 99, 0),           // of another process
		record(recordSample, sampled()[:len(sampled())-1]...), // without a stack
		record(recordSample, 7),                               // cut
	}
	for before := 0; before <= 256; before += 8 {
		s := &Source{pid: 7, of: machines["amd64"], rings: []*ring{ringOf(1024, before, records...)}}
		var got []Sample
		s.Drain(func(p *Sample) {
			c := *p
			c.Stack = append([]byte(nil), p.Stack...)
			got = append(got, c)
		})
		regs := Registers{BX: 1, BP: 2, SP: 3, IP: 4, R13: 5}
		stack := make([]byte, 24)
		for i := range 3 {
			binary.LittleEndian.PutUint64(stack[8*i:], uint64(10+i))
		}
		want := []Sample{
			{TID: 8, Time: 1000, Regs: regs, Stack: stack, Valid: true},
			{TID: 9, Time: 1001},
			{TID: 8, Time: 1000, Regs: regs, Valid: true},
		}
		if !reflect.DeepEqual(got, want) || s.Lost() != 5 {
			t.Fatalf("%d before the end: %+v, lost %d", before, got, s.Lost())
		}
		if r := s.rings[0]; r.page.Data_tail != r.page.Data_head {
			t.Errorf("%d bytes are left", r.page.Data_head-r.page.Data_tail)
		}
	}
}

// TestArm64 reads registers as a machine of arm64 gives them.
func TestArm64(t *testing.T) {
	words := []uint64{7 | 8<<32, 1000, 99, abi64, 12, 13, 19, 22, 29, 30, 31, 32, 8, 77, 8}
	s := &Source{pid: 7, of: machines["arm64"], rings: []*ring{ringOf(1024, 40, record(recordSample, words...))}}
	want := Registers{BX: 12, X13: 13, R13: 19, X22: 22, BP: 29, LR: 30, SP: 31, IP: 32}
	n := 0
	s.Drain(func(p *Sample) {
		if n++; !p.Valid || p.Regs != want || len(p.Stack) != 8 || p.Stack[0] != 77 {
			t.Errorf("%+v", p)
		}
	})
	if n != 1 {
		t.Errorf("%d samples", n)
	}
	// asm/perf_regs.h: x0 is 0, sp 31, pc 32; of x86-64 bx is 1, bp 6, sp 7, ip 8, r13 21.
	if arm, x86 := machines["arm64"].mask(), machines["amd64"].mask(); arm != 1<<12|1<<13|1<<19|1<<22|7<<29|1<<32 || x86 != 0x2001C2 {
		t.Errorf("%#x, %#x", arm, x86)
	}
}

// TestKernel reads the kernel's frames, which come before the registers, and nobody else's.
func TestKernel(t *testing.T) {
	mark := func(n int64) uint64 { return uint64(-n) } // PERF_CONTEXT_KERNEL, _USER, _GUEST
	plain := sampled(10)
	chain := func(n uint64, at ...uint64) []uint64 {
		words := append(append([]uint64(nil), plain[:3]...), n)
		return append(append(words, at...), plain[3:]...)
	}
	k := uint64(0xffffffff81000000)
	for _, c := range []struct {
		words []uint64
		want  []uint64
		lost  bool
	}{
		{words: chain(5, mark(128), k+1, k+2, mark(512), 77), want: []uint64{k + 1, k + 2}},
		{words: chain(2, mark(512), 77)},
		{words: chain(4, mark(2048), k+9, mark(128), k+1), want: []uint64{k + 1}},
		{words: chain(0)},
		{words: chain(1 << 61), lost: true},
		{words: chain(200, mark(128), k+1), lost: true},
		{words: plain[:3], lost: true},
	} {
		s := &Source{pid: 7, of: machines["amd64"], rings: []*ring{ringOf(1024, 40, record(recordSample, c.words...))}}
		s.attr.Sample_type = sampleTypes | callChain
		n := 0
		s.Drain(func(p *Sample) {
			n++
			if !reflect.DeepEqual(p.Kernel, c.want) || !p.Valid || p.Regs.R13 != 5 || len(p.Stack) != 8 {
				t.Errorf("%x: %+v", c.words, p)
			}
		})
		if n == 0 != c.lost {
			t.Errorf("%x: %d samples", c.words, n)
		}
	}
}

// TestTwice leaves out the samples of an event that a thread has inherited and has one of its own
// beside.
func TestTwice(t *testing.T) {
	s := &Source{pid: 7, of: machines["amd64"], late: map[int]map[uint64]bool{8: {42: true}}, rings: []*ring{ringOf(1024, 0, record(recordSample, sampled(1)...))}}
	s.Drain(func(*Sample) { t.Error("a sample of event 99") })
	s.late[8][99] = true
	s.rings[0] = ringOf(1024, 0, record(recordSample, sampled(1)...))
	n := 0
	s.Drain(func(*Sample) { n++ })
	if n != 1 {
		t.Errorf("%d samples", n)
	}
}

// TestRanges decodes lists of CPUs.
func TestRanges(t *testing.T) {
	for s, want := range map[string][]int{"0": {0}, "0-3": {0, 1, 2, 3}, "0-1,4,6-7": {0, 1, 4, 6, 7}, "": nil, "a": nil, "1-": nil, "3-1": nil} {
		if got, _ := ranges(s); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
	}
}

// TestOpenFails says why it can't.
func TestOpenFails(t *testing.T) {
	if _, err := Open(os.Getpid(), Options{}); !errors.Is(err, unix.EINVAL) {
		t.Error("no period:", err)
	}
	if _, err := Open(os.Getpid(), Options{Period: 1e6, StackBytes: 100}); !errors.Is(err, unix.EINVAL) {
		t.Error("odd stack:", err)
	}
	if _, err := Open(1<<22+1, Options{Period: 1e6}); !errors.Is(err, os.ErrProcessDone) {
		t.Error("no process:", err)
	}
	for err, want := range map[error]error{
		unix.EMFILE: ErrFiles, unix.EACCES: ErrDenied, unix.EPERM: ErrDenied, unix.ENOSYS: ErrUnsupported, unix.ESRCH: os.ErrProcessDone, unix.E2BIG: unix.E2BIG,
	} {
		if got := explain(7, "sample", err); !errors.Is(got, want) {
			t.Errorf("%v: %v", err, got)
		}
	}
	if err := explain(7, "map a ring", unix.EPERM); !errors.Is(err, ErrMemory) {
		t.Error(err)
	}
}

// TestOwn samples this process while a thread of it, which began after the first sample,
// computes.
func TestOwn(t *testing.T) {
	s, err := Open(os.Getpid(), Options{Period: int64(time.Millisecond)})
	if errors.Is(err, ErrDenied) || errors.Is(err, ErrUnsupported) {
		t.Skip("perf events are not to be had")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tid := make(chan int)
	var stop atomic.Bool
	go func() {
		runtime.LockOSThread() // and ends with it
		tid <- unix.Gettid()
		for !stop.Load() {
		}
	}()
	defer stop.Store(true)
	want, last, found := <-tid, int64(0), 0
	for begun := time.Now(); found < 20; {
		if time.Since(begun) > 5*time.Minute {
			t.Fatalf("%d samples", found)
		}
		s.Drain(func(p *Sample) {
			if p.TID != want {
				return
			}
			found++
			if !p.Valid || p.Regs.IP == 0 || len(p.Stack) == 0 {
				t.Errorf("%+v", p.Regs)
			}
			last = p.Time
		})
		time.Sleep(10 * time.Millisecond)
	}
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil || last <= 0 || last > now.Nano() || now.Nano()-last > int64(time.Hour) {
		t.Errorf("time %d, now %d", last, now.Nano())
	}
}

// FuzzDrain reads rings that make no sense.
func FuzzDrain(f *testing.F) {
	f.Add(record(recordSample, sampled(1, 2)...), uint64(8), uint64(200))
	f.Fuzz(func(t *testing.T, p []byte, tail, head uint64) {
		r := &ring{page: &unix.PerfEventMmapPage{Data_tail: tail, Data_head: head}, data: make([]byte, 1024)}
		copy(r.data, p)
		for _, types := range []uint64{sampleTypes, sampleTypes | callChain} {
			s := &Source{pid: 7, of: machines["amd64"], rings: []*ring{r}, attr: unix.PerfEventAttr{Sample_type: types}}
			r.page.Data_tail, r.page.Data_head = tail, head
			n := 0
			s.Drain(func(p *Sample) { n += 1 + len(p.Stack)/1024 + len(p.Kernel)/128 })
			if n > 1024/headSize {
				t.Errorf("%d samples of 1,024 bytes", n)
			}
		}
	})
}
