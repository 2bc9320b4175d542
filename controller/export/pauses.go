package export

import "fmt"

// Pauses say what the target's collectors and safepoints did while it was recorded,
// as its counters in hsperfdata have it. Times are ns.
type Pauses struct {
	// Unknown says why nothing is known, or nothing more from some moment on.
	Unknown string `json:"not_known,omitempty"`

	Resolution  int64       `json:"read_every_ns,omitempty"` // how often the counters were read
	Collections int64       `json:"collections"`             // that ended while it was recorded
	Time        int64       `json:"pause_ns"`                // of all these, without the way to the safepoint
	Longest     int64       `json:"longest_ns"`
	Collectors  []Collector `json:"collectors"`
	Causes      []GCCause   `json:"causes"`
	Unseen      int64       `json:"causes_not_seen,omitempty"` // collections that were followed by another before a look

	// LongestOfSeveral: Longest is the sum of collections between two looks, so none was longer.
	LongestOfSeveral bool `json:"longest_is_bound,omitempty"`

	Safepoints *Safepoints `json:"safepoints,omitempty"` // nil where there are no such counters, or there was none
	Allocated  *Allocated  `json:"allocated,omitempty"`  // nil where no collection says it
}

// A Collector is one of a JVM's, by its own name.
type Collector struct {
	Name        string `json:"name"`
	Collections int64  `json:"collections"`
	Time        int64  `json:"pause_ns"`
}

// A GCCause is why collections were done, in HotSpot's words.
type GCCause struct {
	Cause       string `json:"cause"`
	Collections int64  `json:"collections"`
}

// Safepoints are all moments at which every thread stood: collections, and what else the JVM
// stops threads for, such as redefining classes.
type Safepoints struct {
	Count int64 `json:"count"`
	Time  int64 `json:"stopped_ns"`
	Sync  int64 `json:"reaching_ns"` // until all threads stood
}

// Allocated is what threads took as buffers to allocate in, between collections of which each was
// seen. What a buffer still had room for at the collection is in it; objects too large for a buffer are not.
type Allocated struct {
	Bytes int64 `json:"bytes"`
	Over  int64 `json:"over_ns"`
}

// Rate is in bytes a second.
func (a *Allocated) Rate() float64 { return float64(a.Bytes) / float64(max(a.Over, 1)) * 1e9 }

// Paused bounds how much of a root invocation was a pause of a collector, in ns: some
// pauses may lie inside or beside it. Reaching the safepoint is not in it.
type Paused struct {
	Least int64 `json:"least_ns"`
	Most  int64 `json:"most_ns"`
}

// String is the bounds as text: "12 ms", or "0 ns to 12 ms".
func (p *Paused) String() string {
	if p.Least == p.Most || Duration(p.Least) == Duration(p.Most) {
		return Duration(p.Most)
	}
	return Duration(p.Least) + " to " + Duration(p.Most)
}

// mostCauses is how many causes the text names.
const mostCauses = 4

// Lines are what is known, as lines of a report.
func (p *Pauses) Lines() []string {
	if p == nil {
		return nil
	}
	var lines []string
	if p.Unknown != "" {
		lines = append(lines, "pauses of the garbage collector are not known: "+Clean(p.Unknown))
	}
	if p.Unknown == "" || p.Collections > 0 {
		lines = append(lines, p.collections())
	}
	if s := p.Safepoints; s != nil {
		lines = append(lines, fmt.Sprintf("%s, collections and redefinitions among them: all threads were stopped for %s, and reaching the safepoints took %s",
			Plural(s.Count, "safepoint", "safepoints"), Duration(s.Time), Duration(s.Sync)))
	}
	if a := p.Allocated; a != nil {
		lines = append(lines, fmt.Sprintf("between collections the whole program took about %s a second as allocation buffers", Bytes(int64(a.Rate()))))
	}
	return lines
}

func (p *Pauses) collections() string {
	if p.Collections == 0 {
		return "no garbage collection ended while it was recorded"
	}
	longest := "the longest "
	if p.LongestOfSeveral {
		longest = "none longer than "
	}
	line := fmt.Sprintf("%s, paused for %s in all, %s%s", Plural(p.Collections, "garbage collection", "garbage collections"), Duration(p.Time), longest, Duration(p.Longest))
	for i, c := range p.Causes[:min(len(p.Causes), mostCauses)] {
		line += map[bool]string{true: "; causes: ", false: ", "}[i == 0] + Clean(c.Cause) + " " + Count(c.Collections)
	}
	if n := p.Unseen; n > 0 && len(p.Causes) > 0 {
		line += ", not seen " + Count(n)
	}
	return line
}

// pauses writes the collections, safepoints and the allocation rate.
func (t *textWriter) pauses() {
	for _, line := range t.report.Pauses.Lines() {
		t.printf("%s\n", line)
	}
}
