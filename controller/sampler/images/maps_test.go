package images

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// own is the memory of this process, of which the vdso is all that is read.
type own struct{}

func (own) Read([]byte, uint64) error { return unix.EFAULT }

// TestRemapped maps one file in the place of another, and fifty more, one after the other: names are
// those of the file that is there, and no file is kept open that is not.
func TestRemapped(t *testing.T) {
	dir := t.TempDir()
	one, other, source := filepath.Join(dir, "one"), filepath.Join(dir, "other"), filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", one, source).CombinedOutput(); err != nil { // the test itself has no symbols
		t.Fatalf("%v: %s", err, out)
	}
	exe, err := os.ReadFile(one)
	if err != nil {
		t.Fatal(err)
	}
	stripped := append([]byte(nil), exe[:1<<16]...) // its sections are beyond the end
	if err := os.WriteFile(other, stripped, 0o700); err != nil {
		t.Fatal(err)
	}
	e, err := elf.Open(one)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	symbols, err := e.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	offset, pc := int64(0), uint64(0)
	for _, p := range e.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			offset = int64(p.Off)
			for _, s := range symbols {
				if s.Name == "runtime.text" {
					pc = s.Value - p.Vaddr
				}
			}
		}
	}
	const size = 1 << 16
	room, err := unix.Mmap(-1, 0, size, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(room)
	at := uintptr(unsafe.Pointer(&room[0]))
	put := func(path string, offset int64) {
		t.Helper()
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, _, e := unix.Syscall6(unix.SYS_MMAP, at, size, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_FIXED, f.Fd(), uintptr(offset)); e != 0 {
			t.Fatal(e)
		}
	}
	m := New(os.Getpid(), own{})
	defer m.Close()
	name := func(now int64) string {
		m.Begin(now)
		return m.Name(uint64(at) + pc + 16)
	}
	put(one, offset)
	first := name(0)
	if !strings.Contains(first, ".") || first == "one" {
		t.Fatalf("the function's name is %q", first)
	}
	put(other, 0)
	if got := name(2*rereadEach + m.every); got != "other" {
		t.Errorf("after another file is there: %q", got)
	}
	put(one, offset)
	if got := name(4*rereadEach + 2*m.every); got != first {
		t.Errorf("after the first is there again: %q", got)
	}
	for i := range 50 {
		path := filepath.Join(dir, fmt.Sprint("lib", i))
		if err := os.Link(one, path); err != nil {
			t.Fatal(err)
		}
		put(path, offset)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		m.every = rereadEach
		if got := name(int64(i+10) * 2 * rereadEach); got != first {
			t.Fatalf("library %d: %q", i, got)
		}
		if len(m.files) > 10 {
			t.Fatalf("%d files are kept", len(m.files))
		}
	}
}
