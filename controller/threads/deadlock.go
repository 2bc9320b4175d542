package threads

import "strings"

// A Deadlock is a circle of threads, each of which waits for a lock that the next one owns.
type Deadlock struct {
	Threads []Locked `json:"threads"`
}

// A Locked is a thread of a deadlock.
type Locked struct {
	Thread   string   `json:"thread"`
	WaitsFor string   `json:"waits_for"` // class and address of the lock
	Holds    string   `json:"holds"`     // the lock that the thread before waits for
	Stack    []string `json:"stack"`
}

// String names a lock.
func (l Lock) String() string {
	if strings.HasPrefix(l.Address, "@") {
		return l.Class + l.Address
	}
	return l.Class + " <" + l.Address + ">"
}

// Deadlocks finds all circles. A thread that waits with a time limit ends one by itself,
// so it is in none.
func Deadlocks(all []Thread) []Deadlock {
	owner := map[string]int{}
	byID := map[int64]int{}
	for i, t := range all {
		byID[t.ID] = i
		byID[-int64(t.NID)] = i // of those without a number
		for _, l := range t.Holds {
			owner[l.String()] = i
		}
	}
	next := make([]int, len(all))
	for i, t := range all {
		next[i] = -1
		if t.WaitFor == nil || t.Wait == Notify || t.State == "TIMED_WAITING" {
			continue
		}
		o, ok := owner[t.WaitFor.String()]
		if t.owner != 0 {
			o, ok = byID[t.owner]
		}
		if ok && o != i {
			next[i] = o
		}
	}
	out := []Deadlock{}
	met := make([]int, len(all)) // the walk that a thread was met on
	for i := range all {
		at := i
		for at >= 0 && met[at] == 0 {
			met[at] = i + 1
			at = next[at]
		}
		if at < 0 || met[at] != i+1 {
			continue
		}
		var d Deadlock
		first := at
		for {
			t := all[at]
			d.Threads = append(d.Threads, Locked{Thread: t.Name, WaitsFor: t.WaitFor.String(), Stack: t.Stack})
			if at = next[at]; at == first {
				break
			}
		}
		for k := range d.Threads {
			before := d.Threads[(k+len(d.Threads)-1)%len(d.Threads)]
			d.Threads[k].Holds = before.WaitsFor
		}
		out = append(out, d)
	}
	return out
}
