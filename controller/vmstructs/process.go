package vmstructs

import (
	"golang.org/x/sys/unix"
)

// A Process is the memory of the process with that id. The process is neither
// stopped nor written to, and it may change its memory while it is read. It is
// safe for concurrent use.
type Process int

// A Span is a piece of memory to read, one of many.
type Span struct {
	At uint64 // address
	P  []byte // filled with what lies there, if OK
	OK bool   // all of it could be read
}

// mostSpans is how many pieces one process_vm_readv(2) takes (UIO_MAXIOV).
const mostSpans = 1024

// Read fills p with what lies at an address. It returns EFAULT if not all of it
// can be read, EPERM or ESRCH if nothing can ever be.
func (pid Process) Read(p []byte, at uint64) error {
	if len(p) == 0 {
		return nil
	}
	n, err := unix.ProcessVMReadv(int(pid), []unix.Iovec{{Base: &p[0], Len: uint64(len(p))}}, []unix.RemoteIovec{{Base: uintptr(at), Len: len(p)}}, 0)
	if err == nil && n < len(p) {
		err = unix.EFAULT
	}
	return err
}

// ReadMany reads many pieces with few calls, and marks those that could be read. It
// returns an error only if nothing can ever be read.
func (pid Process) ReadMany(spans []Span) error {
	var local [mostSpans]unix.Iovec
	var remote [mostSpans]unix.RemoteIovec
	for first := 0; first < len(spans); {
		k := 0
		for k < mostSpans && first+k < len(spans) {
			s := &spans[first+k]
			s.OK = false
			if len(s.P) == 0 {
				break
			}
			local[k] = unix.Iovec{Base: &s.P[0], Len: uint64(len(s.P))}
			remote[k] = unix.RemoteIovec{Base: uintptr(s.At), Len: len(s.P)}
			k++
		}
		if k == 0 { // an empty piece
			spans[first].OK = true
			first++
			continue
		}
		n, err := unix.ProcessVMReadv(int(pid), local[:k], remote[:k], 0)
		if err != nil && err != unix.EFAULT && err != unix.EIO {
			return err
		}
		// The call ends at the first piece that can't be read, without an error unless
		// that was the first of all.
		done := 0
		for done < k && n >= len(spans[first+done].P) {
			n -= len(spans[first+done].P)
			spans[first+done].OK = true
			done++
		}
		if first += done; done < k {
			first++ // this one can't be read
		}
	}
	return nil
}
