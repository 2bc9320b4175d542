package jfr_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/jfr"
	"github.com/rivulet-profiler/rivulet/controller/jfr/jfrtest"
)

// small is a recording of one chunk: two events, with values of every kind.
func small(packed bool) []byte {
	w := jfrtest.New(packed)
	long, text := w.Type("long", ""), w.Type("java.lang.String", "")
	boolean, float, char := w.Type("boolean", ""), w.Type("float", ""), w.Type("char", "")
	symbol := w.Type("jdk.types.Symbol", "")
	w.Field(symbol, "string", text, false, false)
	w.Simple(symbol)
	pair := w.Type("Pair", "")
	w.Field(pair, "a", long, false, false)
	w.Field(pair, "b", symbol, true, false)
	event := w.Type("p.Event", "jdk.jfr.Event")
	for _, f := range []struct {
		name        string
		of          int64
		pool, array bool
	}{
		{"startTime", long, false, false},
		{"flag", boolean, false, false},
		{"name", symbol, true, false},
		{"pair", pair, false, false},
		{"list", pair, true, true},
		{"real", float, false, false},
		{"letter", char, false, false},
		{"text", text, false, false},
	} {
		w.Field(event, f.name, f.of, f.pool, f.array)
	}
	w.Pool(symbol, 7, w.Text("a name"))
	w.Pool(pair, 1, append(w.Long(-5), w.Long(7)...))
	w.Pool(pair, 2, append(w.Long(6), w.Long(0)...))
	w.Pool(text, 3, w.Text("kept"))
	real := binary.BigEndian.AppendUint32(nil, math.Float32bits(0.25))
	w.Event(event, w.Long(10), []byte{1}, w.Long(7), w.Long(math.MinInt64), w.Long(7), w.Int(2), w.Long(1), w.Long(2), real, w.Short('x'), w.Text("ü\"€"))
	w.Event(event, w.Long(20), []byte{0}, w.Long(99), w.Long(1), w.Long(0), w.Int(0), real, w.Short('€'), []byte{2}, w.Long(3))
	return w.Bytes()
}

const smallJSON = `{"recording":{"events":[
{"type":"p.Event","values":{"startTime":10,"flag":true,"name":"a name","pair":{"a":-9223372036854775808,"b":"a name"},"list":[{"a":-5,"b":"a name"},{"a":6,"b":null}],"real":0.25,"letter":"x","text":"ü\"€"}},
{"type":"p.Event","values":{"startTime":20,"flag":false,"name":null,"pair":{"a":1,"b":null},"list":[],"real":0.25,"letter":"€","text":"kept"}}
]}}
`

// read is a recording as JSON.
func read(b []byte) (string, error) {
	var out bytes.Buffer
	w := jfr.NewJSONWriter(&out)
	err := jfr.Each(context.Background(), jfr.NewReader(bytes.NewReader(b), int64(len(b)), jfr.Options{Memory: 8 << 20}), nil, w.Event)
	return out.String(), errors.Join(err, w.End())
}

func TestValues(t *testing.T) {
	for name, packed := range map[string]bool{"compressed": true, "fixed": false} {
		t.Run(name, func(t *testing.T) {
			one := small(packed)
			got, err := read(one)
			got += "\n]}}\n"
			if err != nil || got != smallJSON {
				t.Errorf("%v, got\n%s", err, got)
			}
			got, err = read(append(one, one...))
			if err != nil || strings.Count(got, `"type":`) != 4 {
				t.Errorf("two chunks: %v, got\n%s", err, got)
			}
		})
	}
}

// TestCut cuts a recording at every byte, and sets every byte to something else: there
// must be an error or events, and nothing worse.
func TestCut(t *testing.T) {
	whole := small(true)
	for n := range whole {
		if _, err := read(whole[:n]); err == nil {
			t.Fatalf("no error after %d of %d bytes", n, len(whole))
		} else if n > 100 && !errors.Is(err, jfr.ErrCut) {
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
	}
	for i := range whole {
		for _, b := range []byte{0, 1, 0x7f, 0x80, 0xff, whole[i] ^ 1} {
			bad := bytes.Clone(whole)
			bad[i] = b
			if _, err := read(bad); err != nil {
				var f *jfr.FormatError
				if !errors.As(err, &f) || f.Offset < 0 || f.Offset > int64(len(whole)) {
					t.Fatalf("byte %d set to %d: %v", i, b, err)
				}
			}
		}
	}
}

func TestErrors(t *testing.T) {
	good := small(true)
	change := func(f func(b []byte)) []byte {
		b := bytes.Clone(good)
		f(b)
		return b
	}
	for name, c := range map[string]struct {
		b    []byte
		want error
	}{
		"nothing":      {nil, jfr.ErrNotJFR},
		"another file": {[]byte("JAVA PROFILE 1.0.2"), jfr.ErrNotJFR},
		"old version":  {change(func(b []byte) { b[5] = 1 }), jfr.ErrVersion},
		"being begun":  {change(func(b []byte) { clear(b[8:16]) }), jfr.ErrRunning},
		"being written": {change(func(b []byte) {
			b[64] = 255
		}), jfr.ErrRunning},
		"rubbish behind": {append(bytes.Clone(good), "and so on"...), nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(c.b)
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%v", err)
			}
		})
	}
	running := append(change(func(b []byte) { b[64] = 3 }), "not flushed yet"...)
	if _, err := read(running); err != nil {
		t.Errorf("a chunk that is being written: %v", err)
	}
	r := jfr.NewReader(bytes.NewReader(good), int64(len(good)), jfr.Options{Memory: 200})
	if _, err := r.Next(); !errors.Is(err, jfr.ErrMemory) {
		t.Errorf("little memory: %v", err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add(small(true))
	f.Add(small(false))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := read(b); err != nil {
			var e *jfr.FormatError
			if !errors.As(err, &e) && !errors.Is(err, jfr.ErrTooLarge) {
				t.Errorf("an error of another kind: %v", err)
			}
		}
		r := jfr.NewReader(bytes.NewReader(b), int64(len(b)), jfr.Options{Memory: 8 << 20})
		var s jfr.Stacks
		_ = jfr.Each(context.Background(), r, nil, func(e *jfr.Event) error { s.Sample(e, 1); return nil })
	})
}
