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
	spans := make([]vmstructs.Span, 0, len(u.oldBlobs)+6*len(u.oldMethods))
	for _, b := range u.oldBlobs {
		spans = append(spans, vmstructs.Span{At: b.at, P: make([]byte, len(b.proof))})
	}
	for _, m := range u.oldMethods {
		for _, s := range m.proof {
			spans = append(spans, vmstructs.Span{At: s.At, P: make([]byte, len(s.P))})
		}
	}
	if u.mem.ReadMany(spans) != nil {
		clear(spans) // nothing is OK
	}
	u.reads++
	died := false
	for i, b := range u.oldBlobs {
		b.pending, b.checked = false, u.now
		if !spans[i].OK || !u.same(b, spans[i].P) {
			b.dead, died = true, true
		}
	}
	i := len(u.oldBlobs)
	for _, m := range u.oldMethods {
		m.pending, m.checked = false, u.now
		for _, s := range m.proof {
			if !spans[i].OK || !bytes.Equal(spans[i].P, s.P) {
				m.dead = true
			}
			i++
		}
	}
	if died {
		u.blobs = slices.DeleteFunc(u.blobs, func(b *blob) bool { return b.dead })
	}
	for _, r := range u.rests {
		if (r.blob != nil && r.blob.dead || r.m != nil && r.m.dead) && (len(stale) == 0 || stale[len(stale)-1] != r.walk) {
			stale = append(stale, r.walk)
		}
	}
	return stale
}

// unchanged compares one method at once.
func (u *Unwinder) unchanged(m *method) bool {
	spans := make([]vmstructs.Span, len(m.proof))
	for i, s := range m.proof {
		spans[i] = vmstructs.Span{At: s.At, P: make([]byte, len(s.P))}
	}
	if u.mem.ReadMany(spans) != nil {
		return false
	}
	u.reads++
	for i, s := range spans {
		if !s.OK || !bytes.Equal(s.P, m.proof[i].P) {
			return false
		}
	}
	m.checked = u.now
	return true
}
