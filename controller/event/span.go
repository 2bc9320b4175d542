package event

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// A Span names a span of OpenTelemetry: the operation that a root invocation was part
// of. The zero value is none. Ids are those of W3C's Trace Context.
type Span struct {
	Trace  [16]byte
	ID     [8]byte
	Within bool // it became current during the root invocation, which began outside of any span
}

// Known reports whether there is a span.
func (s Span) Known() bool { return s.ID != [8]byte{} }

// TraceID is the trace's id in lower-case hexadecimal digits, "" if there is none.
func (s Span) TraceID() string {
	if !s.Known() {
		return ""
	}
	return hex.EncodeToString(s.Trace[:])
}

// SpanID is the span's, likewise.
func (s Span) SpanID() string {
	if !s.Known() {
		return ""
	}
	return hex.EncodeToString(s.ID[:])
}

// ParseSpan reads both ids as [Span.TraceID] and [Span.SpanID] give them. It reports false
// for anything else.
func ParseSpan(trace, id string) (s Span, ok bool) {
	t, err := hex.DecodeString(trace)
	if err != nil || len(t) != len(s.Trace) {
		return Span{}, false
	}
	i, err := hex.DecodeString(id)
	if err != nil || len(i) != len(s.ID) {
		return Span{}, false
	}
	copy(s.Trace[:], t)
	copy(s.ID[:], i)
	return s, s.Known()
}

// spanMark takes a part of a span's ids, which a mark has with the value before it.
func (s *stream) spanMark(mark int32, low int64) {
	n := uint64(s.number)<<wire.KindBits | uint64(low)&kindMask
	switch mark {
	case wire.MarkTraceHigh:
		s.naming = Span{}
		binary.BigEndian.PutUint64(s.naming.Trace[:8], n)
	case wire.MarkTraceLow:
		binary.BigEndian.PutUint64(s.naming.Trace[8:], n)
	default:
		binary.BigEndian.PutUint64(s.naming.ID[:], n)
		s.naming.Within = mark == wire.MarkSpanWithin
		if len(s.frames) == 0 && !s.span.Known() { // an execution may be another root invocation's
			s.span = s.naming
		}
		s.naming = Span{}
	}
}
