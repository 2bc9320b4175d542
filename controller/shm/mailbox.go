package shm

import (
	"fmt"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// A Request is a message of the target's that waits for its reply
// ([Mailbox.Reply]).
type Request struct {
	Type uint32 // a wire.Req number
	Body []byte
	Box  int  // for the reply: a number that no other request has
	Left bool // nobody waits any more; it is one of those that are of use all the same
}

// keptWhenLeft are the requests that are of use when nobody waits for the reply.
var keptWhenLeft = map[uint32]bool{wire.ReqLoaders: true, wire.ReqTransform: true, wire.ReqReveal: true, wire.ReqTargets: true}

// A Mailbox is the controller's side of the boxes in a [File]. The target
// claims a box, hands over a request in parts, and takes the reply in parts.
// One goroutine at a time may use it. The zero value is not ready:
// [NewMailbox] makes one.
type Mailbox struct {
	d      *File
	boxes  [wire.Boxes]box
	serial int // of the last request
}

type box struct {
	in     []byte // parts of the request so far
	out    []byte // what is left of the reply
	busy   bool   // the request is with the session
	serial int    // of that request
}

func boxAt(i int) int64 { return int64(wire.OffBoxes) + int64(i)<<wire.BoxShift }

// NewMailbox is the mailbox of a data file.
func NewMailbox(d *File) *Mailbox { return &Mailbox{d: d} }

// Poll moves every box on as far as it goes, and returns the requests that have
// become complete. A box whose request nobody waits for any more is free at once,
// whatever becomes of the request: the agent's thread needs boxes, and replies may
// need the agent's thread. The target is not trusted: a box whose words make no sense
// is freed, and err says so; out is valid nevertheless.
func (m *Mailbox) Poll() (out []Request, err error) {
	for i := range m.boxes {
		at, b := boxAt(i), &m.boxes[i]
		switch state := m.d.load32(at + wire.BState); state {
		case wire.BoxRequest, wire.BoxLeft:
			if b.busy {
				if state == wire.BoxLeft {
					m.free(i)
				}
				continue
			}
			total, n := int(m.d.load32(at+wire.BTotal)), int(m.d.load32(at+wire.BLength))
			if n > wire.BoxData || total > wire.MaxMessage || len(b.in)+n > total {
				m.free(i)
				err = fmt.Errorf("a request of %d bytes in parts of %d makes no sense", total, n)
				continue
			}
			b.in = append(b.in, m.d.mem[at+wire.BoxHeader:][:n]...)
			if len(b.in) < total {
				if state == wire.BoxLeft || !m.d.swap32(at+wire.BState, state, wire.BoxMore) {
					m.free(i)
				}
				continue
			}
			m.serial++
			b.busy, b.serial = true, m.serial
			q := Request{Type: m.d.load32(at + wire.BType), Body: b.in, Box: m.serial*wire.Boxes + i, Left: state == wire.BoxLeft}
			b.in = nil
			if !q.Left || keptWhenLeft[q.Type] {
				out = append(out, q)
			}
			if q.Left {
				m.free(i)
			}
		case wire.BoxNext:
			m.put(i)
		case wire.BoxAbandoned:
			m.free(i)
		}
	}
	return out, err
}

// free gives a box back that is the controller's to free. A reply to its request
// comes too late.
func (m *Mailbox) free(i int) {
	m.boxes[i] = box{}
	m.d.store32(boxAt(i)+wire.BState, wire.BoxFree)
}

// Reply answers a request ([Request].Box), once. It reports false if nobody waits
// for the reply any more.
func (m *Mailbox) Reply(request int, body []byte) bool {
	i := request % wire.Boxes
	at, b := boxAt(i), &m.boxes[i]
	if !b.busy || b.serial != request/wire.Boxes {
		return false
	}
	b.busy = false
	if state := m.d.load32(at + wire.BState); state == wire.BoxAbandoned || state == wire.BoxLeft {
		m.free(i)
		return false
	}
	b.out = body
	m.d.store32(at+wire.BTotal, uint32(len(body)))
	return m.put(i)
}

// put hands over the next part of the reply. The last part ends the matter:
// the target frees the box. It reports false if the target had given up.
func (m *Mailbox) put(i int) bool {
	at, b := boxAt(i), &m.boxes[i]
	n := min(len(b.out), wire.BoxData)
	copy(m.d.mem[at+wire.BoxHeader:], b.out[:n])
	m.d.store32(at+wire.BLength, uint32(n))
	b.out = b.out[n:]
	from := m.d.load32(at + wire.BState)
	if from == wire.BoxAbandoned || from == wire.BoxLeft || !m.d.swap32(at+wire.BState, from, wire.BoxReply) {
		m.free(i)
		return false
	}
	return true
}

// HoldBoxes keeps the target from all boxes until release is called. It waits for those that are in use: whoever answers
// requests must go on. It is for tests.
func (m *Mailbox) HoldBoxes() (release func()) {
	var held []int64
	for i := range m.boxes {
		state := boxAt(i) + wire.BState
		for !m.d.swap32(state, wire.BoxFree, wire.BoxClaimed) {
			time.Sleep(100 * time.Microsecond)
		}
		held = append(held, state)
	}
	return func() {
		for _, state := range held {
			m.d.store32(state, wire.BoxFree)
		}
	}
}
