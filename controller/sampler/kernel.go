package sampler

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/sampler/images"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/controller/sampler/unwinder"
)

// A kernel makes frames of the kernel's functions.
type kernel struct {
	names   images.Kernel
	methods map[string]*stack.Method
	room    []stack.Frame
}

// frames are those of addresses, valid until the next call. Where no address has a name, they are
// one frame: more would say nothing.
func (k *kernel) frames(at []uint64) []stack.Frame {
	k.room = k.room[:0]
	for i, a := range at {
		if i > 0 {
			a-- // the call
		}
		name := k.names.Name(a)
		if n := len(k.room); name == images.UnknownKernel && n > 0 && k.room[n-1].Method.Name == name {
			continue
		}
		k.add(name)
	}
	return k.room
}

func (k *kernel) add(name string) {
	const most = 1 << 16
	m := k.methods[name]
	if m == nil {
		if k.methods == nil || len(k.methods) >= most {
			k.methods = map[string]*stack.Method{}
		}
		m = &stack.Method{Name: name}
		k.methods[name] = m
	}
	k.room = append(k.room, stack.Frame{Method: m, Kind: stack.Kernel, BCI: -1})
}

// listed makes frames of /proc/PID/task/TID/stack: lines such as "[<0>] futex_wait+0x7f/0xc0".
func (k *kernel) listed(text []byte) []stack.Frame {
	k.room = k.room[:0]
	for line := range bytes.Lines(text) {
		_, name, ok := strings.Cut(string(line), "] ")
		if name, _, _ = strings.Cut(strings.TrimSpace(name), "+"); ok && name != "" && name[0] != '0' {
			k.add(name)
		}
	}
	return k.room
}

// above are the frames of the kernel, and of native code, above where a thread that waits left
// Java code; as far as the kernel says where it waits, which takes root for its own frames.
func (s *Sampler) above(tid int, t unwinder.Thread, a unwinder.Anchor) []stack.Frame {
	dir := fmt.Sprintf("/proc/%d/task/%d/", s.pid, tid)
	b, err := os.ReadFile(dir + "syscall")
	if err != nil {
		return nil
	}
	sp, pc, ok := waitsAt(b)
	if !ok {
		return nil
	}
	text, _ := os.ReadFile(dir + "stack") // without root, there is none
	return s.copied(s.kernel.listed(text), s.u.NativeAbove(unwinder.Registers{PC: pc, SP: sp}, t, a.SP))
}

// waitsAt takes the last two fields of /proc/PID/task/TID/syscall, the stack pointer and the program
// counter (proc_pid_syscall(5)).
func waitsAt(b []byte) (sp, pc uint64, ok bool) {
	f := strings.Fields(string(b))
	if len(f) < 3 {
		return 0, 0, false
	}
	var err [2]error
	sp, err[0] = strconv.ParseUint(f[len(f)-2], 0, 64)
	pc, err[1] = strconv.ParseUint(f[len(f)-1], 0, 64)
	return sp, pc, err[0] == nil && err[1] == nil && sp%8 == 0
}
