package perf

import "encoding/binary"

// Kinds of records (perf_event_open(2)).
const (
	recordLost       = 2
	recordThrottle   = 5
	recordUnthrottle = 6
	recordSample     = 9
)

const abi64 = 2

// Drain gives f every sample that was taken since the last call. Those of one CPU are in the
// order of time, those of several are not.
func (s *Source) Drain(f func(*Sample)) {
	var p Sample
	for _, r := range s.rings {
		r.drain(func(kind uint32, body []byte) {
			switch kind {
			case recordLost:
				if len(body) >= 16 {
					s.lost += int64(binary.LittleEndian.Uint64(body[8:]))
				}
			case recordThrottle:
				s.throttled++
			case recordSample:
				pid, id, ok := s.decode(body, &p)
				if !ok || pid != s.pid {
					return
				}
				if own := s.late[p.TID]; own != nil && !own[id] {
					return // of its event that it inherited
				}
				f(&p)
			}
		})
	}
}

// Kernels mark in a call chain whose frames follow. Marks are the highest addresses.
const (
	contextKernel = ^uint64(128) + 1  // PERF_CONTEXT_KERNEL
	contextMost   = ^uint64(4095) + 1 // PERF_CONTEXT_MAX: from here on they are marks
)

// decode decodes a sample:
//
//	 0 u32 pid   4 u32 tid   8 u64 time   16 u64 id of the event
//	24 with frames of the kernel: u64 how many   u64 addresses and marks
//	24 u64 abi: 0: no registers follow; 2: 64 bits
//	32 u64 registers, 5 of them on x86-64
//	72 u64 size of what follows, 0: nothing does
//	80 u8  stack[size]   u64 how much of it is valid
func (s *Source) decode(b []byte, p *Sample) (pid int, id uint64, ok bool) {
	const head, fixed = 24, 8
	stackAt := fixed + 8*len(s.of.bits)
	if len(b) < head {
		return 0, 0, false
	}
	u64 := binary.LittleEndian.Uint64
	pid = int(int32(binary.LittleEndian.Uint32(b)))
	*p = Sample{TID: int(int32(binary.LittleEndian.Uint32(b[4:]))), Time: int64(u64(b[8:]))}
	id = u64(b[16:])
	b = b[head:]
	if s.attr.Sample_type&callChain != 0 {
		if b, ok = s.kernel(b, p); !ok {
			return 0, 0, false
		}
	}
	if len(b) < fixed {
		return 0, 0, false
	}
	if u64(b) != abi64 || len(b) < stackAt+8 {
		return pid, id, true
	}
	r := b[fixed:]
	for i, to := range s.of.places(&p.Regs) {
		*to = u64(r[8*i:])
	}
	p.Valid = true
	size := u64(b[stackAt:])
	rest := b[stackAt+8:]
	if size == 0 || size > uint64(len(rest)) || uint64(len(rest))-size < 8 {
		return pid, id, true
	}
	p.Stack = rest[:min(size, u64(rest[size:]))&^7]
	return pid, id, true
}

// kernel takes the call chain from the begin of b and returns what follows it.
func (s *Source) kernel(b []byte, p *Sample) (rest []byte, ok bool) {
	u64 := binary.LittleEndian.Uint64
	if len(b) < 8 {
		return nil, false
	}
	n := u64(b)
	if b = b[8:]; n > uint64(len(b)/8) {
		return nil, false
	}
	s.chain = s.chain[:0]
	kernel := false
	for ; n > 0; n-- {
		switch at := u64(b); {
		case at >= contextMost:
			kernel = at == contextKernel
		case kernel:
			s.chain = append(s.chain, at)
		}
		b = b[8:]
	}
	if len(s.chain) > 0 {
		p.Kernel = s.chain
	}
	return b, true
}
