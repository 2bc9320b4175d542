package unwinder

import (
	"encoding/binary"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"
)

func code(t testing.TB, s string) []byte {
	t.Helper()
	p, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPrologue decodes how C1 and C2 begin a method, instruction by instruction.
func TestPrologue(t *testing.T) {
	const (
		bang = "89842400a0feff"
		push = "55"
		sub  = "4883ec40"
		big  = "4881ecd0010000"
		save = "48896c2438"
	)
	for name, c := range map[string]struct {
		code   string
		frame  int64
		ra, fp int64
		ok     bool
	}{
		"entry":                      {"", 80, 0, -1, true},
		"stack bang":                 {bang, 80, 0, -1, true},
		"pushed":                     {bang + push, 80, 8, 0, true},
		"C1, whole":                  {bang + push + sub, 80, 72, 64, true},
		"C2 without a bang":          {big, 0x1d8, 0x1d0, -1, true},
		"C2, saved":                  {sub + save, 72, 64, 56, true},
		"mov rbp, rsp":               {push + "488bec" + sub, 80, 72, 64, true},
		"nops":                       {"90 6690 0f1f4000 0f1f440000 660f1f440000 0f1f8000000000 0f1f840000000000" + push, 80, 8, 0, true},
		"body":                       {push + sub + "8b4608 ffffff", 80, 72, 64, true},
		"in the middle":              {push + "4883ec", 80, 8, 0, true},
		"cut":                        {push + bang[:8], 80, 0, 0, false},
		"not entrant, had a bang":    {"e911223344a0fe" + push + sub, 80, 72, 64, true},
		"not entrant, had the frame": {"e9112233440000" + save, 72, 64, 56, true},
		"not entrant, just there":    {"e9112233440000", 16, 0, -1, true},
		"shrinks":                    {"4883ecc0", 80, 0, 0, false},
	} {
		ra, fp, ok := prologue(code(t, c.code), c.frame)
		if ok != c.ok || ok && (ra != c.ra || fp != c.fp) {
			t.Errorf("%s: %d, %d, %v, want %d, %d, %v", name, ra, fp, ok, c.ra, c.fp, c.ok)
		}
	}
}

// TestEpilogue decodes how methods return in the JDKs.
func TestEpilogue(t *testing.T) {
	for name, c := range map[string]struct {
		code   string
		ra, fp int64
		ok     bool
	}{
		"ret":          {"c3", 0, -1, true},
		"8":            {"4883c440 5d 850500000000 c3", 72, 64, true},
		"11":           {"4881c4d0010000 5d 4d8b9708010000 418502 c3", 0x1d8, 0x1d0, true},
		"17":           {"4883c440 5d 493ba740030000 0f8742010000 c3", 72, 64, true},
		"21":           {"5d 493b6738 0f8742010000 c20800", 8, 0, true},
		"vzeroupper":   {"c5f877 4883c408 c3", 8, -1, true},
		"does not":     {"8b4608 c3", 0, 0, false},
		"is cut":       {"4883c440 5d", 0, 0, false},
		"nothing":      {"", 0, 0, false},
		"odd":          {"4883c403 c3", 0, 0, false},
		"far too long": {"5d5d5d5d5d5d5d5d5dc3", 0, 0, false},
	} {
		ra, fp, ok := epilogue(code(t, c.code))
		if ok != c.ok || ok && (ra != c.ra || fp != c.fp) {
			t.Errorf("%s: %d, %d, %v, want %d, %d, %v", name, ra, fp, ok, c.ra, c.fp, c.ok)
		}
	}
}

// TestBehindCall tells what stands behind a call.
func TestBehindCall(t *testing.T) {
	for s, want := range map[string]bool{
		"e811223344":       true,
		"41ffd2":           true, // call r10
		"ff5010":           true, // call [rax+16]
		"ff142511223344":   true, // call [d32]
		"ff9011223344":     true,
		"41ff941411223344": true,
		"ffe0":             false, // jmp rax
		"9090909090":       false,
		"":                 false,
		"e8":               false,
	} {
		if got := BehindCall(code(t, s)); got != want {
			t.Errorf("%s: %v", s, got)
		}
	}
}

// TestNumbers decodes the numbers of CompressedStream, of JDKs before 20 and since.
func TestNumbers(t *testing.T) {
	for _, excess := range []byte{0, 1} {
		var p []byte
		want := []uint32{0, 1, 100, 190, 191, 192, 5000, 1 << 20, 1<<31 - 1, 1<<32 - 1}
		for _, v := range want {
			p = append(p, unsigned5(v, excess)...)
		}
		r := numbers{p, excess, false}
		for _, v := range want {
			if got := r.next(); got != v || r.bad {
				t.Errorf("excess %d: %d, want %d", excess, got, v)
			}
		}
		if r.next(); !r.bad {
			t.Error("there was another")
		}
	}
	for v, want := range map[uint32]int{0: 0, 1: -1, 2: 1, 3: -2, 1<<32 - 1: -1 << 31} {
		if got := signed(v); got != want {
			t.Errorf("%d: %d, want %d", v, got, want)
		}
	}
}

// unsigned5 encodes a number (UNSIGNED5, compressedStream.cpp of JDK 8; each byte one more
// since 20).
func unsigned5(v uint32, excess byte) []byte {
	const least, high = 192, 64
	lower := uint32(least) - uint32(excess) // what one byte alone can hold
	var out []byte
	for range 4 {
		if v < lower {
			break
		}
		v -= lower
		out = append(out, byte(lower+v%high)+excess)
		v /= high
	}
	return append(out, byte(v)+excess)
}

// TestLines decodes a table of lines.
func TestLines(t *testing.T) {
	for _, excess := range []byte{0, 1} {
		p := []byte{2<<3 | 5, 4<<3 | 1, 0xFF}
		p = append(p, unsigned5(2*40, excess)...) // bytecode +40
		p = append(p, unsigned5(2*3-1, excess)...)
		p = append(p, 0, 9, 9)
		m := &method{lines: decodeLines(p, excess)}
		if want := []line{{2, 5}, {6, 6}, {46, 3}}; !reflect.DeepEqual(m.lines, want) {
			t.Fatalf("%v, want %v", m.lines, want)
		}
		for bci, want := range map[int]int{-1: 0, 0: 0, 2: 5, 5: 5, 6: 6, 45: 6, 46: 3, 1000: 3} {
			if got := m.lineOf(bci); got != want {
				t.Errorf("bytecode %d: line %d, want %d", bci, got, want)
			}
		}
	}
}

// TestScopes decodes scopes that are inlined into each other, and none of those that make no
// sense.
func TestScopes(t *testing.T) {
	methods := make([]byte, 24)
	for i := range 3 {
		binary.LittleEndian.PutUint64(methods[8*i:], uint64(0x1000*(i+1)))
	}
	scopes := []byte{9, 0, 1, 21} // at 1: outermost, first method, bytecode 20
	inner := len(scopes)
	scopes = append(scopes, 1, 3, 6)
	innermost := len(scopes)
	scopes = append(scopes, byte(inner), 2, 0)
	got := decodeScopes(scopes, methods, int64(innermost), 0)
	if want := []scope{{0x2000, -1}, {0x3000, 5}, {0x1000, 20}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for name, c := range map[string]struct {
		scopes []byte
		offset int64
	}{
		"none":             {scopes, 0},
		"negative":         {scopes, -4},
		"outside":          {scopes, 1 << 40},
		"in a circle":      {[]byte{0, 1, 1, 1}, 1},
		"of no method":     {[]byte{0, 0, 0, 1}, 1},
		"of another's":     {[]byte{0, 0, 4, 1}, 1},
		"cut":              {[]byte{0, 0, 1}, 1},
		"outwards and cut": {[]byte{0, 200, 1, 1}, 1},
	} {
		if got := decodeScopes(c.scopes, methods, c.offset, 0); got != nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// FuzzDecode gives all decoders bytes that make no sense.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{0x55, 0x48, 0x83, 0xEC, 0x40}, int64(80))
	f.Add([]byte{0xFF, 200, 1, 2, 0}, int64(1))
	f.Fuzz(func(t *testing.T, p []byte, n int64) {
		if ra, fp, ok := prologue(p, n); ok && (ra < 0 || ra > 8*maxFrame || fp > ra) {
			t.Errorf("prologue: %d, %d", ra, fp)
		}
		if ra, fp, ok := epilogue(p); ok && (ra < 0 || ra > 8*maxFrame || fp > ra) {
			t.Errorf("epilogue: %d, %d", ra, fp)
		}
		for _, excess := range []byte{0, 1} {
			if l := decodeLines(p, excess); len(l) > len(p) {
				t.Errorf("%d lines of %d bytes", len(l), len(p))
			}
			if s := decodeScopes(p, p, n, excess); len(s) > maxScopes {
				t.Errorf("%d scopes", len(s))
			}
		}
		BehindCall(p)
		text(p, n%2 == 0)
	})
}
