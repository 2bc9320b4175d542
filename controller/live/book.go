package live

import (
	"slices"
	"sync"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// A Book gives numbers to methods, to paths and to threads, the same ones in every
// frame of every recording: so a client may speak of a node that it saw a minute
// ago, in this tree or another. Only what has been shown has a number. Number
// 0 is no method, no path and no thread.
type Book struct {
	mu      sync.Mutex
	methods []cct.Method
	method  map[cct.MethodKey]int32
	paths   []step
	path    map[step]int32
	threads map[threadKey]int
}

// A threadKey tells threads of all recordings apart. A record that several threads
// had in turn is nobody's, whoever had it last: it goes by its place among its like.
type threadKey struct {
	pid   int
	turns bool
	id    int64 // 0 with turns
	nth   int   // of those in a frame that are alike otherwise
}

// A step is the last step of a path: an edge at the end of another path, 0 for
// a root. An edge is a method that is called, or below zero one that is executed
// as a task: both may lie below the same node.
type step struct{ above, edge int32 }

// methodOf is an edge's method.
func methodOf(edge int32) int32 { return max(edge, -edge) }

// mostPaths bounds the book; beyond it new paths can be seen, not opened.
const mostPaths = 1 << 21

func newBook() *Book {
	return &Book{
		methods: make([]cct.Method, 1), method: map[cct.MethodKey]int32{},
		paths: make([]step, 1), path: map[step]int32{}, threads: map[threadKey]int{},
	}
}

// threadNumbers are those of a frame's threads.
func (b *Book) threadNumbers(pid int, threads []*cct.Thread) []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]int, len(threads))
	seen := map[threadKey]int{}
	for i, t := range threads {
		k := threadKey{pid: pid, turns: t.Virtual || t.Shared, id: t.ID}
		if k.turns {
			k.id = 0
		}
		seen[k]++
		k.nth = seen[k]
		n, ok := b.threads[k]
		if !ok {
			n = len(b.threads) + 1
			b.threads[k] = n
		}
		out[i] = n
	}
	return out
}

// number is a method's.
func (b *Book) number(m cct.Method) int32 {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, ok := b.method[m.Key()]
	if !ok {
		n = int32(len(b.methods))
		b.methods = append(b.methods, m)
		b.method[m.Key()] = n
	}
	return n
}

// name is the method of a number, the zero Method if there is none. What is known of
// it besides its key, is as of the first recording that had it.
func (b *Book) name(n int32) cct.Method {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n < 0 || int(n) >= len(b.methods) {
		return cct.Method{}
	}
	return b.methods[n]
}

// enter is the number of a path; 0 if the book is full.
func (b *Book) enter(above, edge int32) int32 {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := step{above, edge}
	n, ok := b.path[s]
	if !ok {
		if len(b.paths) >= mostPaths {
			return 0
		}
		n = int32(len(b.paths))
		b.paths = append(b.paths, s)
		b.path[s] = n
	}
	return n
}

// at is the number of a path, 0 if it has none.
func (b *Book) at(above, edge int32) int32 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.path[step{above, edge}]
}

// steps are the edges of a path, from the root on; nil if there is none of
// that number.
func (b *Book) steps(path int32) []int32 {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []int32
	for path > 0 && int(path) < len(b.paths) {
		out = append(out, b.paths[path].edge)
		path = b.paths[path].above
	}
	slices.Reverse(out)
	return out
}
