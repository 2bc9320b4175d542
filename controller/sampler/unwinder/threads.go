package unwinder

import "slices"

// A JavaThread is an entry of the JVM's list of threads.
type JavaThread struct {
	Thread
	TID int // in the target's own namespace of processes
}

// Threads reads the JVM's list of its Java threads, among them those of the JVM's own work
// that count as such.
func (u *Unwinder) Threads() []JavaThread {
	u.budget = maxThreads * walkBudget / 1024
	at := u.threadAddresses()
	l := u.l
	fields := []uint64{l.OSThread, l.StackBase}
	first, last := slices.Min(fields), slices.Max(fields)+8
	sizes := make([]int, len(at))
	for i := range at {
		at[i] += first
		sizes[i] = int(last - first)
	}
	out := make([]JavaThread, 0, len(at))
	var os []uint64
	for i, p := range u.many(at, sizes) {
		if p == nil {
			continue
		}
		out = append(out, JavaThread{Thread: Thread{At: at[i] - first, StackBase: word(p, l.StackBase-first)}})
		os = append(os, word(p, l.OSThread-first)+l.ThreadID)
	}
	sizes = sizes[:len(os)]
	for i := range sizes {
		sizes[i] = 4
	}
	for i, p := range u.many(os, sizes) {
		out[i].TID = int(int32(half(p, 0)))
	}
	return slices.DeleteFunc(out, func(t JavaThread) bool { return t.TID <= 0 })
}

func (u *Unwinder) threadAddresses() []uint64 {
	l := u.l
	var at []uint64
	if l.ThreadArray != none && l.ListThreads != none {
		list, _ := u.u64(l.ThreadArray)
		p := u.bytes(list, int(max(l.ListLength+4, l.ListThreads+8)))
		n := min(half(p, l.ListLength), maxThreads)
		q := u.bytes(word(p, l.ListThreads), int(n)*8)
		for i := 0; i+8 <= len(q); i += 8 {
			at = append(at, u64(q[i:]))
		}
		return at
	}
	t, _ := u.u64(l.ThreadList)
	for t != 0 && len(at) < maxThreads {
		at = append(at, t)
		t, _ = u.u64(t + l.NextThread)
	}
	return at
}
