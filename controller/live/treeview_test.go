package live

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest"
)

// random is a tree whose methods recur on its paths.
func random(seed uint64, size int) *cct.Snapshot {
	r := rand.New(rand.NewPCG(seed, 1))
	root := &cct.Node{Method: 1, Calls: 1, Self: 5}
	all := []*cct.Node{root}
	for len(all) < size {
		at := all[r.IntN(len(all))]
		m := int32(1 + r.IntN(8))
		taken := false
		for _, c := range at.Children {
			taken = taken || c.Method == m
		}
		if taken {
			continue
		}
		n := &cct.Node{Method: m, Calls: int64(r.IntN(100)), Thrown: int64(r.IntN(3)), Self: int64(r.IntN(1000)), Raw: 7, Uncertainty: cct.Uncertainty{Error: 3, Spread: 1}}
		at.Children = append(at.Children, n)
		all = append(all, n)
	}
	for i := len(all) - 1; i >= 0; i-- {
		all[i].Total = all[i].Self
		for _, c := range all[i].Children {
			all[i].Total += c.Total
		}
	}
	return livetest.Snapshot(root)
}

// TestWindows wants the windows of an open tree to make up the whole, each
// node after its parent, siblings in order, and every figure once.
func TestWindows(t *testing.T) {
	for seed := range uint64(5) {
		f := frameOf(newNumbering(), random(seed, 300))
		v := f.selection(&Query{})
		q := &TreeQuery{Rows: 7}
		for range 300 { // open what can be seen, until all is
			page := v.tree(&TreeQuery{Open: q.Open, Rows: maxRows})
			n := len(q.Open)
			seen := set(q.Open)
			for _, r := range page.Rows {
				if r[10] > 0 && !seen[int32(r[0])] {
					q.Open = append(q.Open, int32(r[0]))
				}
			}
			if len(q.Open) == n {
				break
			}
		}
		var rows []Row
		for {
			page := v.tree(q)
			if page.Count != 300 {
				t.Fatalf("seed %d: %d rows", seed, page.Count)
			}
			rows = append(rows, page.Rows...)
			if q.From += q.Rows; q.From >= page.Count {
				break
			}
		}
		var calls, self int64
		for i, r := range rows {
			calls, self = calls+r[4], self+r[6]
			if i > 0 && r[1] > rows[i-1][1]+1 {
				t.Errorf("seed %d, row %d: depth %d after %d", seed, i, r[1], rows[i-1][1])
			}
			if n := (selection{f: f, roots: f.merged}).find(int32(r[0])); n == nil || n.Calls != r[4] || n.Total != r[9] {
				t.Errorf("seed %d, row %d: path %d leads to %+v", seed, i, r[0], n)
			}
		}
		if calls != f.sums.Calls || self != f.sums.Self {
			t.Errorf("seed %d: calls %d of %d, self %d of %d", seed, calls, f.sums.Calls, self, f.sums.Self)
		}
	}
}

// TestIcicle wants every box within its caller's, beside its siblings, and the
// zoom to show the same below the focus.
func TestIcicle(t *testing.T) {
	for seed := range uint64(5) {
		f := frameOf(newNumbering(), random(seed, 300))
		v := f.selection(&Query{})
		page := v.icicle(&IcicleQuery{Width: maxWidth, Depth: maxDepth})
		at := map[int64]Box{}
		end := map[int64]int64{} // of what has been placed below a path
		for _, b := range page.Boxes {
			at[b[0]] = b
			if above, ok := at[b[11]]; ok {
				if b[1] != above[1]+1 || b[3] < max(end[b[11]], above[3]) || b[3]+b[4] > above[3]+above[4] {
					t.Errorf("seed %d: %v below %v", seed, b, above)
				}
			} else if b[1] != 0 {
				t.Errorf("seed %d: %v has nothing above", seed, b)
			}
			end[b[11]] = b[3] + b[4]
		}
		focus := page.Boxes[len(page.Boxes)/3]
		zoomed := v.icicle(&IcicleQuery{Focus: int32(focus[0]), Width: maxWidth, Depth: maxDepth})
		if zoomed.Total != focus[4] || zoomed.Boxes[0][0] != focus[0] || len(zoomed.Above) != int(focus[1]) {
			t.Errorf("seed %d: zoomed to %v: %+v", seed, focus, zoomed)
		}
		for _, b := range zoomed.Boxes {
			if old, ok := at[b[0]]; ok && (old[4] != b[4] || old[3]-focus[3] != b[3]) {
				t.Errorf("seed %d: %v, before the zoom %v", seed, b, old)
			}
		}
	}
}

