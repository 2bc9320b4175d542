package unwinder

import (
	"bytes"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
)

// Recheck is for how long what is known of the target's code and methods counts without
// a look, in nanoseconds.
const Recheck = 100e6

// use notes that a walk rests on a blob. It reports whether that must be compared with
// the target before the walk counts.
func (u *Unwinder) use(b *blob) {
	if u.now-b.checked < Recheck {
		return
	}
	if !b.pending {
		b.pending = true
		u.oldBlobs = append(u.oldBlobs, b)
	}
	u.rests = append(u.rests, rest{u.walks, b, nil})
}

// useMethod is use for a method of interpreted code.
func (u *Unwinder) useMethod(m *method) {
	if u.now-m.checked < Recheck {
		return
	}
	if !m.pending {
		m.pending = true
		u.oldMethods = append(u.oldMethods, m)
	}
	u.rests = append(u.rests, rest{u.walks, nil, m})
}

// A rest says what a walk rests on that is to be compared.
type rest struct {
	walk int
	blob *blob
	m    *method
}

// Check compares with the target what the walks since the last call rest on and was not
// compared for [Recheck], with few calls. It returns the numbers of the walks, counted from
// 0 at the last call, that rest on something that changed: their stacks are of no use.
func (u *Unwinder) Check() (stale []int) {
	defer func() {
		u.oldBlobs, u.oldMethods, u.rests, u.walks = u.oldBlobs[:0], u.oldMethods[:0], u.rests[:0], 0
	}()
	if len(u.rests) == 0 {
		return nil
	}
	if u.compare(u.oldBlobs, u.oldMethods) {
		u.blobs = slices.DeleteFunc(u.blobs, func(b *blob) bool { return b.dead })
	}
	for _, r := range u.rests {
		if (r.blob != nil && r.blob.dead || r.m != nil && r.m.dead) && (len(stale) == 0 || stale[len(stale)-1] != r.walk) {
			stale = append(stale, r.walk)
		}
	}
	return stale
}

// compare compares blobs and methods with the target, marks those that are not what they
// were as dead, and reports whether a blob is.
func (u *Unwinder) compare(blobs []*blob, methods []*method) (died bool) {
	if len(blobs)+len(methods) == 0 {
		return false
	}
	total := 0
	for _, b := range blobs {
		total += len(b.proof)
	}
	for _, m := range methods {
		for _, s := range m.proof {
			total += len(s.P)
		}
	}
	room := make([]byte, total)
	cut := func(n int) []byte {
		p := room[:n:n]
		room = room[n:]
		return p
	}
	spans := make([]vmstructs.Span, 0, len(blobs)+proofs*len(methods))
	for _, b := range blobs {
		spans = append(spans, vmstructs.Span{At: b.at, P: cut(len(b.proof))})
	}
	for _, m := range methods {
		for _, s := range m.proof {
			spans = append(spans, vmstructs.Span{At: s.At, P: cut(len(s.P))})
		}
	}
	if u.mem.ReadMany(spans) != nil {
		clear(spans) // nothing is OK
	}
	u.reads++
	for i, b := range blobs {
		b.pending, b.checked = false, u.now
		if !spans[i].OK || !u.same(b, spans[i].P) {
			b.dead, died = true, true
		}
	}
	spans = spans[len(blobs):]
	for _, m := range methods {
		m.pending, m.checked = false, u.now
		for _, s := range m.proof {
			if !spans[0].OK || !bytes.Equal(spans[0].P, s.P) {
				m.dead = true
			}
			spans = spans[1:]
		}
	}
	return died
}
