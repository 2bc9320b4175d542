package watch

import (
	"fmt"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/sampler/pcct"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

const (
	slotTime  = int64(time.Second)
	baseTime  = 10 * time.Minute // with what a factor compares, before the rule's own time
	leastBase = time.Minute      // of it, at least
	fewest    = 20               // samples that say something

	mostMatched = 1 << 16 // methods that are told apart; of more, it begins anew
)

// shares counts samples by methods, for one rule.
type shares struct {
	rule    *Rule
	matched map[*stack.Method]int32 // number of each method; -1 if the pattern doesn't name it
	byName  map[string]int32
	names   []string
	stamp   []int64 // of each, the sample that met it last
	sample  int64

	slots  []slot // the oldest first
	now    sums   // of the rule's time
	before sums   // of the time before
	split  int    // slots[split:] are now
}

// A slot is a second of samples.
type slot struct {
	at  int64 // its begin, CLOCK_MONOTONIC ns
	all int64
	of  []count
}

type count struct {
	method int32
	n      int32
}

// sums are samples over several slots.
type sums struct {
	all int64
	of  map[int32]int64
}

func (s *sums) add(t *slot, sign int64) {
	s.all += sign * t.all
	for _, c := range t.of {
		if s.of[c.method] += sign * int64(c.n); s.of[c.method] == 0 {
			delete(s.of, c.method)
		}
	}
}

func newShares(r *Rule) *shares {
	s := &shares{rule: r}
	s.forget()
	return s
}

func (s *shares) forget() {
	*s = shares{
		rule: s.rule, matched: map[*stack.Method]int32{}, byName: map[string]int32{}, sample: s.sample,
		now: sums{of: map[int32]int64{}}, before: sums{of: map[int32]int64{}},
	}
}

// number is that of a method, if the rule is about it.
func (s *shares) number(m *stack.Method) (int32, bool) {
	if m == nil || m.Class == "" {
		return 0, false
	}
	id, known := s.matched[m]
	if !known {
		if len(s.matched) >= mostMatched {
			s.forget()
		}
		class, name := strings.ReplaceAll(pcct.ClassName(m.Class), "/", "."), ""
		if id = -1; s.rule.pattern.Method(class, m.Name, m.Desc) {
			name = class + "." + m.Name
			var old bool
			if id, old = s.byName[name]; !old {
				id = int32(len(s.names))
				s.byName[name] = id
				s.names, s.stamp = append(s.names, name), append(s.stamp, 0)
			}
		}
		s.matched[m] = id
	}
	return id, id >= 0
}

// add counts a sample for each method on its stack, once.
func (s *shares) add(k *stack.Stack) {
	s.advance(k.Time)
	s.sample++
	t := &s.slots[len(s.slots)-1]
	t.all++
	s.now.all++
	for i := range k.Frames {
		id, ok := s.number(k.Frames[i].Method)
		if len(s.slots) == 0 { // all was forgotten
			s.advance(k.Time)
		}
		if t = &s.slots[len(s.slots)-1]; !ok || s.stamp[id] == s.sample {
			continue
		}
		s.stamp[id] = s.sample
		s.now.of[id]++
		found := false
		for j := range t.of {
			if t.of[j].method == id {
				t.of[j].n++
				found = true
				break
			}
		}
		if !found {
			t.of = append(t.of, count{id, 1})
		}
	}
}

// advance makes the slot of a moment, and moves old ones out.
func (s *shares) advance(now int64) {
	at := now - now%slotTime
	if n := len(s.slots); n == 0 || s.slots[n-1].at < at {
		s.slots = append(s.slots, slot{at: at})
	}
	for s.split < len(s.slots)-1 && s.slots[s.split].at <= at-int64(s.rule.For) {
		s.now.add(&s.slots[s.split], -1)
		s.before.add(&s.slots[s.split], 1)
		s.split++
	}
	for len(s.slots) > 0 && s.split > 0 && s.slots[0].at < at-int64(s.rule.For)-int64(baseTime) {
		s.before.add(&s.slots[0], -1)
		s.slots = s.slots[1:]
		s.split--
	}
}

// judge is the method with the largest excess, and what was found of it; "" if none has any.
func (s *shares) judge(now int64) (method, what string) {
	s.advance(now)
	first := s.slots[0].at
	if now-first < int64(s.rule.For) || s.rule.Times && now-first < int64(s.rule.For+leastBase) {
		return "", ""
	}
	if s.now.all < fewest {
		return "", ""
	}
	best := 0.0
	for id, n := range s.now.of {
		low, _ := bounds(n, s.now.all)
		limit := s.rule.Over
		if s.rule.Times {
			if n < fewest || s.before.all < fewest {
				continue
			}
			_, high := bounds(s.before.of[id], s.before.all)
			limit *= high
		}
		if excess := low / limit; excess > 1 && (excess > best || excess == best && s.names[id] < method) {
			best, method = excess, s.names[id]
			what = fmt.Sprintf("%s was in %s of %d samples in %v", method, percent(float64(n)/float64(s.now.all)), s.now.all, s.rule.For)
			if s.rule.Times {
				what += fmt.Sprintf(", and in %s before", percent(float64(s.before.of[id])/float64(s.before.all)))
			}
		}
	}
	return method, what
}
