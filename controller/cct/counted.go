package cct

// GiveToCallers moves the self time of every node whose method counts only
// (mode counted: its probes read no clock) to the nearest node above that is
// timed, and computes the totals anew: what a counted invocation and its
// caller took can't be told apart. It changes the snapshot; a root that is
// counted keeps its time.
func (s *Snapshot) GiveToCallers(counted func(method int32) bool) {
	var timed []*Node // on the path, the nearest last
	Walk(s.Roots(), func(n *Node, depth int) bool {
		if hasTime(n, depth, counted(n.Method)) {
			timed = append(timed, n)
			return true
		}
		to := timed[len(timed)-1]
		to.Self += n.Self
		n.Self = 0
		return true
	}, func(n *Node, depth int) {
		if timed[len(timed)-1] == n {
			timed = timed[:len(timed)-1]
		}
	})
	for _, t := range s.Threads {
		computeTotals(t.Roots)
	}
}

// hasTime tells whether the time of a node's invocations is its own.
func hasTime(n *Node, depth int, counted bool) bool {
	return depth == 0 || n.Method == Unplaced || !counted
}
