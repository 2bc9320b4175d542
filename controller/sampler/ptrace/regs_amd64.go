package ptrace

import "golang.org/x/sys/unix"

//go:nosplit
func stackPointer(r *unix.PtraceRegs) uint64 { return r.Rsp }

func taken(r *unix.PtraceRegs) Registers {
	return Registers{BX: r.Rbx, BP: r.Rbp, SP: r.Rsp, IP: r.Rip, R13: r.R13}
}
