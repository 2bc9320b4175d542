package unwinder

import (
	"encoding/binary"
	"testing"
)

func arm(code ...uint32) []byte {
	var b []byte
	for _, i := range code {
		b = binary.LittleEndian.AppendUint32(b, i)
	}
	return b
}

// Instructions, as an assembler gives them.
const (
	subSP64    = 0xD10103FF // sub sp, sp, #64
	subSP4K    = 0xD14007FF // sub sp, sp, #1, lsl #12
	stpSP48    = 0xA9037BFD // stp x29, x30, [sp, #48]
	stpPre16   = 0xA9BF7BFD // stp x29, x30, [sp, #-16]!
	movFP      = 0x910003FD // mov x29, sp
	ldpSP48    = 0xA9437BFD // ldp x29, x30, [sp, #48]
	ldpPost16  = 0xA8C17BFD // ldp x29, x30, [sp], #16
	addSP64    = 0x910103FF // add sp, sp, #64
	addSP4K    = 0x914007FF // add sp, sp, #1, lsl #12
	ret        = 0xD65F03C0
	nop        = 0xD503201F
	bangLow    = 0xD14053E9 // sub x9, sp, #20, lsl #12
	bangStore  = 0xF900013F // str xzr, [x9]
	pollLoad   = 0xF9402F88 // ldr x8, [x28, #88]
	pollCmp    = 0xEB2863FF // cmp sp, x8
	pollBranch = 0x54000088 // b.hi +16
	addX0      = 0x91000400 // add x0, x0, #1
)

func TestArmFrames(t *testing.T) {
	for _, c := range []struct {
		name string
		code []byte
		want builtArm
		ok   bool
	}{
		{"nothing yet", nil, builtArm{0, -1}, true},
		{"probes the stack", arm(bangLow, bangStore), builtArm{0, -1}, true},
		{"lower", arm(bangLow, bangStore, subSP64), builtArm{64, -1}, true},
		{"saved", arm(nop, subSP64, stpSP48), builtArm{64, 48}, true},
		{"large", arm(stpPre16, subSP4K), builtArm{4112, 4096}, true},
		{"a stub's", arm(stpPre16, movFP), builtArm{16, 0}, true},
		{"half an instruction", arm(nop)[:3], builtArm{0, -1}, false},
	} {
		if got, ok := prologueArm(c.code); ok != c.ok || ok && got != c.want {
			t.Errorf("prologue, %s: %+v, %v; want %+v", c.name, got, ok, c.want)
		}
	}
	for _, c := range []struct {
		name string
		code []byte
		want builtArm
		ok   bool
	}{
		{"all of it", arm(ldpSP48, addSP64, pollLoad, pollCmp, pollBranch, ret), builtArm{64, 48}, true},
		{"restored", arm(addSP64, pollLoad, pollCmp, pollBranch, ret), builtArm{64, -1}, true},
		{"polls", arm(pollCmp, pollBranch, ret), builtArm{0, -1}, true},
		{"large", arm(addSP4K, ldpPost16, ret), builtArm{4112, 4096}, true},
		{"computes before", arm(addX0, ldpSP48, addSP64, ret), builtArm{}, false},
		{"does not return", arm(nop, nop), builtArm{}, false},
		{"ends", nil, builtArm{}, false},
	} {
		if got, ok := epilogueArm(c.code); ok != c.ok || ok && got != c.want {
			t.Errorf("epilogue, %s: %+v, %v; want %+v", c.name, got, ok, c.want)
		}
	}
	for code, want := range map[uint32]bool{0x94000010: true, 0x97FFFFF0: true, 0xD63F0120: true, 0x14000010: false, 0xD61F0120: false, nop: false} {
		if got := behindCallArm(arm(nop, code)); got != want {
			t.Errorf("%#x: a call: %v", code, got)
		}
	}
	if behindCallArm([]byte{0, 0, 0x94}) {
		t.Error("three bytes are a call")
	}
}

// FuzzArm decodes anything.
func FuzzArm(f *testing.F) {
	f.Add(arm(subSP64, stpSP48))
	f.Add(arm(ldpSP48, addSP64, ret))
	f.Fuzz(func(t *testing.T, code []byte) {
		behindCallArm(code)
		if b, ok := prologueArm(code); ok && !b.sane() {
			t.Errorf("%+v", b)
		}
		if b, ok := epilogueArm(code); ok && !b.sane() {
			t.Errorf("%+v", b)
		}
	})
}
