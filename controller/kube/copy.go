package kube

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"sync"
	"time"
)

// A Binary is a program that is copied to containers.
type Binary struct {
	Path string
	Size int64
	Arch string // as uname has it

	pack func() ([]byte, error) // by gzip, once for all containers: to a third
}

func packed(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err = io.Copy(z, f)
	err = errors.Join(err, z.Close())
	return b.Bytes(), err
}

var machines = map[elf.Machine]string{elf.EM_X86_64: "x86_64", elf.EM_AARCH64: "aarch64"}

// OpenBinary looks at a binary: a static one runs in any container of its architecture.
func OpenBinary(name string) (*Binary, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	f, err := elf.Open(name)
	if err != nil {
		return nil, &Error{CheckBinary, name + " is no program for Linux", "give a released binary with --binary FILE", err}
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return nil, &Error{Check: CheckBinary, Cause: name + " is linked with libraries that a container may not have", Fix: "build it with CGO_ENABLED=0, or give a released binary with --binary FILE"}
		}
	}
	b := &Binary{Path: name, Size: info.Size(), Arch: machines[f.Machine], pack: sync.OnceValues(func() ([]byte, error) { return packed(name) })}
	if b.Arch == "" {
		return nil, &Error{Check: CheckBinary, Cause: fmt.Sprintf("%s is for %v", name, f.Machine), Fix: "give a released binary with --binary FILE"}
	}
	return b, nil
}

// Fits says whether the binary runs on a container's machine.
func (b *Binary) Fits(at Place, v *View) error {
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[v.Arch]
	if arch == "" {
		arch = v.Arch
	}
	if arch != "" && arch != b.Arch {
		return &Error{Check: CheckBinary, Cause: fmt.Sprintf("%s runs on %s, and %s is for %s", at, arch, b.Path, b.Arch), Fix: "give the binary for that with --binary FILE"}
	}
	return nil
}

// prefix begins the names of files that are copied.
const prefix = ".rivulet-kube-"

// writers write standard input to the file "$1".
var writers = map[string]string{
	"cat": `cat >"$1"`,
	"dd":  `dd of="$1" bs=65536 2>/dev/null`,
	"tee": `tee "$1" >/dev/null`,
	"cp":  `cp /dev/stdin "$1"`,
}

// unpacks does it with what is packed.
const unpacks = `gzip -dc >"$1"`

// copyScript leaves a whole program, or nothing. What came too short was cut by a lost connection.
const copyScript = `umask 077
if %s && { n=$(wc -c <"$1" 2>/dev/null) || n=$2; [ "$n" -eq "$2" ]; } && chmod 700 "$1"; then exit 0; fi
rm -f "$1" 2>/dev/null || : >"$1"
exit 3`

// Copy streams a binary into a container and returns its path there. On an error nothing stays, if the container can still be reached.
// progress is told how many bytes of all have been sent.
func Copy(ctx context.Context, c Cluster, at Place, v *View, b *Binary, progress func(sent, all int64)) (string, error) {
	dir, err := v.Place(at)
	if err != nil {
		return "", err
	}
	if err := b.Fits(at, v); err != nil {
		return "", err
	}
	in, write, err := b.stream(v, progress)
	if err != nil {
		return "", err
	}
	defer in.Close()
	name := path.Join(dir, prefix+strings.ToLower(rand.Text()[:10]))
	var errs bytes.Buffer
	err = c.Exec(ctx, at, Streams{In: in, Out: io.Discard, Err: &errs}, "sh", "-c", fmt.Sprintf(copyScript, write), "rivulet", name, fmt.Sprint(b.Size))
	if err == nil {
		return name, nil
	}
	Remove(ctx, c, at, name)
	var exit *ExitError
	if errors.As(err, &exit) {
		return "", &Error{CheckPlace, fmt.Sprintf("the binary (%d MB) could not be written to %s of %s: %s", b.Size>>20, dir, at, oneLine(errs.String())), "make room there, or use an ephemeral container: --image IMAGE", err}
	}
	return "", err
}

// stream is what a container's tools are sent, and what they make a file of it with.
func (b *Binary) stream(v *View, progress func(sent, all int64)) (in io.ReadCloser, write string, err error) {
	if v.Unpacks {
		if text, err := b.pack(); err == nil {
			all := int64(len(text))
			return io.NopCloser(&counted{r: bytes.NewReader(text), tell: func(n int64) { progress(n, all) }}), unpacks, nil
		}
	}
	f, err := os.Open(b.Path)
	if err != nil {
		return nil, "", err
	}
	return struct {
		io.Reader
		io.Closer
	}{&counted{r: io.LimitReader(f, b.Size), tell: func(n int64) { progress(n, b.Size) }}, f}, writers[v.Writers[0]], nil
}

// removeWait bounds how long a removal may take: it is also done after the user has had enough.
const removeWait = 10 * time.Second

// Remove removes a copied binary, also after ctx has ended. Its process has unlinked it before, if it ever began.
func Remove(ctx context.Context, c Cluster, at Place, name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeWait)
	defer cancel()
	_ = c.Exec(ctx, at, Streams{Out: io.Discard, Err: io.Discard}, "sh", "-c", `rm -f "$1"`, "rivulet", name)
}

// IsCopy tells whether a path is one that [Copy] makes.
func IsCopy(name string) bool { return strings.HasPrefix(path.Base(name), prefix) }

// counted tells how much has been read.
type counted struct {
	r    io.Reader
	n    int64
	tell func(int64)
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	c.tell(c.n)
	return n, err
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
