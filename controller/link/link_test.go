package link

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// described are a message's fields in the words of the table of messages.
func described(m Message) []string {
	var f fields
	if m != nil {
		m.fields(&f)
	}
	return f.text
}

// words takes the text of a row apart.
func words(text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' }) {
		w = strings.TrimSpace(w)
		if rest, ok := strings.CutPrefix(w, "[] "); ok {
			out = append(out, "[]")
			w = rest
		}
		out = append(out, w)
	}
	return out
}

// TestTables compares each message with its row in the table that the agent is built
// from, and the tables with it.
func TestTables(t *testing.T) {
	for _, row := range wire.Messages {
		var m, reply Message
		if strings.HasPrefix(row.Name, "CMD_") {
			make := Commands[uint8(row.Type)]
			if make == nil {
				t.Errorf("%s is no command here", row.Name)
				continue
			}
			c := make()
			if c.command() != uint8(row.Type) {
				t.Errorf("%s has the type of another", row.Name)
			}
			m = c
		} else {
			r, ok := Requests[row.Type]
			if !ok {
				t.Errorf("%s is no request here", row.Name)
				continue
			}
			q := r.New()
			if q.request() != row.Type {
				t.Errorf("%s has the type of another", row.Name)
			}
			m = q
			if r.Reply != nil {
				reply = r.Reply()
			}
		}
		if got, want := described(m), words(row.Fields); !slices.Equal(got, want) {
			t.Errorf("%s: fields %q, want %q", row.Name, got, want)
		}
		if got, want := described(reply), words(row.Reply); !slices.Equal(got, want) {
			t.Errorf("%s: fields of the reply %q, want %q", row.Name, got, want)
		}
	}
	if n := len(Commands) + len(Requests); n != len(wire.Messages) {
		t.Errorf("%d messages, want %d", n, len(wire.Messages))
	}
}

// examples has a message of each kind of fields.
var examples = []Message{
	&Retransform{7, true, []cha.ClassID{{Loader: 1, Name: "a/B"}, {Loader: 0, Name: "C"}}},
	&Calibrate{1, 1000, true, []byte{1, 2}, nil},
	&Hello{"17.0.1", -5, true, 42},
	&Classes{true, []Class{{ID: cha.ClassID{Loader: 3, Name: "D"}, Access: 33, State: 7, Super: cha.ClassID{Name: "E"}, Interfaces: []cha.ClassID{{Loader: 1, Name: "I"}}, Place: "/x.jar"}, {Place: "="}}},
	&Transformed{2, []byte{1}, []byte{2, 3}},
	&Targets{-3, true, 9, []cha.MethodID{{Class: cha.ClassID{Loader: 2, Name: "F"}, Name: "m", Desc: "()V"}}},
	&Revealed{-1, []Refusal{{cha.ClassID{Name: "G"}, "why"}}, []cha.ClassID{{Loader: 9, Name: "H"}}},
	&Found{"K", []uint32{0, 5}},
	&Names{false, []string{"java/lang/Object"}},
	&Left{},
}

// TestRoundTrip writes messages and reads them again.
func TestRoundTrip(t *testing.T) {
	for _, m := range examples {
		b := Encode(m)
		got := reflect.New(reflect.TypeOf(m).Elem()).Interface().(Message)
		if err := Decode(got, b); err != nil {
			t.Errorf("%+v: %v", m, err)
		}
		if c, ok := got.(*Calibrate); ok && len(c.Probed) == 0 {
			c.Probed = nil
		}
		if !reflect.DeepEqual(got, m) {
			t.Errorf("got %+v, want %+v", got, m)
		}
		for n := range b {
			cut := reflect.New(reflect.TypeOf(m).Elem()).Interface().(Message)
			if err := Decode(cut, b[:n]); !errors.Is(err, wire.ErrTruncated) {
				t.Errorf("%+v, cut to %d of %d bytes: error %v", m, n, len(b), err)
			}
		}
	}
}

// TestMostRows looks that a count which the message can't hold makes no rows.
func TestMostRows(t *testing.T) {
	var m Left
	if err := Decode(&m, []byte{0x7f, 0xff, 0xff, 0xff, 0, 0}); !errors.Is(err, wire.ErrTruncated) || len(m.Classes) > 0 {
		t.Errorf("%d rows, error %v", len(m.Classes), err)
	}
}
