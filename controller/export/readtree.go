package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// An entry is a node while it is read.
type entry struct {
	node    *cct.Node
	thread  jsonThread
	method  cct.Method
	sample  cct.Sample
	samples *int64 // of a report that is made of them
	ran     *int64 // where not all of the time was on a core
	async   bool
	wait    cct.Handover
	below   *struct {
		Calls  int64 `json:"calls"`
		Thrown int64 `json:"thrown"`
		Self   int64 `json:"self_ns"`

		Samples int64 `json:"samples"`
	}
	lines  [][2]int64
	states map[string]int64
	allocs []jsonAlloc
	heap   []jsonHeap
	loads  []jsonLoad
	waits  []jsonWait

	estimates *jsonEstimates
	parts     *jsonParts
}

// trees reads a list of trees.
func (in *reader) trees() error {
	if err := in.open('['); err != nil {
		return err
	}
	return in.walk(nil)
}

// tree reads a tree that stands alone, and returns it with its thread.
func (in *reader) tree() (*cct.Node, jsonThread, error) {
	if err := in.open('{'); err != nil {
		return nil, jsonThread{}, err
	}
	n := len(in.roots)
	if err := in.walk([]entry{{node: in.cutNode()}}); err != nil {
		return nil, jsonThread{}, err
	}
	root, thread := in.roots[n], in.threads[n]
	in.roots, in.threads = in.roots[:n], in.threads[:n]
	return root, thread, nil
}

// walk reads trees without recursion. path is what is being read, from the root
// down: nothing, where a list of trees has begun, or one that stands alone.
func (in *reader) walk(path []entry) error {
	alone := len(path) > 0
	for begun := alone; ; begun = false {
		more := false
		var err error
		if !begun {
			if more, err = in.more(); err != nil {
				return err
			}
		}
		switch {
		case begun:
		case more:
			if len(path) >= mostLevels {
				return fmt.Errorf("more than %d levels", mostLevels)
			}
			if err := in.open('{'); err != nil {
				return err
			}
			path = append(path, entry{node: in.cutNode()})
		default: // the end of a list of children, or of all
			if err := in.close(']'); err != nil || len(path) == 0 {
				return err
			}
		}
		// Go on with the innermost node, up to its list of children or to its end.
		last := len(path) - 1
		list, err := in.entry(&path[last])
		if err != nil {
			return err
		}
		if !list {
			if err := in.finish(&path[last], path[:last]); err != nil {
				return err
			}
			path = path[:last]
			if alone && last == 0 {
				return nil
			}
		}
	}
}

// entry reads fields of a node; true where its list of children begins.
func (in *reader) entry(e *entry) (list bool, err error) {
	for {
		if in.usual(e.node) {
			continue
		}
		more, err := in.more()
		if err != nil {
			return false, err
		}
		if !more {
			return false, in.close('}')
		}
		key, err := in.key()
		if err != nil {
			return false, err
		}
		if key == "children" {
			return true, in.open('[')
		}
		to := in.countField(e.node, key)
		if to == nil {
			to = e.field(key)
		}
		if err := in.value(to); err != nil {
			return false, fmt.Errorf("%s: %w", key, err)
		}
	}
}

// The fields that each node has, after a comma, as Rivulet writes them.
var (
	callsField  = []byte(`,"calls":`)
	thrownField = []byte(`,"thrown":`)
	selfField   = []byte(`,"self_ns":`)
	totalField  = []byte(`,"total_ns":`)
)

// usual reads one of the fields that each node has, if it follows as it is usually written; otherwise nothing is read.
func (in *reader) usual(n *cct.Node) bool {
	rest := in.window[in.place:]
	if !in.after || len(rest) < 8 || rest[0] != ',' || rest[1] != '"' {
		return false
	}
	var name []byte
	var to *int64
	switch rest[2] {
	case 'c':
		name, to = callsField, &n.Calls
	case 's':
		name, to = selfField, &n.Self
	case 't':
		if name, to = thrownField, &n.Thrown; rest[3] == 'o' {
			name, to = totalField, &n.Total
		}
	}
	if to == nil || !bytes.HasPrefix(rest, name) {
		return false
	}
	in.place += len(name)
	v, ok := in.short()
	if !ok {
		in.place -= len(name)
		return false
	}
	*to = v
	return true
}

