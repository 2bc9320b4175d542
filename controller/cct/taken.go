package cct

import "slices"

// Taken says when samples were taken, and in which context each one was: what a tree of
// samples is made of, in the order of time as far as threads were read in that order. It
// does not change and is safe for concurrent use.
type Taken struct {
	Step    int64       // ns; samples of one step of time are put together
	Until   int64       // ns from the first step's beginning, up to when samples were taken
	Parents []int32     // of each context the caller's number, -1 at a thread's outermost one; a caller has a lower number
	Methods []int32     // of each context
	Steps   []TakenStep // what was taken
}

// A TakenStep is what one step of time has of one context.
type TakenStep struct {
	At        int32 // number of the step
	Node      int32 // number of the context
	Count     int32 // samples
	Wall, Ran int64 // ns that they stand for, and of these on a core
}

// Snap is the range of whole steps around one, ns from the beginning; 0, 0 for a range that
// is empty or all there is.
func (t *Taken) Snap(from, to int64) (int64, int64) {
	if to <= from || t.Step <= 0 {
		return 0, 0
	}
	from, to = max(from, 0)/t.Step*t.Step, (to+t.Step-1)/t.Step*t.Step
	if from >= t.Until || from == 0 && to >= t.Until {
		return 0, 0
	}
	return from, min(to, (t.Until+t.Step-1)/t.Step*t.Step)
}

// Counts are the samples in each piece of the time, of which there are most at the most;
// and how long a piece is, ns, a multiple of the step.
func (t *Taken) Counts(most int) (counts []int64, piece int64) {
	if t.Step <= 0 || t.Until <= 0 {
		return nil, 0
	}
	steps := (t.Until + t.Step - 1) / t.Step
	each := int64(1)
	for (steps+each-1)/each > int64(most) {
		each *= 2
	}
	counts = make([]int64, (steps+each-1)/each)
	for i := range t.Steps {
		s := &t.Steps[i]
		counts[min(int64(s.At)/each, int64(len(counts)-1))] += int64(s.Count)
	}
	return counts, each * t.Step
}

// Within are the trees of the samples of a range, ns from the beginning, which [Taken.Snap]
// gave; those of several threads are not put together. How often a method was entered in a
// range is not known: Calls are 0.
func (t *Taken) Within(from, to int64) []*Node {
	own := make([]Sample, len(t.Methods))
	for i := range t.Steps {
		s := &t.Steps[i]
		if at := int64(s.At) * t.Step; at < from || at >= to {
			continue
		}
		o := &own[s.Node]
		o.Count, o.Wall, o.Ran = o.Count+int64(s.Count), o.Wall+s.Wall, o.Ran+s.Ran
	}
	used := make([]bool, len(own))
	for i := len(own) - 1; i >= 0; i-- {
		if used[i] = used[i] || own[i].Count > 0; used[i] && t.Parents[i] >= 0 {
			used[t.Parents[i]] = true
		}
	}
	nodes := make([]*Node, len(own))
	var roots []*Node
	for i := range own {
		if !used[i] {
			continue
		}
		n := &Node{Method: t.Methods[i], Self: own[i].Wall}
		if own[i].Count > 0 {
			s := own[i]
			n.Details().Sample, n.Error = &s, s.Error()
		}
		nodes[i] = n
		if up := t.Parents[i]; up >= 0 {
			nodes[up].Children = append(nodes[up].Children, n)
		} else {
			roots = append(roots, n)
		}
	}
	Totals(roots)
	return slices.Clip(roots)
}
