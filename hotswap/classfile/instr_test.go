package classfile_test

import (
	"errors"
	"testing"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// TestDecode reads one instruction of each layout.
func TestDecode(t *testing.T) {
	for _, tt := range []struct {
		code []byte
		want classfile.Instr
		name string
	}{
		{[]byte{0x00}, classfile.Instr{Size: 1}, "nop"},
		{[]byte{0x10, 0xff}, classfile.Instr{Size: 2, A: -1}, "bipush"},
		{[]byte{0x11, 0x80, 0x00}, classfile.Instr{Size: 3, A: -32768}, "sipush"},
		{[]byte{0x12, 0xff}, classfile.Instr{Size: 2, A: 255}, "ldc"},
		{[]byte{0xb8, 0xff, 0xfe}, classfile.Instr{Size: 3, A: 65534}, "invokestatic"},
		{[]byte{0x15, 0xff}, classfile.Instr{Size: 2, A: 255}, "iload"},
		{[]byte{0x84, 0xff, 0x80}, classfile.Instr{Size: 3, A: 255, B: -128}, "iinc"},
		{[]byte{0xa7, 0xff, 0xff}, classfile.Instr{Size: 3, A: -1}, "goto"},
		{[]byte{0xc8, 0, 1, 0, 0}, classfile.Instr{Size: 5, A: 65536}, "goto_w"},
		{[]byte{0xb9, 0, 7, 3, 0}, classfile.Instr{Size: 5, A: 7, B: 3}, "invokeinterface"},
		{[]byte{0xba, 0, 7, 0, 0}, classfile.Instr{Size: 5, A: 7}, "invokedynamic"},
		{[]byte{0xc5, 0, 9, 2}, classfile.Instr{Size: 4, A: 9, B: 2}, "multianewarray"},
		{[]byte{0xbc, 10}, classfile.Instr{Size: 2, A: 10}, "newarray"},
		{[]byte{0xc4, 0x16, 1, 2}, classfile.Instr{Size: 4, A: 258, Wide: true}, "lload"},
		{[]byte{0xc4, 0x84, 1, 2, 0xff, 0xfe}, classfile.Instr{Size: 6, A: 258, B: -2, Wide: true}, "iinc"},
	} {
		got, err := classfile.Decode(tt.code, 0)
		if err != nil {
			t.Errorf("% x: %v", tt.code, err)
			continue
		}
		if got.Op.String() != tt.name {
			t.Errorf("% x: %s, want %s", tt.code, got.Op, tt.name)
		}
		got.Op = 0
		if got != tt.want {
			t.Errorf("% x: %+v, want %+v", tt.code, got, tt.want)
		}
		for n := range tt.code {
			var format *classfile.FormatError
			if _, err := classfile.Decode(tt.code[:n], 0); !errors.As(err, &format) {
				t.Errorf("% x cut to %d bytes: %v", tt.code, n, err)
			}
		}
	}
}

// TestSwitch reads the rows of both switches.
func TestSwitch(t *testing.T) {
	table := []byte{0xaa, 0, 0, 0, 0, 0, 0, 9, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2}
	lookup := []byte{0xab, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 2, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2}
	for _, code := range [][]byte{table, lookup} {
		in, err := classfile.Decode(code, 0)
		if err != nil || in.Size != len(code) {
			t.Fatalf("%v, size %d", err, in.Size)
		}
		sw, ok := in.Switch(code)
		if !ok || sw.Default != 9 || sw.Count != 2 {
			t.Fatalf("%+v", sw)
		}
		for i := range 2 {
			if sw.Key(i) != int32(i)-1 || sw.Offset(i) != int32(i)+1 {
				t.Errorf("row %d: %d goes to %d", i, sw.Key(i), sw.Offset(i))
			}
		}
	}
}

// TestParams takes descriptors apart.
func TestParams(t *testing.T) {
	params, ret, err := classfile.Params("(I[[Ljava/lang/String;JLa;[D)[Z", nil)
	want := []string{"I", "[[Ljava/lang/String;", "J", "La;", "[D"}
	if err != nil || ret != "[Z" || len(params) != len(want) {
		t.Fatal(params, ret, err)
	}
	for i := range want {
		if params[i] != want[i] {
			t.Errorf("parameter %d is %s, want %s", i, params[i], want[i])
		}
	}
	if args, words, err := classfile.MethodWords("(I[[Ljava/lang/String;JLa;[D)J"); args != 6 || words != 2 || err != nil {
		t.Error(args, words, err)
	}
	for _, bad := range []string{"", "(", "()", "(V)V", "(L;)V", "(La)V", "I", "(I)VV", "(I)[", "([)V", "(Q)V"} {
		if _, _, err := classfile.Params(bad, nil); err == nil {
			t.Errorf("%q is no descriptor", bad)
		}
	}
}
