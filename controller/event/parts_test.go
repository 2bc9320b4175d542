package event_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/event"
)

// TestParts puts the executions of tasks to the slowest root invocation that
// handed them over, whichever stream is read first: from a thread of a pool,
// from one that helps in the middle of another's root invocation, and one that a
// task hands over in its turn.
func TestParts(t *testing.T) {
	const (
		roots = `thread 1
			root 1000
			enter 1 +0
			enter 2 +10
			submit 10
			exit 2 +1
			submit 12
			exit 1 +500`
		pool = `thread 2
			root 1100
			belong 10
			execute 6558720
			enter 5 +0
			enter 6 +7
			submit 14
			exit 6 +1
			exit 5 +2`
		helper = `thread 3
			root 1200
			enter 9 +0
			belong 14
			execute 6559744
			enter 5 +0
			exit 5 +3
			exit 9 +1
			root 1300
			belong 12
			execute 6560768
			enter 5 +0
			exit 5 +4`
	)
	const want = "1 1 510/ 2 1 1/  ~5 1 9 wait 90/   6 1 1/    ~5 1 3 wait 93/ ~5 1 4 wait 289/"
	for _, order := range [][]string{{roots, pool, helper}, {helper, pool, roots}, {pool, roots, helper}} {
		b := event.NewBuilder()
		b.Slowest = event.NewSlowest(1, 0)
		for i, text := range order {
			words, err := event.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			b.Take(i, words)
		}
		kept, of := b.SlowestSoFar()
		if len(kept) != 1 || of != 2 {
			t.Fatalf("%d kept of %d, want 1 of 2", len(kept), of)
		}
		got := drawTree(kept[0].Tree)
		if got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		if bad := b.Bad(); bad != 0 {
			t.Errorf("%d bad words", bad)
		}
	}
}

// TestPartsUnderWay has executions that have not ended, one in another's: they are there
// as far as they got, and once they have ended.
func TestPartsUnderWay(t *testing.T) {
	b := event.NewBuilder()
	b.Slowest = event.NewSlowest(1, 0)
	for _, step := range []struct{ stream, want string }{
		{"1:thread 1\nroot 1000\nenter 1 +0\nenter 2 +10\nsubmit 10\nexit 2 +1\nsubmit 12\nexit 1 +500", "1 1 510/ 2 1 1/"},
		{"2:thread 2\nroot 1100\nbelong 10\nexecute 6558720\nenter 5 +0\nenter 6 +7\nsubmit 14\nexit 6 +1", "1 1 510/ 2 1 1/  ~5 1 7 wait 90/   6 1 1/"},
		{"2:belong 12\nexecute 6560768\nenter 8 +3\nenter 9 +1", "1 1 510/ 2 1 1/  ~5 1 7 wait 90/   6 1 1/ ~8 1 4 wait 97/  9 1 0/"},
		{"3:thread 3\nroot 1200\nbelong 14\nexecute 6559744\nenter 7 +0", "1 1 510/ 2 1 1/  ~5 1 7 wait 90/   6 1 1/    ~7 1 0 wait 93/ ~8 1 4 wait 97/  9 1 0/"},
		{"3:exit 7 +5", "1 1 510/ 2 1 1/  ~5 1 7 wait 90/   6 1 1/    ~7 1 5 wait 93/ ~8 1 4 wait 97/  9 1 0/"},
		{"2:exit 9 +2\nexit 8 +1\nexit 5 +1", "1 1 510/ 2 1 1/  ~5 1 8 wait 90/   6 1 1/    ~7 1 5 wait 93/ ~8 1 5 wait 97/  9 1 2/"},
	} {
		taken(t, b, step.stream)
		for range 2 { // asking changes nothing
			kept, _ := b.SlowestSoFar()
			if got := drawTree(kept[0].Tree); got != step.want {
				t.Errorf("%s\nwant %s", got, step.want)
			}
		}
	}
	if bad := b.Bad(); bad != 0 {
		t.Errorf("%d bad words", bad)
	}
}

// drawTree is a tree in one line: a node's method, calls and time, "~" before one that
// was handed over.
func drawTree(tree *cct.Node) string {
	var got strings.Builder
	for n, depth := range cct.All([]*cct.Node{tree}) {
		got.WriteString(strings.Repeat(" ", depth))
		if n.Async() != nil {
			got.WriteString("~")
		}
		fmt.Fprintf(&got, "%d %d %d", n.Method, n.Calls, n.Self)
		if n.Async() != nil {
			fmt.Fprintf(&got, " wait %d", n.Async().Waited)
		}
		got.WriteString("/")
	}
	return got.String()
}

// TestHostileTasks reads numbers that make no sense: a task that hands itself
// over, and one that ends what never began.
func TestHostileTasks(t *testing.T) {
	words, err := event.Parse(`thread 1
		root 10
		execute 6558720
		belong 4
		execute 6558720
		enter 5 +0
		submit 4
		exit 5 +1
		exit 7 +1
		enter 1 +1
		exit 1 +1
		execute -64
		root 20`)
	if err != nil {
		t.Fatal(err)
	}
	b := event.NewBuilder()
	b.Slowest = event.NewSlowest(3, 0)
	for range 3 {
		b.Take(0, words)
	}
	b.SlowestSoFar()
	if b.Bad() == 0 {
		t.Error("nothing was found to be bad")
	}
}
