package classfile

import (
	"encoding/binary"
	"errors"
	"math"
)

// MaxCode is the largest code_length (§4.7.3).
const MaxCode = math.MaxUint16

// Code is a method's Code attribute (§4.7.3).
type Code struct {
	MaxStack, MaxLocals uint16
	Bytecode            []byte
	Handlers            []Handler
	Attributes          []Attribute

	at int // offset of Bytecode in the file
}

// A Handler is a row of the exception table. It covers [Start, End).
type Handler struct {
	Start, End, Handler uint16
	CatchType           uint16 // Class constant; 0 catches everything
}

// HandlerSize is the length of a row of the exception table in the file.
const HandlerSize = 8

// Code returns the parsed Code attribute of a method of c, nil for a method
// without one. It checks the structure of the attribute, not the instructions.
func (c *Class) Code(m *Member) (*Code, error) {
	var code Code
	ok, err := c.ReadCode(m, &code)
	if err != nil || !ok {
		return nil, err
	}
	return &code, nil
}

// ReadCode is [Class.Code] into a Code whose slices are used again. It reports
// whether the method has code.
func (c *Class) ReadCode(m *Member, code *Code) (bool, error) {
	a := m.Attribute(AttrCode)
	if a == nil {
		return false, nil
	}
	r := &reader{b: a.Info, base: a.at, section: "4.7.3", class: c.name}
	code.MaxStack, code.MaxLocals = r.u2(), r.u2()
	n := r.u4()
	if r.err == nil && (n == 0 || n > MaxCode) {
		r.failAt(4, errors.New("code_length is not in 1..65535"))
	}
	code.at = a.at + r.at
	code.Bytecode = r.take(int(n))
	code.Handlers = readHandlers(r, code.Handlers[:0])
	attrs := arena{code.Attributes[:cap(code.Attributes)]}
	code.Attributes = readAttributes(r, &c.Pool, &attrs)
	return true, r.done()
}

func readHandlers(r *reader, hs []Handler) []Handler {
	n := r.count(HandlerSize)
	for range n {
		b := r.take(HandlerSize)
		h := Handler{
			binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:]),
			binary.BigEndian.Uint16(b[4:]), binary.BigEndian.Uint16(b[6:]),
		}
		hs = append(hs, h)
	}
	return hs
}

// Attribute returns the first attribute with this name, nil if there is none.
func (code *Code) Attribute(name string) *Attribute { return find(code.Attributes, name) }

// Append appends the attribute's contents to b.
func (code *Code) Append(b []byte) []byte {
	b = append2(b, code.MaxStack, code.MaxLocals)
	b = binary.BigEndian.AppendUint32(b, uint32(len(code.Bytecode)))
	b = append(b, code.Bytecode...)
	b = append2(b, uint16(len(code.Handlers)))
	for _, h := range code.Handlers {
		b = append2(b, h.Start, h.End, h.Handler, h.CatchType)
	}
	return AppendAttributes(b, code.Attributes)
}