// TestFlat compares with package cct's flat list.
func TestFlat(t *testing.T) {
	f := frameOf(newNumbering(), random(3, 500))
	want := map[string][6]int64{}
	for _, e := range cct.FlatOf(f.merged) {
		want[f.method(e.Method).Name] = [6]int64{e.Contexts, e.Calls, e.Thrown, e.Self, e.Raw, e.Total}
	}
	got := map[string][6]int64{}
	for _, e := range f.flat(flatKey{}) {
		got[e.Key] = [6]int64{e.Contexts, e.Calls, e.Thrown, e.Self, e.Raw, e.Total}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("-want +got:\n", diff)
	}
	var classes, packages int64
	for _, e := range f.flat(flatKey{group: byClass}) {
		classes += e.Self
	}
	for _, e := range f.flat(flatKey{group: byPackage}) {
		packages += e.Self
	}
	if classes != f.sums.Self || packages != f.sums.Self {
		t.Errorf("self by class %d, by package %d, in all %d", classes, packages, f.sums.Self)
	}
}

// TestAround wants a method's total to be its own time and its callees', and
// to be what its callers have of it, however it recurs.
func TestAround(t *testing.T) {
	for seed := range uint64(8) {
		f := frameOf(newNumbering(), random(seed, 400))
		for _, e := range f.flat(flatKey{}) {
			a := f.around(e.Method)
			if diff := cmp.Diff(e, a.self); diff != "" {
				t.Fatalf("seed %d, %s: -flat +around:\n%s", seed, e.Key, diff)
			}
			var callers, calls int64
			for _, c := range a.callers {
				callers, calls = callers+c.Total, calls+c.Calls
			}
			if callers != e.Total || calls != e.Calls {
				t.Errorf("seed %d, %s: callers %d of %d, calls %d of %d", seed, e.Key, callers, e.Total, calls, e.Calls)
			}
		}
	}
	// a calls itself, then b, which calls a again, which calls b.
	deep := livetest.Node(1, 1, 100, livetest.Node(1, 1, 10, livetest.Node(2, 1, 5, livetest.Node(1, 1, 3, livetest.Node(2, 1, 2)))))
	f := frameOf(newNumbering(), livetest.Snapshot(deep))
	a := f.around(f.numbers[1])
	var callees []string
	for _, c := range a.callees {
		callees = append(callees, fmt.Sprint(c.Key, " ", c.Calls, " ", c.Total))
	}
	if want := []string{"p1.C1.m1()V 1 0", "p2.C2.m2()V 2 10"}; !cmp.Equal(callees, want) {
		t.Errorf("callees %q, want %q", callees, want)
	}
}

func TestSearch(t *testing.T) {
	var all []Method
	for _, name := range []string{
		"shop.orders.OrderService.process(Lshop/Order;)V", "shop.orders.OrderService.<init>()V", "shop.process.Other.run()V",
		"shop.orders.Order.total()J", "shop.Batch.processOrders(I)V", "shop.orders.OrderService.preprocess()V",
	} {
		all = append(all, Method{Name: name, Root: true})
	}
	all = append(all, Method{Name: "shop.orders.Gate.process()V"}) // can't be a root
	for query, want := range map[string]string{
		"process": "shop.orders.OrderService.process(Lshop/Order;)V", "order process": "shop.orders.OrderService.process(Lshop/Order;)V",
		"OSp": "shop.orders.OrderService.process(Lshop/Order;)V", "run": "shop.process.Other.run()V", "TOTAL": "shop.orders.Order.total()J",
		"processOrders": "shop.Batch.processOrders(I)V", "orderservice <init>": "shop.orders.OrderService.<init>()V",
	} {
		if best, n := find(all, query, 3); n == 0 || best[0].Name != want {
			t.Errorf("%q: %d found, %v", query, n, best)
		}
	}
	if best, n := find(all, "no such thing", 3); n != 0 || len(best) != 0 {
		t.Errorf("found %v", best)
	}
	var names []string
	for _, b := range branches(all, "shop") {
		names = append(names, fmt.Sprint(b.Kind, " ", b.Name, " ", b.Count))
	}
	if want := []string{"package shop.orders 5", "package shop.process 1", "class shop.Batch 1"}; !cmp.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}
