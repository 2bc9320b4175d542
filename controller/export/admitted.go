package export

// A jsonAdmitted says how many root invocations were recorded, of how many.
type jsonAdmitted struct {
	Invocations int64 `json:"root_invocations"`
	Of          int64 `json:"of"`
}

// admitted says in a text report that not all root invocations were recorded.
func (t *textWriter) admitted() {
	if seen := t.report.Seen; seen > t.invocations {
		t.printf("recorded %s of %s root calls (%.3g %%), chosen at random: all figures are of these\n",
			Count(t.invocations), Count(seen), 100*float64(t.invocations)/float64(max(seen, 1)))
	}
}

// mergeSeen adds up the root invocations of several reports; 0 where each was recorded
// in all of them.
func mergeSeen(reports []*Report) (seen int64) {
	some := false
	for _, r := range reports {
		some = some || r.Seen > 0
		if r.Seen > 0 {
			seen += r.Seen
		} else {
			seen += r.figures().invocations
		}
	}
	if !some {
		return 0
	}
	return seen
}
