package headroom

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A Memory is what control groups let a process take.
type Memory struct {
	Left  int64 // bytes until the nearest limit, which may be below 0; what the kernel can take back, cached files, counts as left
	Limit int64 // of that group, in bytes
}

// proc and mount are where processes and control groups are.
var proc, mount = "/proc", "/sys/fs/cgroup"

// unlimited is a limit that version 1 has where there is none, or more.
const unlimited = 1 << 60

// near is how much has to be left, as a part of the limit, for nobody to ask what the kernel could take back: to count
// that takes the kernel a while.
const near = 4

// version is how one version of control groups calls its files.
type version struct {
	root, limit, used string
	cached            []string // of memory.stat: what the kernel can take back
}

// Of is what the control groups (version 1 or 2, as seen from here or by the process itself) let a process take; false
// where they have no limit, or can't be seen.
func Of(pid int) (m Memory, limited bool) {
	groups, err := os.ReadFile(fmt.Sprintf("%s/%d/cgroup", proc, pid))
	if err != nil {
		return Memory{}, false
	}
	for line := range strings.Lines(string(groups)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		v := version{mount, "memory.max", "memory.current", []string{"active_file", "inactive_file"}}
		if slices.Contains(strings.Split(f[1], ","), "memory") {
			v = version{path.Join(mount, "memory"), "memory.limit_in_bytes", "memory.usage_in_bytes", []string{"total_active_file", "total_inactive_file"}}
		} else if f[1] != "" {
			continue
		}
		if strings.HasPrefix(f[2], "/..") { // in a container beside this one
			v.root, f[2] = path.Join(fmt.Sprintf("%s/%d/root", proc, pid), v.root), "/"
		}
		for dir := path.Join(v.root, f[2]); strings.HasPrefix(dir, v.root); dir = path.Dir(dir) {
			if n, ok := v.of(dir); ok && (!limited || n.Left < m.Left) {
				m, limited = n, true
			}
		}
	}
	return m, limited
}

// of is what one group has left.
func (v *version) of(dir string) (Memory, bool) {
	most, ok1 := number(read(path.Join(dir, v.limit)))
	now, ok2 := number(read(path.Join(dir, v.used)))
	if !ok1 || !ok2 || most > unlimited {
		return Memory{}, false
	}
	m := Memory{most - now, most}
	if m.Left < most/near {
		for line := range bytes.Lines(read(path.Join(dir, "memory.stat"))) {
			name, value, _ := bytes.Cut(line, []byte(" "))
			if n, ok := number(value); ok && slices.Contains(v.cached, string(name)) {
				m.Left += n
			}
		}
	}
	return m, true
}

// read is what a small file holds; nothing if it can't be read. A file that a container has put in the place of the kernel's
// is not waited for.
func read(name string) []byte {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	b, _ := io.ReadAll(io.LimitReader(f, 1<<16))
	return b
}

func number(b []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(bytes.TrimSpace(b)), 10, 64)
	return n, err == nil
}

// taken is how much memory Go has of the kernel, in bytes. Tests say something else.
var taken = func() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64())
}