// field is where a field's value goes.
func (e *entry) field(key string) any {
	n := e.node
	switch key {
	case "method":
		return &e.method.Name
	case "loader":
		return &e.method.Loader
	case "thread":
		return &e.thread.Name
	case "thread_id":
		return &e.thread.ID
	case "virtual":
		return &e.thread.Virtual
	case "shared":
		return &e.thread.Shared
	case "calls":
		return &n.Calls
	case "thrown":
		return &n.Thrown
	case "self_ns":
		return &n.Self
	case "total_ns":
		return &n.Total // computed anew
	case "measured_ns":
		return &n.Raw
	case "error_ns":
		return &n.Error
	case "spread_ns":
		return &n.Spread
	case "incomplete":
		return &n.Incomplete
	case "folded":
		return &n.Folded
	case "async":
		return &e.async
	case "waited_ns":
		return &e.wait.Waited
	case "longest_wait_ns":
		return &e.wait.Longest
	case "hidden":
		return &e.method.Hidden
	case "cpu_samples":
		return &e.sample.Count
	case "cpu_ran_ns":
		return &e.sample.Ran
	case "cpu_wall_ns":
		return &e.sample.Wall
	case "self_samples":
		return &e.samples
	case "entries":
		return &n.Calls
	case "entries_unsure":
		return &e.sample.Unsure
	case "ran_ns":
		return &e.ran
	case "lines":
		return &e.lines
	case "allocations":
		return &e.allocs
	case "heap_samples":
		return &e.heap
	case "class_loads":
		return &e.loads
	case "lock_waits":
		return &e.waits
	case "states":
		return &e.states
	case "below":
		return &e.below
	case "estimates":
		return &e.estimates
	case "processes":
		return &e.parts
	}
	return new(json.RawMessage)
}

// named is the number of a method that a tree or a path names.
func (in *reader) named(m cct.Method) int32 {
	if m.Loader == "" { // the name alone says which it is
		if id, ok := in.byName[m.Name]; ok && id >= 0 {
			return id
		}
	}
	return in.method(m)
}

// finish puts a node that was read to its place.
func (in *reader) finish(e *entry, path []entry) error {
	n := e.node
	if e.method.Name == "" {
		return errors.New("a node without a method")
	}
	n.Method = in.named(e.method)
	if err := in.allocated(n, e.allocs); err != nil {
		return err
	}
	readHeap(n, e.heap)
	if err := loadedOf(n, e.loads); err != nil {
		return err
	}
	readWaits(n, e.waits)
	e.parts.read(n)
	if k := e.samples; k != nil {
		e.sample.Count, e.sample.Wall, e.sample.Ran, e.sample.Lines = *k, n.Self, n.Self, readLines(e.lines)
		e.sample.States = readStates(e.states)
		if e.ran != nil {
			e.sample.Ran = *e.ran
		}
		n.Error = e.sample.Error()
	}
	if e.estimates != nil {
		e.estimates.read(n, &e.sample)
	}
	if e.sample.Count > 0 || e.sample.Unsure > 0 {
		s := e.sample
		n.Details().Sample = &s
	}
	if e.async {
		w := e.wait
		n.Details().Async = &w
	}
	if b := e.below; b != nil {
		in.cut = true
		rest := in.cutNode()
		rest.Method, rest.Calls, rest.Thrown, rest.Self, rest.Raw = in.method(cct.Method{Name: leftOut}), b.Calls, b.Thrown, b.Self, b.Self
		if b.Samples > 0 {
			rest.Details().Sample = &cct.Sample{Count: b.Samples, Ran: b.Self, Wall: b.Self}
		}
		n.Children = append(n.Children, rest)
	}
	if len(path) == 0 {
		in.roots, in.threads = append(in.roots, n), append(in.threads, e.thread)
		return nil
	}
	above := path[len(path)-1].node
	above.Children = append(above.Children, n)
	return nil
}

func (in *reader) cutNode() *cct.Node {
	if len(in.nodes) == 0 {
		in.nodes = make([]cct.Node, 1024)
	}
	n := &in.nodes[0]
	in.nodes = in.nodes[1:]
	return n
}
