package event

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

const (
	kindMask   = 1<<wire.KindBits - 1
	methodMask = 1<<wire.MethodBits - 1
)

// A Word is one word of a stream.
type Word uint64

// kinds is the table of all kinds of words; the text form has their names.
var kinds = [kindMask + 1]struct {
	name   string
	method bool // it has a method and a time, otherwise a value
}{
	wire.EvEnter:   {"enter", true},
	wire.EvExit:    {"exit", true},
	wire.EvThrown:  {"thrown", true},
	wire.EvLate:    {"late", true},
	wire.EvSuspend: {"suspend", true},
	wire.EvAdjust:  {"adjust", false},
	wire.EvRoot:    {"root", false},
	wire.EvThread:  {"thread", false},
	wire.EvCut:     {"cut", false},
	wire.EvLost:    {"lost", false},
	wire.EvTime:    {"time", false},
	wire.EvCharge:  {"charge", true},
	wire.EvSubmit:  {"submit", false},
	wire.EvBelong:  {"belong", false},
	wire.EvExecute: {"execute", false},
}

// Timed makes a word of a kind that has a method (0 to MAX_METHODS-1) and a
// time in ns, of which it has room for the lowest 42 bits.
func Timed(kind int, method int32, ns int64) Word {
	return Word(uint64(ns)<<wire.DeltaShift | uint64(method&methodMask)<<wire.KindBits | uint64(kind)&kindMask)
}

// Valued makes a word of a kind that has a value of at most 60 bits.
func Valued(kind int, v int64) Word {
	return Word(uint64(v)<<wire.KindBits | uint64(kind)&kindMask)
}

// Kind is one of the EV_ rows of package wire, or a number that none has.
func (w Word) Kind() int { return int(w & kindMask) }

// Method is the method id, of kinds that have one.
func (w Word) Method() int32 { return int32(w >> wire.KindBits & methodMask) }

// Time is the time in ns, of kinds that have a method.
func (w Word) Time() int64 { return int64(w >> wire.DeltaShift) }

// Value is the value, of all other kinds.
func (w Word) Value() int64 { return int64(w) >> wire.KindBits }

// String is the word's text form: "enter 17 +120", "adjust 4096". Words of no
// kind are shown in hexadecimal.
func (w Word) String() string {
	switch k := kinds[w.Kind()]; {
	case k.name == "":
		return fmt.Sprintf("word %#x", uint64(w))
	case k.method:
		return fmt.Sprintf("%s %d +%d", k.name, w.Method(), w.Time())
	default:
		return fmt.Sprintf("%s %d", k.name, w.Value())
	}
}

// ParseWord reads the text form of a word.
func ParseWord(text string) (Word, error) {
	f := strings.Fields(text)
	bad := func() (Word, error) {
		return 0, fmt.Errorf("event %q: give a kind and its numbers, such as \"enter 17 +120\" or \"adjust 4096\"", text)
	}
	if len(f) == 2 && f[0] == "word" {
		v, err := strconv.ParseUint(f[1], 0, 64)
		if err != nil {
			return bad()
		}
		return Word(v), nil
	}
	for kind, k := range kinds {
		if k.name == "" || len(f) == 0 || f[0] != k.name {
			continue
		}
		if !k.method {
			if len(f) != 2 {
				return bad()
			}
			v, err := strconv.ParseInt(f[1], 10, 64-wire.KindBits)
			if err != nil {
				return bad()
			}
			return Valued(kind, v), nil
		}
		if len(f) != 3 || !strings.HasPrefix(f[2], "+") {
			return bad()
		}
		m, err1 := strconv.ParseUint(f[1], 10, wire.MethodBits)
		ns, err2 := strconv.ParseUint(f[2][1:], 10, wire.DeltaBits)
		if err1 != nil || err2 != nil {
			return bad()
		}
		return Timed(kind, int32(m), int64(ns)), nil
	}
	return bad()
}

// Parse reads a stream in its text form: a word a line; what follows a "#" is
// a comment.
func Parse(text string) ([]Word, error) {
	var out []Word
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		w, err := ParseWord(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		out = append(out, w)
	}
	return out, nil
}

// Format writes a stream in its text form.
func Format(words []Word) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(w.String())
		b.WriteByte('\n')
	}
	return b.String()
}
