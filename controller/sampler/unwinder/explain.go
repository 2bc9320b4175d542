package unwinder

import (
	"fmt"
	"strings"
)

// Explain describes a sample whose walk broke, for a report of the fault: registers, the
// words on top of the stack, and the code around the place where the walk ended and where it
// began.
func (u *Unwinder) Explain(r Registers, dump []byte, w *Walk) string {
	const words, before, after = 24, 48, 32
	var b strings.Builder
	fmt.Fprintf(&b, "%s: pc %#x sp %#x fp %#x bx %#x r13 %#x, %d bytes\n", w.Broken, r.PC, r.SP, r.FP, r.BX, r.R13, len(dump))
	fmt.Fprintf(&b, "broken at pc %#x sp +%d fp %#x\n", w.At, u.w.atSP-r.SP, u.w.atFP)
	for _, pc := range []uint64{r.PC, w.At} {
		p := u.places[pc]
		if p == nil || p.b == nil {
			fmt.Fprintf(&b, "%#x: not in the code cache\n", pc)
			continue
		}
		o := p.b
		fmt.Fprintf(&b, "%#x: %s, code %#x to %#x, entry %#x, whole at +%d, frame of %d bytes, level %d, on-stack %v\n", pc, o.name, o.codeBegin, o.codeEnd, o.nm.entry, o.complete, o.frame, o.nm.level, o.nm.osr)
		if u.load(o) {
			from, to := max(o.codeBegin, pc-before), min(o.codeEnd, pc+after)
			fmt.Fprintf(&b, "  code before % x\n  code there  % x\n", o.slice(from, pc), o.slice(pc, to))
		}
	}
	for i := range 2 * words {
		off := 8 * uint64(i)
		if i >= words {
			off += u.w.atSP - r.SP - 8*words
		}
		v, ok := u.w.word(r.SP + off)
		if !ok {
			continue
		}
		fmt.Fprintf(&b, "  +%d %#x", off, v)
		if p := u.placeOf(v); p != nil {
			fmt.Fprintf(&b, " in %s+%#x, can return: %v", p.b.name, v-p.b.codeBegin, p.ret)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
