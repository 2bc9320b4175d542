package shm

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ErrGone reports that somebody has truncated the file. Only the target's user and root can.
var ErrGone = errors.New("the memory shared with the target is gone: its file was truncated")

// Guard calls f, which may use the file. Memory of a file that was truncated can't be touched: that
// would end this process. Then f ends where it was, and Guard returns [ErrGone]; from then on the
// file's memory is of this process alone and zero, so that nothing else that uses it fails. f must
// do all that it does with the file on its own goroutine.
func (d *File) Guard(f func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch p := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }:
			if !d.has(p.Addr()) {
				panic(p)
			}
			err = ErrGone
			if failed := d.replace(); failed != nil {
				err = fmt.Errorf("%w; %w", err, failed)
			}
		default:
			panic(p)
		}
	}()
	f()
	return nil
}

func (d *File) has(addr uintptr) bool {
	begin := uintptr(unsafe.Pointer(unsafe.SliceData(d.mem)))
	return begin <= addr && addr < begin+uintptr(len(d.mem))
}

// replacing is held while a file's memory is replaced: several goroutines may find it gone.
var replacing sync.Mutex

// replace has memory of this process in the file's place.
func (d *File) replace() error {
	replacing.Lock()
	defer replacing.Unlock()
	if d.gone {
		return nil
	}
	d.gone = true
	begin := unsafe.Pointer(unsafe.SliceData(d.mem))
	_, err := unix.MmapPtr(-1, 0, begin, uintptr(len(d.mem)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED)
	return err
}
