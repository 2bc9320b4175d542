package live

import (
	"slices"
	"sync"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// A Numbering gives numbers to methods, to paths and to threads. The numbers are the
// same in every frame of every recording, so a viewer can speak of a node that it saw a
// minute ago, in this tree or in another. Methods, paths and threads get a number when
// they are first shown. Number 0 is no method, no path and no thread.
//
// A Numbering is safe for concurrent use. It only grows, for as long as its [Live] is
// in use.
type Numbering struct {
	mu            sync.Mutex
	methods       []cct.Method // by number
	methodNumbers map[cct.MethodKey]int32
	paths         []pathKey // by number
	pathNumbers   map[pathKey]int32
	threads       map[threadKey]int
}

// A threadKey tells the threads of all recordings apart. A record that several threads
// had in turn belongs to none of them, whichever had it last: it is told from its like
// by its place in the frame.
type threadKey struct {
	pid    int
	shared bool  // several threads had the record in turn
	id     int64 // 0 if shared
	nth    int   // of the keys in a frame that are equal otherwise
}

// A pathKey is a path: an edge at the end of another path. An edge is the number of a
// method that is called or, negated, of a method that is executed as a task. Both can lie
// below the same node.
type pathKey struct {
	above int32 // number of the other path, 0 for a root
	edge  int32
}

// methodOf is the method of an edge.
func methodOf(edge int32) int32 { return max(edge, -edge) }

// maxPaths bounds the paths that have numbers. A path beyond it is shown, but can't be
// opened.
const maxPaths = 1 << 21

func newNumbering() *Numbering {
	return &Numbering{
		methods: make([]cct.Method, 1), methodNumbers: map[cct.MethodKey]int32{},
		paths: make([]pathKey, 1), pathNumbers: map[pathKey]int32{}, threads: map[threadKey]int{},
	}
}

// threadNumbers are the numbers of a frame's threads, in the same order.
func (b *Numbering) threadNumbers(pid int, threads []*cct.Thread) []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]int, len(threads))
	seen := map[threadKey]int{}
	for i, t := range threads {
		k := threadKey{pid: pid, shared: t.Virtual || t.Shared, id: t.ID}
		if k.shared {
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

// addMethod is the number of a method, which gets one if it has none.
func (b *Numbering) addMethod(m cct.Method) int32 {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, ok := b.methodNumbers[m.Key()]
	if !ok {
		n = int32(len(b.methods))
		b.methods = append(b.methods, m)
		b.methodNumbers[m.Key()] = n
	}
	return n
}

// method is the method of a number, the zero Method if there is none. Whatever is known
// of it besides its key is as of the first recording that had it.
func (b *Numbering) method(n int32) cct.Method {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n < 0 || int(n) >= len(b.methods) {
		return cct.Method{}
	}
	return b.methods[n]
}

// addPath is the number of a path, which gets one if it has none; 0 if there are
// [maxPaths] already.
func (b *Numbering) addPath(above, edge int32) int32 {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := pathKey{above, edge}
	n, ok := b.pathNumbers[k]
	if !ok {
		if len(b.paths) >= maxPaths {
			return 0
		}
		n = int32(len(b.paths))
		b.paths = append(b.paths, k)
		b.pathNumbers[k] = n
	}
	return n
}

// findPath is the number of a path, 0 if it has none.
func (b *Numbering) findPath(above, edge int32) int32 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pathNumbers[pathKey{above, edge}]
}

// edges are the edges of a path from the root on; nil if no path has this number.
func (b *Numbering) edges(path int32) []int32 {
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
