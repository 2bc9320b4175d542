package live

import (
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest"
)

// TestNoRoom looks at a recording whose room was full: what lies below the
// node for calls without contexts counts, and that node is no method.
func TestNoRoom(t *testing.T) {
	f := frameOf(newNumbering(), livetest.Snapshot(&cct.Node{Method: 1, Calls: 1, Self: 5, Total: 5},
		&cct.Node{Method: cct.Unplaced, Total: 7, Children: []*cct.Node{{Method: 2, Calls: 9, Self: 7, Total: 7}}}))
	if f.sums.Calls != 10 || f.called() != 2 {
		t.Errorf("%d calls, %d methods called", f.sums.Calls, f.called())
	}
	if n := len(f.flat(flatKey{})); n != 2 {
		t.Errorf("%d methods in the list", n)
	}
	rows := f.selection(&Query{}).tree(&TreeQuery{Rows: 10}).Rows
	names := ""
	for _, r := range rows {
		names += f.numbering.method(int32(r[2])).Name + "\n"
	}
	if len(rows) != 2 || !strings.Contains(names, "no room") {
		t.Errorf("rows %v, named %q", rows, names)
	}
}
