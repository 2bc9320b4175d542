package live

import (
	"encoding/json"
	"errors"
	"fmt"
)

// A Look is what a client has on its screen; only that is sent to it.
type Look struct {
	Seq     int64        `json:"seq"`     // comes back with the answer
	Source  int64        `json:"source"`  // a snapshot's number, 0 for the live recording
	Against int64        `json:"against"` // the snapshot to compare with (the older), where Compare is set
	Thread  int          `json:"thread"`  // a thread's place, 0 for all
	Slow    int          `json:"slow"`    // place in the list of the slowest invocations plus one, 0 for none; it goes before Thread
	Fold    bool         `json:"fold"`    // put direct recursion together
	Tree    *TreeLook    `json:"tree,omitempty"`
	Icicle  *IcicleLook  `json:"icicle,omitempty"`
	Methods *MethodsLook `json:"methods,omitempty"`
	Around  *AroundLook  `json:"around,omitempty"`
	Threads bool         `json:"threads,omitempty"`
	Doubts  bool         `json:"doubts,omitempty"`
	Skipped *SkippedLook `json:"skipped,omitempty"`
	Slowest bool         `json:"slowest,omitempty"`
	Compare *CompareLook `json:"compare,omitempty"`
}

// A TreeLook is a window of the expandable table.
type TreeLook struct {
	Open []int32 `json:"open"` // paths whose children are shown
	Sort string  `json:"sort"` // "total", "self", "calls", "thrown", "error", "name"
	Up   bool    `json:"up"`   // ascending
	From int     `json:"from"` // first row
	Rows int     `json:"rows"`
	Find int32   `json:"find"` // a path whose row is wanted
}

// An IcicleLook is the flame graph's window.
type IcicleLook struct {
	Focus int32 `json:"focus"` // the path that fills the width, 0 for all roots
	Width int   `json:"width"` // pixels
	Depth int   `json:"depth"` // levels
}

// A MethodsLook is a window of the flat list.
type MethodsLook struct {
	Group  grouping `json:"group"` // "", "class", "package"
	Filter string   `json:"filter"`
	Sort   string   `json:"sort"` // as in a tree, and "contexts"
	Up     bool     `json:"up"`
	From   int      `json:"from"`
	Rows   int      `json:"rows"`
}

// A SkippedLook is a window of the methods without probes.
type SkippedLook struct {
	Filter string `json:"filter"` // words of a name
	Reason string `json:"reason"` // the short one of [Reason]; "" all
	From   int    `json:"from"`
	Rows   int    `json:"rows"`
}

// key chooses the tree that the look is at.
func (l *Look) key() treeKey {
	k := treeKey{thread: l.Thread, slow: l.Slow, fold: l.Fold}
	if k.slow > 0 {
		k.thread = 0
	}
	return k
}

// An AroundLook asks for a method's callers and callees.
type AroundLook struct {
	Method int32 `json:"method"`
}

// A CompareLook is a window of the difference tree, and of the largest
// changes by method.
type CompareLook struct {
	Open []int32 `json:"open"`
	From int     `json:"from"`
	Rows int     `json:"rows"`
	Each bool    `json:"each"` // figures per root invocation
}

// Bounds of what one look may ask for: a message stays below a megabyte.
const (
	mostOpen  = 4000
	mostRows  = 400
	mostBoxes = 4000
	mostDepth = 200
	mostWidth = 8192
	mostList  = 400 // rows of lists without a window
)

var errLook = errors.New("that view can't be shown")

// ParseLook reads a look as JSON, and cuts its windows to what one message can hold.
// Errors are for whoever has sent it: it asks for what there is not, or for too much.
func ParseLook(b []byte) (*Look, error) {
	var l Look
	if err := json.Unmarshal(b, &l); err != nil {
		return nil, fmt.Errorf("%w: %w", errLook, err)
	}
	if t := l.Tree; t != nil {
		if len(t.Open) > mostOpen {
			return nil, fmt.Errorf("%w: more than %d open nodes", errLook, mostOpen)
		}
		t.From, t.Rows = max(t.From, 0), clamp(t.Rows, mostRows)
	}
	if t := l.Icicle; t != nil {
		t.Width, t.Depth = clamp(t.Width, mostWidth), clamp(t.Depth, mostDepth)
	}
	if t := l.Methods; t != nil {
		t.From, t.Rows = max(t.From, 0), clamp(t.Rows, mostRows)
		if len(t.Filter) > 200 {
			return nil, fmt.Errorf("%w: a filter of more than 200 letters", errLook)
		}
		if t.Group != byMethod && t.Group != byClass && t.Group != byPackage {
			return nil, fmt.Errorf("%w: group %q; there are class and package", errLook, t.Group)
		}
	}
	if t := l.Compare; t != nil {
		if len(t.Open) > mostOpen {
			return nil, fmt.Errorf("%w: more than %d open nodes", errLook, mostOpen)
		}
		t.From, t.Rows = max(t.From, 0), clamp(t.Rows, mostRows)
	}
	if t := l.Skipped; t != nil {
		t.From, t.Rows = max(t.From, 0), clamp(t.Rows, mostRows)
		if len(t.Filter) > 200 || len(t.Reason) > 1000 {
			return nil, fmt.Errorf("%w: a filter of more than 200 letters", errLook)
		}
	}
	l.Thread, l.Slow = max(l.Thread, 0), max(l.Slow, 0)
	return &l, nil
}

func clamp(n, most int) int { return min(max(n, 1), most) }
