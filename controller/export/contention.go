package export

import (
	"cmp"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// A Contention says which waits for locks there were while it was recorded. Their contexts are in the tree (cct.Node Waits).
type Contention struct {
	Inside   int64 `json:"inside"`                    // that contexts have
	Outside  int64 `json:"outside"`                   // by threads that were not below the roots
	Unplaced int64 `json:"without_context,omitempty"` // whose outer frames Flight Recorder had cut off, and that fit several contexts
}

// plus adds those of another JVM, or of another recording.
func (c *Contention) plus(o *Contention) *Contention {
	if c == nil || o == nil {
		return cmp.Or(c, o)
	}
	return &Contention{c.Inside + o.Inside, c.Outside + o.Outside, c.Unplaced + o.Unplaced}
}

// jsonWait is waits of a context for a lock.
type jsonWait struct {
	Lock  string `json:"lock"`
	Via   string `json:"via,omitempty"`
	Owner string `json:"owner,omitempty"`
	Count int64  `json:"count"`
	Took  int64  `json:"blocked_ns"`
}

// waits writes what a context has waited for, if there is anything.
func (w *jsonWriter) waits(l *cct.Waits) {
	if l == nil {
		return
	}
	list := make([]jsonWait, 0, len(l.List))
	for _, k := range l.List {
		list = append(list, jsonWait(k))
	}
	text, err := marshal(list, "")
	if err != nil {
		return // texts and numbers can't fail
	}
	w.text(`,"lock_waits":`)
	w.bytes(text)
}

// readWaits gives a node what was read.
func readWaits(n *cct.Node, list []jsonWait) {
	for _, j := range list {
		if j.Lock == "" || j.Count <= 0 || j.Took < 0 {
			continue
		}
		if n.Waits() == nil {
			n.Details().Waits = &cct.Waits{}
		}
		n.Waits().Add(cct.LockWait(j))
	}
}

// contention writes which methods have waited for which locks.
func (t *textWriter) contention() {
	c := t.report.Contention
	if c == nil {
		return
	}
	t.section("Waits for locks, by lock and method")
	sums := cct.WaitsOf(t.snapshot.Roots())
	shown := sums
	if t.o.Top > 0 && len(shown) > t.o.Top {
		shown = shown[:t.o.Top]
	}
	var all, took int64
	for _, s := range sums {
		all, took = all+s.Count, took+s.Took
	}
	if len(shown) > 0 {
		table := table{head: []string{"blocked", "share", "waits", "each", "call paths", "lock, who waits, and where its owner had got it"}}
		for _, s := range shown {
			label := Clean(s.Lock) + "  " + t.labels[s.Method]
			if s.Via != "" {
				label += " by " + Clean(shortName(s.Via))
			}
			if s.Owner != "" {
				label += ", held by " + Clean(shortName(s.Owner))
			}
			table.add(label, "", Duration(s.Took), share(s.Took, took), Count(s.Count), Duration(s.Took/max(s.Count, 1)), Count(s.Contexts))
		}
		table.write(&t.sink, t.o.Color, t.o.Width)
	}
	if rest := len(sums) - len(shown); rest > 0 {
		t.printf("and %s more\n", Plural(int64(rest), "line", "lines"))
	}
	t.printf("%s below the roots, %s in all; %s elsewhere\n", Plural(all, "wait", "waits"), Duration(took), Count(c.Outside))
	if c.Unplaced > 0 {
		t.printf("%s left out: Flight Recorder had cut off the outer frames (-XX:FlightRecorderOptions=stackdepth=256)\n", Plural(c.Unplaced, "wait is", "waits are"))
	}
}
