package ptrace

import "golang.org/x/sys/unix"

//go:nosplit
func stackPointer(r *unix.PtraceRegs) uint64 { return r.Sp }

func taken(r *unix.PtraceRegs) Registers {
	x := &r.Regs
	return Registers{BX: x[12], BP: x[29], SP: r.Sp, IP: r.Pc, R13: x[19], LR: x[30], X13: x[13], X22: x[22]}
}
