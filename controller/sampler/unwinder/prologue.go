package unwinder

// match reports whether code begins with these bytes; a negative one stands for any.
func match(code []byte, want ...int) bool {
	if len(code) < len(want) {
		return false
	}
	for i, b := range want {
		if b >= 0 && code[i] != byte(b) {
			return false
		}
	}
	return true
}

func i32(code []byte) int64 { return int64(int32(u32(code))) }

// prologue says what the instructions from a method's entry to a pc have done: how far
// above the stack pointer the return address is, and the saved frame pointer, negative if
// it is still in its register. frame is the size that the frame will have. It is false if
// the pc is in the middle of an instruction.
func prologue(code []byte, frame int64) (ra, fp int64, ok bool) {
	fp = -1
	if match(code, 0xE9) && len(code) >= 7 {
		// The method is not entrant any more: a jump lies over the first instruction,
		// which was a probe of the stack, or made the frame.
		if match(code[7:], 0x55) || len(code) == 7 && frame <= 16 {
			code = code[7:]
		} else {
			code, ra = code[7:], max(frame-8, 0)
		}
	}
	for len(code) > 0 {
		n := 0
		switch {
		case match(code, 0x89, 0x84, 0x24): // mov [rsp+d], eax
			n = 7
		case match(code, 0x55): // push rbp
			n = 1
			ra, fp = ra+8, 0
		case match(code, 0x48, 0x8B, 0xEC), match(code, 0x48, 0x89, 0xE5): // mov rbp, rsp
			n = 3
		case match(code, 0x48, 0x83, 0xEC, -1): // sub rsp, i8
			n = 4
			ra, fp = grow(ra, fp, int64(int8(code[3])))
		case match(code, 0x48, 0x81, 0xEC, -1, -1, -1, -1): // sub rsp, i32
			n = 7
			ra, fp = grow(ra, fp, i32(code[3:]))
		case match(code, 0x48, 0x89, 0x6C, 0x24, -1): // mov [rsp+d], rbp
			n = 5
			fp = int64(int8(code[4]))
		case match(code, 0x48, 0x89, 0xAC, 0x24, -1, -1, -1, -1):
			n = 8
			fp = i32(code[4:])
		case match(code, 0x90): // the rest: no operation, of all lengths
			n = 1
		case match(code, 0x66, 0x90):
			n = 2
		case match(code, 0x66, 0x0F, 0x1F, 0x44):
			n = 6
		case match(code, 0x0F, 0x1F, 0x40):
			n = 4
		case match(code, 0x0F, 0x1F, 0x44):
			n = 5
		case match(code, 0x0F, 0x1F, 0x80):
			n = 7
		case match(code, 0x0F, 0x1F, 0x84):
			n = 8
		default: // the body, before the frame counts as whole
			return ra, fp, sane(ra, fp)
		}
		if n > len(code) {
			return 0, 0, false
		}
		code = code[n:]
	}
	return ra, fp, sane(ra, fp)
}

func grow(ra, fp, n int64) (int64, int64) {
	if fp >= 0 {
		fp += n
	}
	return ra + n, fp
}

func sane(ra, fp int64) bool {
	return ra >= 0 && ra <= 8*maxFrame && ra%8 == 0 && fp >= -1 && fp <= ra && (fp < 0 || fp%8 == 0)
}

// epilogue says the same for code that is about to return. It is false if the code doesn't
// return within a few instructions.
func epilogue(code []byte) (ra, fp int64, ok bool) {
	fp = -1
	for range 8 {
		n := 0
		switch {
		case match(code, 0xC3), match(code, 0xC2), match(code, 0xF3, 0xC3): // ret
			return ra, fp, sane(ra, fp)
		case match(code, 0x48, 0x83, 0xC4, -1): // add rsp, i8
			n = 4
			ra += int64(int8(code[3]))
		case match(code, 0x48, 0x81, 0xC4, -1, -1, -1, -1): // add rsp, i32
			n = 7
			ra += i32(code[3:])
		case match(code, 0x5D): // pop rbp
			n = 1
			ra, fp = ra+8, ra
		case match(code, 0xC5, 0xF8, 0x77): // vzeroupper
			n = 3
		case match(code, 0x85, 0x05): // polls whether to stop
			n = 6
		case match(code, 0x4D, 0x8B, 0x97):
			n = 7
		case match(code, 0x41, 0x85, 0x02):
			n = 3
		case match(code, 0x49, 0x3B, 0x67):
			n = 4
		case match(code, 0x49, 0x3B, 0xA7):
			n = 7
		case match(code, 0x0F, 0x87):
			n = 6
		default:
			return 0, 0, false
		}
		if n > len(code) {
			return 0, 0, false
		}
		code = code[n:]
	}
	return 0, 0, false
}
