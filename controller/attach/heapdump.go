package attach

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/headroom"
)

// DumpTimeout is how long a dump may take, for callers whose context has no deadline.
const DumpTimeout = time.Hour

// dumpShare is how much larger a dump is than the heap, at the most: it has references
// of 8 bytes where the heap has 4, and a header of 25 bytes for each object of 16.
const dumpShare = 2

// A DumpPlan is what a heap dump of a JVM will take.
type DumpPlan struct {
	Dir string // folder, as the target sees it
	// Heap is how large the heap can be: what the JVM has set aside for it, as far as that
	// has been touched, in bytes.
	Heap int64
	Need int64 // the most that the dump may take, in bytes
	Free int64 // what is free there for the target's user
	// Memory says that the folder is kept in memory, as a tmpfs is.
	Memory bool
}

// PlanDump works out what a dump into a folder ("": /tmp) would take. The target doesn't
// notice. The error matches ErrReadOnly if there is not enough room; it is then the
// caller's word to go on anyway.
func (vm *VM) PlanDump(dir string) (DumpPlan, error) {
	p := DumpPlan{Dir: path.Join("/", dir)}
	if dir == "" {
		p.Dir = "/tmp"
	}
	pid := vm.proc.PID
	if c, err := Counters(pid); err == nil {
		for name, v := range c {
			if n, ok := v.(int64); ok && strings.HasPrefix(name, "sun.gc.generation.") && strings.Contains(name, ".space.") && strings.HasSuffix(name, ".capacity") {
				p.Heap += n
			}
		}
	}
	// How much is in use is told as it was after the last collection only.
	if resident := residentOf(pid); p.Heap == 0 || resident > 0 && resident < p.Heap {
		p.Heap = resident
	}
	p.Need = dumpShare * p.Heap
	f, err := openDir(pid, p.Dir)
	if err != nil {
		return p, &Error{PID: pid, Kind: ErrReadOnly, Err: err, Cause: "no folder for the dump", Fix: "choose another one with --dump-dir"}
	}
	defer f.Close()
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &fs); err != nil {
		return p, &Error{PID: pid, Kind: ErrReadOnly, Err: err, Cause: "can't tell the room for the dump in " + p.Dir, Fix: "choose another folder with --dump-dir"}
	}
	p.Free = int64(fs.Bavail) * fs.Bsize
	p.Memory = fs.Type == unix.TMPFS_MAGIC || fs.Type == unix.RAMFS_MAGIC
	if p.Memory {
		// What a tmpfs holds counts as the memory of whoever writes it.
		if left, ok := memoryLeft(pid); ok {
			p.Free = min(p.Free, left)
		}
	}
	if fs.Flags&unix.ST_RDONLY != 0 {
		return p, &Error{PID: pid, Kind: ErrReadOnly, Err: unix.EROFS, Cause: "no room for the dump in " + p.Dir, Fix: "choose another folder with --dump-dir"}
	}
	if p.Free < p.Need {
		where := p.Dir
		if p.Memory {
			where += " (which is in memory)"
		}
		return p, &Error{PID: pid, Kind: ErrReadOnly, Err: unix.ENOSPC, Cause: fmt.Sprintf("a dump may take %d MB, and %s has room for %d", p.Need>>20, where, max(p.Free, 0)>>20), Fix: "choose another folder of the target's with --dump-dir"}
	}
	return p, nil
}

// residentOf is a process's resident memory in bytes, 0 if unknown.
func residentOf(pid int) int64 {
	b, err := os.ReadFile(procFile(pid, "statm"))
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b))
	if len(f) < 2 {
		return 0
	}
	n, _ := strconv.ParseInt(f[1], 10, 64)
	return n * int64(os.Getpagesize())
}

// memoryLeft is how much memory a process may still take: what the machine has free, and
// what its control groups allow.
func memoryLeft(pid int) (int64, bool) {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0, false
	}
	left := int64(info.Freeram) * int64(info.Unit)
	if b, err := os.ReadFile("/proc/meminfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if rest, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
				if f := strings.Fields(rest); len(f) > 0 {
					if kb, err := strconv.ParseInt(f[0], 10, 64); err == nil {
						left = kb << 10
					}
				}
			}
		}
	}
	if m, limited := headroom.Of(pid); limited {
		left = min(left, m.Left)
	}
	return left, true
}

// A HeapDump is a dump that a JVM has written into a folder of mode 0700 that belongs to
// the target's user. Remove must be called.
type HeapDump struct {
	File *os.File // open for reading
	Path string   // for this process
	Size int64
	Took time.Duration // from the command to the answer
	// Stopped is how long all threads stood still meanwhile, by the JVM's own count; -1
	// if it has none.
	Stopped time.Duration

	folder dumpFolder
}

// DumpHeap has the JVM write its heap into the folder of a plan: with all, dead objects
// too, otherwise after a full collection. All threads stand still meanwhile. progress is
// told how much is written, now and then. A context that ends removes what was written;
// the JVM goes on to the end all the same.
func (vm *VM) DumpHeap(ctx context.Context, p DumpPlan, all bool, progress func(bytes int64)) (d *HeapDump, err error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, DumpTimeout)
		defer cancel()
	}
	d = &HeapDump{Stopped: -1}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Remove())
			d = nil
		}
	}()
	if err := d.folder.make(vm.proc, p.Dir, heapPrefix); err != nil {
		return d, err
	}
	before, beforeOK := safepointTime(vm.proc.PID)
	stop := d.watch(progress)
	began := time.Now()
	mode := "-live"
	if all {
		mode = "-all"
	}
	// The answer has code 0 even if nothing was written.
	text, err := vm.command(ctx, "dumpheap", path.Join(d.folder.target(), dumpName), mode)
	stop()
	d.Took = time.Since(began)
	if err != nil {
		return d, err
	}
	if !strings.Contains(text, "Heap dump file created") {
		return d, &Error{PID: vm.proc.PID, Kind: ErrRejected, Cause: "the JVM could not write its heap: " + oneLine(text), Fix: "choose another folder of the target's with --dump-dir"}
	}
	if after, ok := safepointTime(vm.proc.PID); ok && beforeOK {
		d.Stopped = after - before
	}
	d.Path = d.folder.path(dumpName)
	d.File, d.Size, err = d.folder.open(dumpName)
	return d, err
}

const dumpName = "heap.hprof"

// watch tells progress how large the folder's files are, until stop is called.
func (d *HeapDump) watch(progress func(int64)) (stop func()) {
	if progress == nil {
		return func() {}
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		t := time.NewTicker(200 * time.Millisecond)
		defer t.Stop()
		for {
			select {
			case <-quit:
				return
			case <-t.C:
				progress(d.folder.size()) // JDK 22 and later write several files at once
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

// Remove closes and removes the dump with its folder.
func (d *HeapDump) Remove() error {
	if d == nil {
		return nil
	}
	if d.File != nil {
		d.File.Close()
	}
	return d.folder.remove()
}

// safepointTime is how long a JVM's threads have stood still since it started.
func safepointTime(pid int) (time.Duration, bool) {
	c, err := Counters(pid)
	if err != nil {
		return 0, false
	}
	ticks, ok1 := c["sun.rt.safepointTime"].(int64)
	hz, ok2 := c["sun.os.hrt.frequency"].(int64)
	if !ok1 || !ok2 || hz <= 0 {
		return 0, false
	}
	return time.Duration(float64(ticks) / float64(hz) * 1e9), true
}
