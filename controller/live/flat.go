package live

import (
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// A grouping says what one line of the methods view stands for.
type grouping string

const (
	byMethod  grouping = ""
	byClass   grouping = "class"
	byPackage grouping = "package"
	byType    grouping = "type" // what is allocated, see [Frame.typesOf]
)

type flatKey struct {
	tree  treeKey
	group grouping
}

// A flat is a line: a method, class or package over all the paths to it.
type flat struct {
	Key      string // what it is called
	Method   int32  // its number, 0 for groups
	Contexts int64
	Calls    int64
	Thrown   int64
	Self     int64
	Raw      int64
	Total    int64 // only the outermost level of each path counts
	Counts   *metric.Values
	cct.Uncertainty

	Tasks   int64 // calls that are executions of tasks which were handed over
	Waited  int64 // ns, of all these, until they were executed
	Longest int64 // ns, of one
}

// add puts a node to a line, except for its total.
func (e *flat) add(n *cct.Node) {
	e.Contexts++
	e.Calls += n.Calls
	e.Thrown += n.Thrown
	e.Self += n.Self
	e.Raw += n.Raw
	e.Uncertainty = e.Uncertainty.Plus(n.Uncertainty)
	if a := n.Async(); a != nil {
		e.Tasks += n.Calls
		e.Waited += a.Waited
		e.Longest = max(e.Longest, a.Longest)
	}
}

// flat is the list of one tree, in the order of first appearance.
func (f *Frame) flat(k flatKey) []flat {
	f.mu.Lock()
	got, ok := f.flats[k]
	f.mu.Unlock()
	if ok {
		return got
	}
	if k.group == byType {
		got = f.typesOf(k.tree)
	} else {
		got = f.flatten(k)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flats[k] = got
	return got
}

func (f *Frame) flatten(k flatKey) []flat {
	var list []flat
	var open []int32
	places := map[string]int{} // of groups
	place := map[int32]int{}   // of methods
	find := func(method int32) int {
		if i, ok := place[method]; ok {
			return i
		}
		number := f.numbers[method]
		line := flat{Key: f.method(method).Name, Method: number}
		if k.group != byMethod {
			line = flat{Key: groupOf(line.Key, k.group)}
			if i, ok := places[line.Key]; ok {
				place[method] = i
				return i
			}
			places[line.Key] = len(list)
		}
		place[method] = len(list)
		list, open = append(list, line), append(open, 0)
		return len(list) - 1
	}
	cct.Walk(f.tree(k.tree), func(n *cct.Node, _ int) bool {
		if n.Method == cct.Unplaced {
			return true
		}
		i := find(n.Method)
		e := &list[i]
		e.add(n)
		e.addCounts(n.Counts, open[i] == 0)
		if open[i] == 0 {
			e.Total += n.Total
		}
		open[i]++
		return true
	}, func(n *cct.Node, _ int) {
		if n.Method != cct.Unplaced {
			open[place[n.Method]]--
		}
	})
	return list
}

// groupOf is the class or package of a method's name.
func groupOf(method string, g grouping) string {
	head, _, _ := strings.Cut(method, "(")
	class := head[:max(strings.LastIndexByte(head, '.'), 0)]
	if g == byClass {
		return class
	}
	return class[:max(strings.LastIndexByte(class, '.'), 0)]
}

// An around is a method's callers and callees over all its nodes.
type around struct {
	self             flat
	callers, callees []flat
}

// around sums up who calls a method and whom it calls. A caller's total is
// the time that the method took on its behalf; 0 stands for the outside. Calls,
// and executions of tasks that were handed over, have lines of their own.
func (f *Frame) around(number int32) *around {
	f.mu.Lock()
	got, ok := f.arounds[number]
	f.mu.Unlock()
	if ok {
		return got
	}
	got = f.lookAround(number)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.arounds[number] = got
	return got
}

func (f *Frame) lookAround(number int32) *around {
	a := &around{self: flat{Key: f.numbering.method(number).Name, Method: number}}
	id, ok := f.local[number]
	if !ok {
		return a
	}
	type key struct {
		method int32
		task   bool
	}
	type side struct {
		list []flat
		at   map[key]int
	}
	add := func(s *side, method int32, n *cct.Node, total int64) {
		k := f.numbers[method] // of -1, the outside: 0
		at := key{k, n.Async() != nil}
		i, ok := s.at[at]
		if !ok {
			i = len(s.list)
			s.at[at] = i
			s.list = append(s.list, flat{Key: f.numbering.method(k).Name, Method: k})
		}
		s.list[i].add(n)
		s.list[i].Total += total
	}
	callers, callees := side{at: map[key]int{}}, side{at: map[key]int{}}
	inside, beyond := 0, 0 // levels of the method on the path, and others below its outermost
	var above []int32
	cct.Walk(f.merged, func(n *cct.Node, _ int) bool {
		if n.Method == id {
			caller, t := int32(-1), int64(0)
			if len(above) > 0 {
				caller = above[len(above)-1]
			}
			if inside == 0 {
				t = n.Total
				a.self.Total += t
			}
			add(&callers, caller, n, t)
			a.self.add(n)
			for _, c := range n.Children {
				t := c.Total
				if c.Method == id || beyond > 0 { // part of another callee's, or of its own
					t = 0
				}
				add(&callees, c.Method, c, t)
			}
			inside++
		} else if inside > 0 {
			beyond++
		}
		above = append(above, n.Method)
		return true
	}, func(n *cct.Node, _ int) {
		above = above[:len(above)-1]
		if n.Method == id {
			inside--
		} else if inside > 0 {
			beyond--
		}
	})
	a.callers, a.callees = callers.list, callees.list
	return a
}
