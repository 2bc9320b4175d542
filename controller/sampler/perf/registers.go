package perf

// Registers are those of the user's side that an unwinder of HotSpot's frames needs, by x86-64's names. On arm64
// BX is x12, BP x29, IP the program counter and R13 x19.
type Registers struct {
	BX, BP, SP, IP, R13 uint64
	LR, X13, X22        uint64 // of arm64 alone; LR is x30
}

// A machine says which registers the kernel is to give, by its numbers (asm/perf_regs.h), in rising order.
type machine struct {
	bits   []uint
	places func(r *Registers) []*uint64 // where they go, in that order
}

func (m *machine) mask() (mask uint64) {
	for _, b := range m.bits {
		mask |= 1 << b
	}
	return mask
}

var machines = map[string]*machine{
	"amd64": {[]uint{1, 6, 7, 8, 21}, func(r *Registers) []*uint64 { return []*uint64{&r.BX, &r.BP, &r.SP, &r.IP, &r.R13} }},
	"arm64": {[]uint{12, 13, 19, 22, 29, 30, 31, 32}, func(r *Registers) []*uint64 {
		return []*uint64{&r.BX, &r.X13, &r.R13, &r.X22, &r.BP, &r.LR, &r.SP, &r.IP}
	}},
}
