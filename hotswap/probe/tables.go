package probe

import (
	"encoding/binary"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// movers are the attributes of Code whose contents keep their length when the
// code moves. Each gets a copy of the contents to change in place.
var movers = map[string]func(*layout, []byte) error{
	classfile.AttrLineNumbers:         (*layout).moveLines,
	classfile.AttrLocalVariables:      (*layout).moveVariables,
	classfile.AttrLocalVariableTypes:  (*layout).moveVariables,
	classfile.AttrVisibleTypeAnnots:   (*layout).moveAnnotations,
	classfile.AttrInvisibleTypeAnnots: (*layout).moveAnnotations,
}

// start moves a pc at which something begins that belongs to the source: what
// began with the method still does, so the entry probe has a line number and
// debuggers find the parameters. Pcs beyond the code, which a JVM that doesn't
// verify lets pass, are clamped.
func (l *layout) start(pc uint16) int32 {
	if pc == 0 {
		return 0
	}
	return l.pos[min(int(pc), len(l.code))]
}

// rows returns the rows of a table that begins with a u2 count.
func rows(b []byte, size int, what string) ([]byte, error) {
	if len(b) < 2 || len(b)-2 != int(binary.BigEndian.Uint16(b))*size {
		return nil, malformed(what)
	}
	return b[2:], nil
}

// moveLines moves line_number_table (§4.7.12): start_pc, line.
func (l *layout) moveLines(b []byte) error {
	const size = 4
	t, err := rows(b, size, classfile.AttrLineNumbers)
	for ; len(t) >= size; t = t[size:] {
		binary.BigEndian.PutUint16(t, uint16(l.start(binary.BigEndian.Uint16(t))))
	}
	return err
}

// moveVariables moves local_variable_table and its sibling for generic types
// (§4.7.13, §4.7.14): start_pc, length, name, type, slot.
func (l *layout) moveVariables(b []byte) error {
	const size = 10
	t, err := rows(b, size, classfile.AttrLocalVariables)
	for ; len(t) >= size; t = t[size:] {
		l.moveRange(t)
	}
	return err
}

// moveRange moves a start_pc with the length that follows it. HotSpot refuses
// a class whose start plus length passes the code.
func (l *layout) moveRange(b []byte) {
	pc, n := binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
	from := l.start(pc)
	to := max(l.pos[min(int(pc)+int(n), len(l.code))], from)
	binary.BigEndian.PutUint16(b, uint16(from))
	binary.BigEndian.PutUint16(b[2:], uint16(to-from))
}

// handlers moves the exception table and appends the rows of the catch-alls.
func (l *layout) handlers(hs []classfile.Handler, catches []catch) []classfile.Handler {
	for i := range hs {
		h := &hs[i]
		h.Start, h.End = uint16(l.pos[h.Start]), uint16(l.pos[h.End])
		h.Handler = uint16(l.pos[h.Handler])
	}
	for i := range catches {
		for _, r := range catches[i].ranges {
			hs = append(hs, classfile.Handler{
				Start: uint16(l.pos[r.start]), End: uint16(l.pos[r.end]), Handler: uint16(catches[i].at),
			})
		}
	}
	return hs
}

// A catch is one catch-all: the original code that it covers and the position
// of its handler.
type catch struct {
	ranges []span
	this   int // slot of uninitializedThis, -1 where there is none
	at     int
}

// A span is [start, end) in the original code.
type span struct{ start, end int }
