package heap

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/rivulet-profiler/rivulet/controller/hprof"
)

// Options of an analysis.
type Options struct {
	// MaxMemory is how much may be resident, in bytes; at least 64 MB. 0: 512 MB.
	MaxMemory int64
	// Temp is the folder for what doesn't fit; "": the system's.
	Temp string
	// Workers is how many cores read the dump; 0: all.
	Workers int
	// Progress is told what is done and how far that is; it may be called concurrently.
	// nil: nobody is.
	Progress func(phase string, done, total int64)

	spill bool // for tests: everything goes to files, whose pages are dropped all the time
}

const (
	defaultMemory = 512 << 20
	leastMemory   = 64 << 20
	// goMemory is what the program itself takes: code, classes, buffers of the scanners.
	goMemory = 40 << 20
	// bitBytes is what sets of bits take for each object.
	bitBytes = 1
	// filePages: one part in so many is left to pages of files.
	filePages = 10
	// perObject is what an analysis takes for each object if it holds all at once.
	perObject = 60
)

func (o Options) progress(phase string, done, total int64) {
	if o.Progress != nil {
		o.Progress(phase, done, total)
	}
}

// A Heap is an analysed dump. Its methods may be called concurrently until Close.
type Heap struct {
	// Layout is how large the JVM's headers and references are taken to be.
	Layout Layout
	// Objects and Bytes are what can be reached from a root, Unreachable what can't.
	Objects, Bytes int64
	Unreachable    struct{ Objects, Bytes int64 }
	// Weak are the objects that only weak, soft, phantom or final references reach.
	// They are among Objects.
	Weak struct{ Objects, Bytes int64 }
	// Damage is why a dump could not be read to its end, nil if it was. What came
	// before it has been analysed.
	Damage error
	// Twice is how many objects have an identifier that another one has, and were left out.
	Twice int64

	f     *hprof.File
	v     *survey
	t     *classTable
	g     *graph
	pool  *pool
	roots *rootSet
	reach reach // freed when the tree has grown
	tree  tree
	texts *textFinder
	// loaders are the class loaders; 0 is the JVM's own.
	loaders []loader
	boxes   map[uint32]*boxCount
	classAt map[uint64]int64 // offsets of classes

	mu       sync.Mutex
	found    map[uint64]int64 // offsets of objects that were searched for
	searches int
}

// Open analyses a dump, which it doesn't close. It takes a second or two for each GB and
// core, then some more for the dominators. A dump that is damaged is analysed as far as
// it can be read (Damage). The error is a *hprof.FormatError if there is nothing in it,
// or wraps ErrMemory.
func Open(ctx context.Context, f *hprof.File, o Options) (*Heap, error) {
	if o.MaxMemory == 0 {
		o.MaxMemory = defaultMemory
	}
	if o.MaxMemory < leastMemory {
		return nil, fmt.Errorf("%w: at least %d MB are needed", ErrMemory, leastMemory>>20)
	}
	if o.Workers < 1 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	v, err := surveyDump(ctx, f, o)
	if err != nil {
		return nil, err
	}
	h := &Heap{f: f, v: v, classAt: v.classAt, found: map[uint64]int64{}, Damage: v.damage, Twice: v.twice}
	h.pool = newPool((o.MaxMemory-goMemory-int64(len(v.ids.sorted))*pageSize-int64(v.ids.count)*bitBytes)/filePages*(filePages-1), o.MaxMemory, o.Temp)
	if o.spill {
		h.pool.limit, h.pool.most = 0, 0
	}
	h.pool.tight = int64(v.ids.count)*perObject+f.Size/8 > h.pool.limit
	if err := h.build(ctx, o); err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

func (h *Heap) build(ctx context.Context, o Options) error {
	h.t = newClassTable(h.v)
	h.roots = newRootSet(h.v, h.t)
	g, e, err := readGraph(ctx, h.f, h.v, h.t, h.roots.bits, h.pool, o)
	if err != nil {
		return err
	}
	h.g = g
	h.boxes = e.boxes
	h.roots.addLocals(h.v, g)
	h.Layout = e.layout(h.t, h.v.idSize, h.v.ids)
	g.sizes(h.Layout, e, h.t)
	h.nameLoaders()
	// Strings are read while this core looks for dominators.
	h.texts = startTexts(ctx, h, o)
	if err := h.findReach(ctx, o); err != nil {
		return err
	}
	h.release()
	dom, err := h.dominate(ctx, o)
	if err != nil {
		return err
	}
	h.reach.hard, h.reach.simple, h.reach.core = nil, nil, nil
	h.release()
	if err := h.grow(dom); err != nil {
		return err
	}
	return h.texts.wait()
}

// findReach finds what the roots reach, and what of it is simple.
func (h *Heap) findReach(ctx context.Context, o Options) error {
	many, err := h.search(ctx, o)
	if err != nil {
		return err
	}
	return h.findSimple(ctx, many, o)
}

// release gives back what Go's heap no longer needs, where memory is tight.
func (h *Heap) release() {
	if h.pool.tight {
		debug.FreeOSMemory()
	}
}

// Close frees what the analysis holds. The dump stays open.
func (h *Heap) Close() {
	if h.texts != nil {
		_ = h.texts.wait()
	}
	h.pool.close()
}
