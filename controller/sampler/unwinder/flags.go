package unwinder

import "bytes"

// Flag reads a flag of the JVM's that is a bool.
func (u *Unwinder) Flag(name string) (on, ok bool) {
	u.budget = walkBudget
	const most, longest = 1 << 13, 64
	l := u.l
	if l.Flags == none || l.FlagCount == none || l.FlagName == none || l.FlagAddr == none || l.FlagSize == none {
		return false, false
	}
	table, _ := u.u64(l.Flags)
	n, _ := u.u64(l.FlagCount)
	if n == 0 || n > most {
		return false, false
	}
	rows := u.bytes(table, int(n*l.FlagSize))
	var at []uint64
	var sizes []int
	for i := uint64(0); (i+1)*l.FlagSize <= uint64(len(rows)); i++ {
		at = append(at, word(rows, i*l.FlagSize+l.FlagName))
		sizes = append(sizes, longest)
	}
	want := append([]byte(name), 0)
	for i, p := range u.many(at, sizes) {
		if !bytes.HasPrefix(p, want) {
			continue
		}
		v := u.bytes(word(rows, uint64(i)*l.FlagSize+l.FlagAddr), 1)
		if v == nil {
			return false, false
		}
		return v[0] != 0, true
	}
	return false, false
}
