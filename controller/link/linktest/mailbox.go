package linktest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// ErrGone reports that the session has ended, or did not answer for ten seconds.
var ErrGone = errors.New("the session does not answer")

// patience is how long a request waits for its reply.
const patience = 10 * time.Second

// A memory is the data file as the agent has it.
type memory struct {
	mem  []byte
	bell *os.File
}

func mapData(name string) (*memory, error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, int(st.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	if m := binary.NativeEndian.Uint64(mem[wire.HMagic:]); m != wire.Magic {
		return nil, errors.Join(fmt.Errorf("%s begins with %x", name, m), unix.Munmap(mem))
	}
	return &memory{mem: mem}, nil
}

func (m *memory) word(at int64) *uint32 { return (*uint32)(unsafe.Pointer(&m.mem[at])) }

func (m *memory) long(at int64) *int64 { return (*int64)(unsafe.Pointer(&m.mem[at])) }

func (m *memory) add(at, n int64) { atomic.AddInt64(m.long(at), n) }

// ring is how the agent rings: once until the session has heard it.
func (m *memory) ring() error {
	if !atomic.CompareAndSwapUint32(m.word(wire.HBell), 0, 1) {
		return nil
	}
	_, err := m.bell.Write([]byte{1})
	return err
}

// call sends a request and returns the reply.
func (m *memory) call(q link.Request) ([]byte, error) {
	return m.send(link.TypeOf(q), link.Encode(q))
}

// send is the same for any bytes.
func (m *memory) send(typ uint32, body []byte) (reply []byte, err error) {
	deadline := time.Now().Add(patience)
	box, err := m.claim(deadline)
	if err != nil {
		return nil, err
	}
	state := m.word(box + wire.BState)
	over := uint32(wire.BoxAbandoned)
	defer func() { atomic.StoreUint32(state, over) }()
	word := func(at int64) *uint32 { return m.word(box + at) }
	for sent := 0; ; {
		n := min(len(body)-sent, wire.BoxData)
		*word(wire.BType), *word(wire.BTotal), *word(wire.BLength) = typ, uint32(len(body)), uint32(n)
		copy(m.mem[box+wire.BoxHeader:], body[sent:sent+n])
		sent += n
		switch s, err := m.turn(state, wire.BoxRequest, deadline); {
		case err != nil:
			return nil, err
		case s == wire.BoxReply:
			for {
				n := int(*word(wire.BLength))
				reply = append(reply, m.mem[box+wire.BoxHeader:][:n]...)
				if len(reply) == int(*word(wire.BTotal)) {
					over = wire.BoxFree
					return reply, nil
				}
				if s, err := m.turn(state, wire.BoxNext, deadline); err != nil || s != wire.BoxReply {
					return nil, errors.Join(err, fmt.Errorf("a reply of %d bytes is cut off", len(reply)))
				}
			}
		case s != wire.BoxMore:
			return nil, fmt.Errorf("request %d was given up by the session", typ)
		}
	}
}

// claim gets a box for the caller alone.
func (m *memory) claim(deadline time.Time) (int64, error) {
	for ; time.Now().Before(deadline); time.Sleep(100 * time.Microsecond) {
		for i := range int64(wire.Boxes) {
			at := int64(wire.OffBoxes) + i<<wire.BoxShift
			if atomic.CompareAndSwapUint32(m.word(at+wire.BState), wire.BoxFree, wire.BoxClaimed) {
				return at, nil
			}
		}
	}
	return 0, fmt.Errorf("no box is free: %w", ErrGone)
}

// turn hands a box over and waits until the session has moved it on.
func (m *memory) turn(state *uint32, to uint32, deadline time.Time) (uint32, error) {
	atomic.StoreUint32(state, to)
	if err := m.ring(); err != nil {
		return 0, err
	}
	for ; time.Now().Before(deadline); time.Sleep(50 * time.Microsecond) {
		if s := atomic.LoadUint32(state); s != to {
			return s, nil
		}
	}
	return 0, ErrGone
}
