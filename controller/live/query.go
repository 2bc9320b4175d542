package live

import (
	"encoding/json"
	"errors"
	"fmt"
)

// A Query says what one viewer has on its screen; only that is computed. JSON names are those
// of the WebSocket's messages (docs/formats-web.md).
type Query struct {
	Seq         int64         `json:"seq"`                  // comes back with the answer
	Source      int64         `json:"source"`               // a snapshot's number, 0 for the live recording
	Against     int64         `json:"against"`              // the snapshot to compare with (the older), where Compare is set
	Thread      int           `json:"thread"`               // a thread's place, 0 for all
	Slow        int           `json:"slow"`                 // place in the list of the slowest invocations plus one, 0 for none; it goes before Thread
	Fold        bool          `json:"fold"`                 // put direct recursion together
	Frameworks  bool          `json:"frameworks,omitempty"` // fold levels of frameworks that lead to the application
	Unfold      []int32       `json:"unfold,omitempty"`     // paths of folds that are open
	Tree        *TreeQuery    `json:"tree,omitempty"`
	Icicle      *IcicleQuery  `json:"icicle,omitempty"`
	Methods     *MethodsQuery `json:"methods,omitempty"`
	Around      *AroundQuery  `json:"around,omitempty"`
	Threads     bool          `json:"threads,omitempty"`
	Uncertainty bool          `json:"doubts,omitempty"`
	Skipped     *SkippedQuery `json:"skipped,omitempty"`
	Slowest     bool          `json:"slowest,omitempty"`
	Compare     *CompareQuery `json:"compare,omitempty"`
	Brief       bool          `json:"brief,omitempty"` // what is slow, in sentences
	History     bool          `json:"history,omitempty"`

	// Range is a range of time, ns from the beginning of the recording: tree, flame graph and
	// methods are of the smallest known one around it, of all threads. 0, 0 is all.
	Range [2]int64 `json:"range,omitempty"`

	app    []string // the application's packages, as of [Config]
	within span     // Range, as [Frame.snapped] gives it
}

// A TreeQuery asks for a window of the expandable table.
type TreeQuery struct {
	Open []int32 `json:"open"` // paths whose children are shown
	Sort string  `json:"sort"` // "total", "self", "calls", "thrown", "error", "name"
	Up   bool    `json:"up"`   // ascending
	From int     `json:"from"` // first row
	Rows int     `json:"rows"`
	Find int32   `json:"find"` // a path whose row is wanted
}

// An IcicleQuery asks for the part of the flame graph that fits into a window.
type IcicleQuery struct {
	Focus int32 `json:"focus"` // the path that fills the width, 0 for all roots
	Width int   `json:"width"` // pixels
	Depth int   `json:"depth"` // levels

	// Weight is what widths stand for: the field of a metric's total, such as
	// "total_bytes"; "" is time. It does not go with Inverted.
	Weight string `json:"weight,omitempty"`

	Inverted bool `json:"inverted,omitempty"` // self times on top, below each method whoever calls it
}

// A MethodsQuery asks for a window of the flat list of methods, classes, packages or types.
type MethodsQuery struct {
	Group  grouping `json:"group"` // "", "class", "package"; "type" has what is allocated, without calls and times
	Filter string   `json:"filter"`
	Sort   string   `json:"sort"` // as in a tree, and "contexts"
	Up     bool     `json:"up"`
	From   int      `json:"from"`
	Rows   int      `json:"rows"`
}

// A SkippedQuery asks for a window of the list of methods without probes.
type SkippedQuery struct {
	Filter string `json:"filter"` // words of a name
	Reason string `json:"reason"` // the short one of [Reason]; "" all
	From   int    `json:"from"`
	Rows   int    `json:"rows"`
}

// key chooses the tree that the query is about.
func (l *Query) key() treeKey {
	k := treeKey{thread: l.Thread, slow: l.Slow, fold: l.Fold, within: l.within}
	if k.slow > 0 {
		k.thread, k.within = 0, span{}
	}
	if k.within != (span{}) {
		k.thread = 0
	}
	return k
}

// An AroundQuery asks for a method's callers and callees.
type AroundQuery struct {
	Method int32 `json:"method"`
	Width  int   `json:"width,omitempty"` // pixels of its flame graphs; 0: none
}

// A CompareQuery asks for a window of the difference of two trees, and for the methods that
// differ most.
type CompareQuery struct {
	Open []int32 `json:"open"`
	From int     `json:"from"`
	Rows int     `json:"rows"`
	Each bool    `json:"each"` // figures per root call

	Flame *FlameQuery `json:"flame,omitempty"`
}

// Bounds of what one query may ask for, so that the answer stays below a megabyte.
const (
	maxOpen  = 4000
	maxRows  = 400
	maxBoxes = 4000
	maxDepth = 200
	maxWidth = 8192
	maxList  = 400 // rows of lists without a window
)

var errQuery = errors.New("that view can't be shown")

// ParseQuery reads a query from JSON, and cuts its windows so that the answer stays below a
// megabyte. The error says what can't be asked for, and is meant for whoever has sent it.
func ParseQuery(b []byte) (*Query, error) {
	var l Query
	if err := json.Unmarshal(b, &l); err != nil {
		return nil, fmt.Errorf("%w: %w", errQuery, err)
	}
	if len(l.Unfold) > maxOpen {
		return nil, fmt.Errorf("%w: more than %d open folds", errQuery, maxOpen)
	}
	if t := l.Tree; t != nil {
		if len(t.Open) > maxOpen {
			return nil, fmt.Errorf("%w: more than %d open nodes", errQuery, maxOpen)
		}
		t.From, t.Rows = max(t.From, 0), clamp(t.Rows, maxRows)
	}
	if t := l.Icicle; t != nil {
		t.Width, t.Depth = clamp(t.Width, maxWidth), clamp(t.Depth, maxDepth)
	}
	if t := l.Methods; t != nil {
		t.From, t.Rows = max(t.From, 0), clamp(t.Rows, maxRows)
		if len(t.Filter) > 200 {
			return nil, fmt.Errorf("%w: a filter of more than 200 letters", errQuery)
		}
		if t.Group != byMethod && t.Group != byClass && t.Group != byPackage && t.Group != byType {
			return nil, fmt.Errorf("%w: group %q; there are class, package and type", errQuery, t.Group)
		}
	}
	if t := l.Around; t != nil {
		t.Width = min(max(t.Width, 0), maxWidth)
	}
	if t := l.Compare; t != nil {
		if len(t.Open) > maxOpen {
			return nil, fmt.Errorf("%w: more than %d open nodes", errQuery, maxOpen)
		}
		t.From, t.Rows = max(t.From, 0), clamp(t.Rows, maxRows)
		if t.Flame != nil {
			t.Flame.Width, t.Flame.Depth = clamp(t.Flame.Width, maxWidth), clamp(t.Flame.Depth, maxDepth)
		}
	}
	if t := l.Skipped; t != nil {
		t.From, t.Rows = max(t.From, 0), clamp(t.Rows, maxRows)
		if len(t.Filter) > 200 || len(t.Reason) > 1000 {
			return nil, fmt.Errorf("%w: a filter of more than 200 letters", errQuery)
		}
	}
	l.Thread, l.Slow = max(l.Thread, 0), max(l.Slow, 0)
	return &l, nil
}

func clamp(n, most int) int { return min(max(n, 1), most) }
