package pcct

import (
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// mostLogged bounds the entries of a log, 40 bytes each. Where there are more, steps become
// twice as long.
const mostLogged = 1 << 18

// A log says in which context each sample was, by time: a tree of samples of a range of time
// can be made of it. The zero log is empty.
type log struct {
	list  []logEntry
	begin int64 // CLOCK_MONOTONIC ns, where the first step begins
	until int64 // ns after begin, of the last sample
	step  int64 // ns
}

type logEntry struct {
	at, count int32 // number of the step, samples
	node      *node
	wall, ran int64 // ns
}

// add notes a sample. One of before the first that came counts to the first step.
func (l *log) add(n *node, s *stack.Stack) {
	if l.list == nil {
		l.begin, l.step = s.Time, int64(10*time.Millisecond)
	}
	since := max(s.Time-l.begin, 0)
	for since/l.step >= 1<<31 {
		l.halve()
	}
	l.until = max(l.until, since)
	e := logEntry{at: int32(since / l.step), count: 1, node: n, wall: s.Weight}
	if s.State == stack.Running {
		e.ran = s.Weight
	}
	l.list = put(l.list, e)
	for len(l.list) > mostLogged {
		l.halve()
	}
}

// put appends an entry, or adds it to the node's last one if that is of the same step.
func put(list []logEntry, e logEntry) []logEntry {
	n := e.node
	if k := int(n.logged); k < len(list) && list[k].node == n && list[k].at == e.at {
		list[k].count += e.count
		list[k].wall += e.wall
		list[k].ran += e.ran
		return list
	}
	n.logged = int32(len(list))
	return append(list, e)
}

// halve makes steps twice as long, until there are fewer entries or steps are a minute long:
// then the older half is forgotten.
func (l *log) halve() {
	if l.step > int64(time.Minute) && len(l.list) > mostLogged {
		l.list = append(l.list[:0], l.list[len(l.list)/2:]...)
		return
	}
	l.step *= 2
	out := l.list[:0]
	for _, e := range l.list {
		e.at /= 2
		out = put(out, e)
	}
	clear(l.list[len(out):])
	l.list = out
}

// forward gives entries of contexts that were dropped to what has their samples now.
func (l *log) forward() {
	out := l.list[:0]
	for _, e := range l.list {
		for e.node.into != nil {
			e.node = e.node.into
		}
		out = put(out, e)
	}
	clear(l.list[len(out):])
	l.list = out
}

// taken begins what a snapshot says of the log.
func (l *log) taken() *cct.Taken {
	return &cct.Taken{Step: l.step, Until: l.until + 1}
}

// steps fills in the entries, once all contexts have their places.
func (l *log) steps(t *cct.Taken) {
	t.Steps = make([]cct.TakenStep, len(l.list))
	for i, e := range l.list {
		t.Steps[i] = cct.TakenStep{At: e.at, Node: e.node.place, Count: e.count, Wall: e.wall, Ran: e.ran}
	}
}

// Counts are the samples in each piece of the time since the first one, of which there are most at the
// most, and how long a piece is, in nanoseconds.
func (t *Tree) Counts(most int) (counts []int64, piece int64) {
	l := &t.log
	if len(l.list) == 0 {
		return nil, 0
	}
	counts, piece = l.taken().Counts(most)
	for _, e := range l.list {
		counts[min(int64(e.at)*l.step/piece, int64(len(counts)-1))] += int64(e.count)
	}
	return counts, piece
}
