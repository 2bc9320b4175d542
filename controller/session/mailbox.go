package session

import (
	"fmt"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// A request is a message of the target's that waits for its reply.
type request struct {
	typ  uint32
	body []byte
	box  int
}

// The mailbox is the controller's side of the boxes in the data file: the
// target claims a box, hands over a request in parts, and takes the reply in
// parts. poll moves every box on as far as it goes; it is the loop's.
type mailbox struct {
	d     *dataFile
	boxes [wire.Boxes]box
}

type box struct {
	in   []byte // parts of the request so far
	out  []byte // what is left of the reply
	busy bool   // the request is with the session
}

func boxAt(i int) int64 { return int64(wire.OffBoxes) + int64(i)<<wire.BoxShift }

// poll returns the requests that have become complete. The target is not
// trusted: a box whose words make no sense is freed.
func (m *mailbox) poll() (out []request, err error) {
	for i := range m.boxes {
		at, b := boxAt(i), &m.boxes[i]
		switch m.d.load32(at + wire.BState) {
		case wire.BoxRequest:
			if b.busy {
				continue
			}
			total, n := int(m.d.load32(at+wire.BTotal)), int(m.d.load32(at+wire.BLength))
			if n > wire.BoxData || total > wire.MaxMessage || len(b.in)+n > total {
				*b = box{}
				m.d.store32(at+wire.BState, wire.BoxFree)
				err = fmt.Errorf("a request of %d bytes in parts of %d makes no sense", total, n)
				continue
			}
			b.in = append(b.in, m.d.mem[at+wire.BoxHeader:][:n]...)
			if len(b.in) < total {
				m.d.store32(at+wire.BState, wire.BoxMore)
				continue
			}
			b.busy = true
			out = append(out, request{typ: m.d.load32(at + wire.BType), body: b.in, box: i})
			b.in = nil
		case wire.BoxNext:
			m.put(i)
		case wire.BoxAbandoned:
			if !b.busy { // else the reply to come frees it
				*b = box{}
				m.d.store32(at+wire.BState, wire.BoxFree)
			}
		}
	}
	return out, err
}

// reply answers the request of a box.
func (m *mailbox) reply(i int, body []byte) {
	at, b := boxAt(i), &m.boxes[i]
	if !b.busy {
		return
	}
	b.busy = false
	if m.d.load32(at+wire.BState) == wire.BoxAbandoned {
		*b = box{}
		m.d.store32(at+wire.BState, wire.BoxFree)
		return
	}
	b.out = body
	m.d.store32(at+wire.BTotal, uint32(len(body)))
	m.put(i)
}

// put hands over the next part of the reply. The last part ends the matter:
// the target frees the box.
func (m *mailbox) put(i int) {
	at, b := boxAt(i), &m.boxes[i]
	n := min(len(b.out), wire.BoxData)
	copy(m.d.mem[at+wire.BoxHeader:], b.out[:n])
	m.d.store32(at+wire.BLength, uint32(n))
	b.out = b.out[n:]
	from := m.d.load32(at + wire.BState)
	if from == wire.BoxAbandoned || !m.d.swap32(at+wire.BState, from, wire.BoxReply) {
		*b = box{}
		m.d.store32(at+wire.BState, wire.BoxFree)
	}
}
