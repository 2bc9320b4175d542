package attach

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFolder does everything in a folder whose name leads elsewhere by then.
func TestFolder(t *testing.T) {
	top := t.TempDir()
	elsewhere := filepath.Join(top, "elsewhere")
	if err := os.Mkdir(elsewhere, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "pipe", "kept"} {
		os.WriteFile(filepath.Join(elsewhere, name), []byte("elsewhere"), 0o644)
	}
	parent, err := OpenFolder(0, top)
	if err != nil {
		t.Fatal(err)
	}
	defer parent.Close()
	d, err := parent.Make("ours")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if !d.Private(uint32(os.Geteuid())) || !d.Is(parent) {
		t.Error("the new folder is not private, or not there")
	}
	os.Rename(filepath.Join(top, "ours"), filepath.Join(top, "moved"))
	os.Symlink(elsewhere, filepath.Join(top, "ours"))

	uid, gid := uint32(os.Geteuid()), uint32(os.Getegid())
	if err := d.Write("file", []byte("ours"), uid, gid); err != nil {
		t.Error(err)
	}
	if err := d.Write("file", []byte("again"), uid, gid); !errors.Is(err, os.ErrExist) {
		t.Errorf("written twice: %v", err)
	}
	f, err := d.Fifo("pipe", uid, gid)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if b, err := os.ReadFile(filepath.Join(top, "moved", "file")); string(b) != "ours" {
		t.Errorf("%q, %v", b, err)
	}
	if b, err := d.ReadFile("file", 2); string(b) != "ou" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	// What is no regular file is not read: a FIFO would keep us waiting, a link leads elsewhere.
	os.Symlink(filepath.Join(elsewhere, "file"), filepath.Join(top, "moved", "link"))
	for _, name := range []string{"pipe", "link", "none"} {
		if b, err := d.ReadFile(name, 10); err == nil {
			t.Errorf("%s was read: %q", name, b)
		}
	}
	if _, err := parent.Open("ours"); err == nil {
		t.Error("a link was opened as a folder")
	}
	if d.Is(parent) {
		t.Error("the link is taken for the folder")
	}
	if err := d.RemoveAll(parent); err != nil {
		t.Error(err)
	}
	if names := d.Names(0); len(names) != 0 {
		t.Errorf("left: %v", names)
	}
	for _, name := range []string{"file", "pipe", "kept"} {
		if b, err := os.ReadFile(filepath.Join(elsewhere, name)); string(b) != "elsewhere" {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(top, "ours")); err != nil {
		t.Errorf("what somebody else put there was removed: %v", err)
	}
}

// TestWalking compares openWalking with openat2 in trees of folders, files and links.
func TestWalking(t *testing.T) {
	rng := rand.New(rand.NewPCG(30, 6))
	names := []string{"a", "b", "c", ".", ".."}
	path := func() string {
		var p []string
		for range 1 + rng.IntN(4) {
			p = append(p, names[rng.IntN(len(names))])
		}
		s := strings.Join(p, "/")
		if rng.IntN(3) == 0 {
			s = "/" + s
		}
		return s
	}
	checked, opened := 0, 0
	for range 30 {
		top := t.TempDir()
		for range 20 {
			name := filepath.Join(top, filepath.Join("/", path()))
			switch rng.IntN(4) {
			case 0:
				os.Symlink(path(), name)
			case 1:
				os.WriteFile(name, nil, 0o600)
			default:
				os.Mkdir(name, 0o700)
			}
		}
		root, err := unix.Open(top, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		for range 200 {
			p := strings.TrimPrefix(path(), "/")
			flags := unix.O_PATH
			if rng.IntN(2) == 0 {
				flags |= unix.O_DIRECTORY
			} else if rng.IntN(2) == 0 {
				flags = unix.O_RDONLY
			}
			want, err1 := openKernel(root, p, flags)
			if errors.Is(err1, unix.ENOSYS) || errors.Is(err1, unix.EPERM) {
				t.Skip("no openat2 here")
			}
			got, err2 := openWalking(root, p, flags)
			checked++
			if err1 != nil || err2 != nil {
				if !errors.Is(err1, err2) {
					t.Errorf("%s (%#x): %v, want %v", p, flags, err2, err1)
				}
			} else {
				var a, b unix.Stat_t
				unix.Fstat(want, &a)
				unix.Fstat(got, &b)
				if a.Ino != b.Ino || a.Dev != b.Dev {
					t.Errorf("%s leads elsewhere", p)
				}
				opened++
			}
			unix.Close(want)
			unix.Close(got)
		}
		unix.Close(root)
	}
	if opened < checked/10 {
		t.Errorf("only %d of %d paths led anywhere", opened, checked)
	}
}
