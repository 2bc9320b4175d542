package session_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/metric"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestContention compares waits for locks, by context, with the program's own account.
func TestContention(t *testing.T) {
	t.Parallel()
	const n = 5
	dir := sources(t, "Contended")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, "Contended", nil)
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.Contended.root"}, Count: []string{metric.CountContention}})
		ask(t, p, "free", "FREE ")
		p.Send(fmt.Sprint("go ", n))
		var took, held int64
		if _, err := fmt.Sscanf(p.WaitLine("WAITED "), "WAITED %d %d", &took, &held); err != nil {
			t.Fatal(err)
		}
		r := closed(t, s)
		got := map[string]int64{}
		var blocked int64
		for _, w := range cct.WaitsOf(r.Tree.Roots()) {
			got[fmt.Sprint(short(r, w.Method), " ", w.Lock, " ", w.Via)] = w.Count
			blocked += w.Took
		}
		// A thread may park more than once for a lock of java.util.concurrent.
		parked := "Contended.reentrant java.util.concurrent.locks.ReentrantLock$NonfairSync "
		if got[parked] >= n {
			got[parked] = n
		}
		want := map[string]int64{
			"Contended.monitor java.lang.Object ": n,
			"Contended.table java.util.Hashtable java.util.Hashtable.get(Ljava/lang/Object;)Ljava/lang/Object;": n,
			parked: n,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("waits, -want +got:\n%s\n%v", diff, r.Notes)
		}
		t.Logf("blocked for %d ns, the program's calls took %d, its locks were held for %d", blocked, took, held)
		if blocked > took || blocked < held {
			t.Errorf("blocked for %d ns, the program's calls took %d, its locks were held for %d", blocked, took, held)
		}
		root := r.Tree.Roots()[0].Counts
		if i := root.Table.Index(metric.LockTime.Name); root.Total[i] != blocked || root.Own[i] != 0 {
			t.Errorf("the root has %d ns, %d of its own", root.Total[i], root.Own[i])
		}
		if c := r.Contention; c == nil || c.Inside < 3*n || c.Unplaced != 0 {
			t.Errorf("%+v", c)
		}
		gone(t, p.PID(), patient)
	}, 8, 11, 17, 21, 25)
}
