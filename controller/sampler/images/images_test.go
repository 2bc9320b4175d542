package images

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestParse takes executable mappings of files from lines of /proc/PID/maps, whatever they
// are called.
func TestParse(t *testing.T) {
	for line, want := range map[string]mapping{
		"7f00a000-7f00c000 r-xp 00002000 fe:00 1234                       /usr/lib/libc.so.6":              {begin: 0x7f00a000, end: 0x7f00c000, offset: 0x2000, path: "/usr/lib/libc.so.6"},
		"7f00a000-7f00c000 r-xp 00000000 fe:00 1234                       /opt/my jdk/libjvm.so (deleted)": {begin: 0x7f00a000, end: 0x7f00c000, path: "/opt/my jdk/libjvm.so (deleted)"},
		"7ffd0000-7ffd2000 r-xp 00000000 00:00 0                          [vdso]":                          {begin: 0x7ffd0000, end: 0x7ffd2000, path: "[vdso]"},
		"7f00a000-7f00c000 rw-p 00002000 fe:00 1234                       /usr/lib/libc.so.6":              {},
		"7f00a000-7f00c000 rwxp 00000000 00:00 0 ":                                                         {},
		"7f00c000-7f00a000 r-xp 00000000 fe:00 1  /x":                                                      {},
		"7f00a000 r-xp 00000000 fe:00 1  /x":                                                               {},
		"7f00a000-zz r-xp 00000000 fe:00 1  /x":                                                            {},
		"":                                                                                                 {},
	} {
		g, ok := parse(line)
		if ok != (want.path != "") {
			t.Errorf("%q: %v", line, ok)
		}
		g.key = ""
		if ok && g != want {
			t.Errorf("%q: %+v, want %+v", line, g, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("7f00a000-7f00c000 r-xp 00002000 fe:00 1234 /usr/lib/libc.so.6")
	f.Fuzz(func(t *testing.T, line string) {
		if g, ok := parse(line); ok && (g.begin >= g.end || g.path == "") {
			t.Errorf("%+v", g)
		}
	})
}

// TestDebugFile finds the file that has a library's symbols by the library's build id.
func TestDebugFile(t *testing.T) {
	library := filepath.Join(t.TempDir(), "program")
	src := library + ".go"
	if err := os.WriteFile(src, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", library, src).CombinedOutput(); err != nil { // go test may strip its own
		t.Fatalf("%v\n%s", err, out)
	}
	e, err := elf.Open("/bin/sh")
	if err != nil {
		t.Skip(err)
	}
	defer e.Close()
	note := e.Section(".note.gnu.build-id")
	if note == nil {
		t.Skip("no build id")
	}
	p, err := note.Data()
	if err != nil || len(p) < 18 {
		t.Fatal(err, len(p))
	}
	f := file{elf: e, root: t.TempDir()}
	if f.debugFile() != nil {
		t.Error("a file that there isn't")
	}
	dir := fmt.Sprintf("%s/usr/lib/debug/.build-id/%02x", f.root, p[16])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(library, fmt.Sprintf("%s/%x.debug", dir, p[17:])); err != nil {
		t.Fatal(err)
	}
	d := f.debugFile()
	if d == nil {
		t.Fatal("not found")
	}
	defer d.Close()
	if len(functions(d)) == 0 {
		t.Error("it has no functions")
	}
}
