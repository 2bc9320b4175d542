package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// fifo are the controller's descriptors of the FIFO of that name.
func (c *controller) fifo(name string) []string {
	return c.open(func(to string) bool {
		return strings.Contains(to, ".rivulet-") && strings.Contains(filepath.Base(to), name)
	})
}

// garbage writes random bytes into a FIFO.
func (r *round) garbage(name string) error {
	fifos := r.c.fifo(name)
	if len(fifos) == 0 {
		return fmt.Errorf("the controller has no FIFO of %s: %q", name, r.c.open(func(to string) bool { return strings.Contains(to, "rivulet") }))
	}
	f, err := os.OpenFile(fifos[0], os.O_WRONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	b := make([]byte, 1+r.rng.IntN(4000))
	for i := range b {
		b[i] = byte(r.rng.Uint32())
	}
	if r.rng.IntN(2) == 0 { // as messages with lengths that could be
		for i := 0; i+8 < len(b); i += 64 {
			binary.BigEndian.PutUint32(b[i:], uint32(r.rng.IntN(60)))
		}
	}
	_, err = f.Write(b)
	return err
}

// survives ends a round in which the two may no longer understand each other: the recording may
// end by itself, with a report or an error, but the program goes on and is restored.
func (r *round) survives() error {
	r.wait(time.Second)
	begin := time.Now()
	r.c.signal(unix.SIGINT)
	if _, err := r.c.end(); err != nil {
		return err
	}
	r.jar()
	if err := r.restore(begin, true); err != nil {
		return err
	}
	return r.after()
}

func garbageToAgent(r *round) error {
	if err := r.moment(true); err != nil {
		return err
	}
	if err := r.garbage("commands"); err != nil {
		return err
	}
	return r.survives()
}

func garbageToController(r *round) error {
	if err := r.moment(true); err != nil {
		return err
	}
	if err := r.garbage("bell"); err != nil {
		return err
	}
	return r.survives()
}

// lost reads from the FIFOs what is meant for others, for a while.
func lost(r *round) error {
	if err := r.record(); err != nil {
		return err
	}
	var open []*os.File
	name := []string{"commands", "bell"}[r.rng.IntN(2)]
	for until := time.Now().Add(*patient); len(open) == 0; time.Sleep(time.Millisecond) {
		for _, fd := range r.c.fifo(name) {
			if f, err := os.OpenFile(fd, os.O_RDONLY|unix.O_NONBLOCK, 0); err == nil {
				open = append(open, f)
			}
		}
		if time.Now().After(until) {
			return fmt.Errorf("no FIFO %s", name)
		}
	}
	r.c.find() //nolint:errcheck // it may come later
	r.wait(800 * time.Millisecond)
	for _, f := range open {
		go drain(f)
	}
	r.wait(500 * time.Millisecond)
	for _, f := range open {
		f.Close()
	}
	return r.survives()
}

// garbageInData stops the target, damages what the controller reads of it, and kills it: no
// program could have survived that, but the controller has to.
func garbageInData(r *round) error {
	if err := r.moment(true); err != nil {
		return err
	}
	r.recording = true
	unix.Kill(r.t.pid, unix.SIGSTOP) //nolint:errcheck // it is there
	info, err := r.c.data.Stat()
	if err != nil {
		return err
	}
	used := min(info.Size(), wire.OffNodes+4<<20)
	for range 1 + r.rng.IntN(5000) {
		var word [8]byte
		v := r.rng.Uint64()
		switch r.rng.IntN(3) {
		case 0:
			v = uint64(r.rng.IntN(1 << 16))
		case 1:
			v &= 0xffffffff
		}
		binary.NativeEndian.PutUint64(word[:], v)
		from := int64(wire.OffRecords)
		if r.rng.IntN(2) == 0 {
			from = wire.OffNodes
		}
		off := (from + r.rng.Int64N(used-from)) &^ 7
		if _, err := r.c.data.WriteAt(word[:], off); err != nil {
			return err
		}
	}
	r.wait(800 * time.Millisecond)
	if r.rng.IntN(2) == 0 {
		r.c.signal(unix.SIGINT)
		r.wait(300 * time.Millisecond)
	}
	r.t.Kill()
	r.t.Wait() //nolint:errcheck // it was killed
	if _, err := r.c.end(); err != nil {
		return err
	}
	return r.dead()
}

// reaped removes all of the target's /tmp, as a cleaner of old files may.
func reaped(r *round) error {
	if err := r.record(); err != nil {
		return err
	}
	r.wait(1200 * time.Millisecond)
	names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/root/tmp/*", r.t.pid))
	hidden, _ := filepath.Glob(fmt.Sprintf("/proc/%d/root/tmp/.*", r.t.pid))
	for _, n := range append(names, hidden...) {
		if base := filepath.Base(n); base != "." && base != ".." {
			os.RemoveAll(n)
		}
	}
	r.wait(time.Second)
	return r.survives()
}
