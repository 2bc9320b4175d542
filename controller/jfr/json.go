package jfr

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"time"
)

// ErrTooLarge says that the JSON of an event is longer than [JSONWriter] writes. Recordings of JVMs
// have none such.
var ErrTooLarge = errors.New("flight recording: an event is too large for JSON")

// mostJSON bounds the JSON of one event.
const mostJSON = 32 << 20

// A JSONWriter writes events in the form of the JDK's jfr print --json: moments as
// ISO 8601 in UTC, spans as seconds ("PT0.25S"), references replaced by what they refer to.
type JSONWriter struct {
	w    io.Writer
	b    []byte
	any  bool
	Deep int // frames of stack traces; 0 for all
}

// NewJSONWriter writes to w. End must be called.
func NewJSONWriter(w io.Writer) *JSONWriter { return &JSONWriter{w: w} }

// Event writes one event.
func (j *JSONWriter) Event(e *Event) error {
	j.b = j.b[:0]
	if j.any {
		j.text(",\n")
	} else {
		j.text(`{"recording":{"events":[` + "\n")
	}
	j.any = true
	j.text(`{"type":`)
	j.quote(e.Type.Name)
	j.text(`,"values":`)
	j.object(e.chunk, e.Type, e.value.list, 0)
	j.text("}")
	if len(j.b) > mostJSON {
		return ErrTooLarge
	}
	_, err := j.w.Write(j.b)
	return err
}

// End writes the end.
func (j *JSONWriter) End() error {
	end := "\n]}}\n"
	if !j.any {
		end = `{"recording":{"events":[` + end
	}
	_, err := io.WriteString(j.w, end)
	return err
}

func (j *JSONWriter) text(s string) { j.b = append(j.b, s...) }

func (j *JSONWriter) quote(s string) {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			q, _ := json.Marshal(s)
			j.b = append(j.b, q...)
			return
		}
	}
	j.b = append(j.b, '"')
	j.b = append(j.b, s...)
	j.b = append(j.b, '"')
}

func (j *JSONWriter) object(c *Chunk, t *Type, list []Value, depth int) {
	j.text("{")
	for i := range list {
		f := &t.Fields[i]
		if i > 0 {
			j.text(",")
		}
		j.quote(f.Name)
		j.text(":")
		j.field(c, f, list[i], depth+1)
	}
	j.text("}")
}

func (j *JSONWriter) field(c *Chunk, f *Field, v Value, depth int) {
	switch {
	case len(j.b) > mostJSON:
		return // Event says so
	case depth > mostLevels:
		j.text("null")
		return
	case !f.Array:
		j.value(c, f, v, depth)
		return
	}
	list := v.list
	if j.Deep > 0 && f.Type.Name == "jdk.types.StackFrame" && len(list) > j.Deep {
		list = list[:j.Deep]
	}
	j.text("[")
	for i := range list {
		if i > 0 {
			j.text(",")
		}
		j.value(c, f, list[i], depth+1)
	}
	j.text("]")
}

func (j *JSONWriter) value(c *Chunk, f *Field, v Value, depth int) {
	v = v.Resolve()
	switch v.Kind {
	case String:
		j.quote(v.s)
	case Object:
		j.object(c, v.typ, v.list, depth)
	case Real:
		j.real(v.Float(), f.Type.Base)
	case Number:
		j.number(c, f, v.n)
	default:
		j.text("null")
	}
}

func (j *JSONWriter) real(v float64, base Base) {
	bits := 64
	if base == Float {
		bits = 32
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		j.text("null")
		return
	}
	j.b = strconv.AppendFloat(j.b, v, 'g', -1, bits)
}

func (j *JSONWriter) number(c *Chunk, f *Field, n int64) {
	switch f.Unit {
	case MomentTicks:
		j.moment(c.Nanos(n))
		return
	case MomentMillis:
		if n == math.MinInt64 {
			j.quote(noMoment)
			return
		}
		j.b = time.UnixMilli(n).UTC().AppendFormat(append(j.b, '"'), momentForm)
		j.text(`"`)
		return
	case SpanTicks:
		if n == math.MaxInt64 || n == math.MinInt64 {
			j.span(n, 1e9)
			return
		}
		j.span(c.Span(n), 1e9)
		return
	case SpanNanos, SpanMicros, SpanMillis, SpanSeconds:
		j.span(n, []int64{1e9, 1e6, 1e3, 1}[f.Unit-SpanNanos])
		return
	}
	switch f.Type.Base {
	case Bool:
		j.b = strconv.AppendBool(j.b, n != 0)
	case Char:
		j.quote(string(rune(n)))
	case Byte, Short, Int, Long:
		if f.Unsigned {
			bits := map[Base]int{Byte: 8, Short: 16, Int: 32, Long: 64}[f.Type.Base]
			j.b = strconv.AppendUint(j.b, uint64(n)<<(64-bits)>>(64-bits), 10)
			return
		}
		j.b = strconv.AppendInt(j.b, n, 10)
	default:
		j.b = strconv.AppendInt(j.b, n, 10)
	}
}

// noMoment is the JDK's word for a moment that is not set.
const noMoment = "-999999999-01-01T00:00+18:00"

const momentForm = "2006-01-02T15:04:05.999999999Z07:00"

func (j *JSONWriter) moment(ns int64) {
	j.b = time.Unix(0, ns).UTC().AppendFormat(append(j.b, '"'), momentForm)
	j.text(`"`)
}

// span writes n parts of a second as ISO 8601 has it.
func (j *JSONWriter) span(n, perSecond int64) {
	j.text(`"PT`)
	whole, rest := n/perSecond, n%perSecond
	if n < 0 {
		j.text("-")
		whole, rest = -whole, -rest
		if n == math.MinInt64 && perSecond == 1 {
			whole = math.MaxInt64
		}
	}
	j.b = strconv.AppendInt(j.b, whole, 10)
	if rest != 0 {
		digits := strconv.FormatInt(perSecond+rest, 10)[1:]
		j.text("." + digits)
	}
	j.text(`S"`)
}
