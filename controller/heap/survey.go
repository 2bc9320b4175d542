package heap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/hprof"
)

// A root is a root of garbage collection as the dump has it.
type root struct {
	id     uint64
	kind   hprof.RootKind
	thread uint32 // serial number
	depth  int32
}

// A thread is a thread of the dump.
type thread struct {
	object uint64
	trace  uint32
}

// A frame is a line of a thread's stack.
type frame struct {
	method, source uint64
	line           int32
	class          uint32
}

// names keeps the texts of a dump in one piece.
type names struct {
	at  map[uint64]nameAt
	all []byte
}

type nameAt struct{ start, end uint32 }

func (n *names) text(a nameAt) string { return string(n.all[a.start:a.end]) }

// A survey is what the first pass over a dump finds.
type survey struct {
	idSize  int
	names   names
	loaded  map[uint64]uint64 // class to its name's identifier
	serials map[uint32]uint64 // a loaded class's serial number to the class
	classes []*hprof.Class
	classAt map[uint64]int64 // offset in the dump
	roots   []root
	threads map[uint32]thread // by serial number
	frames  map[uint64]frame
	traces  map[uint32][]uint64
	ids     *idSet
	marks   []hprof.Mark
	// What the JDK's own class loaders are, and their classes.
	builtinClasses []uint64
	builtin        map[uint64]bool
	unordered      int64 // objects with a lower address than the one before
	twice          int64 // objects with an identifier that another one has
	damage         error
	end            int64 // how far the dump is readable
}

// builtinLoaders never go away, nor do their classes.
var builtinLoaders = map[string]bool{
	"jdk/internal/loader/ClassLoaders$AppClassLoader":      true,
	"jdk/internal/loader/ClassLoaders$PlatformClassLoader": true,
	"jdk/internal/loader/ClassLoaders$BootClassLoader":     true,
	"sun/misc/Launcher$AppClassLoader":                     true,
	"sun/misc/Launcher$ExtClassLoader":                     true,
}

const (
	// chunk is how many bytes of a dump one core takes at a time in the second pass.
	chunk = 8 << 20
	// maxNames is how much text of symbols is kept; a JVM with 100,000 classes has 60 MB.
	maxNames = 1 << 30
)

func (v *survey) name(id uint64) string {
	if a, ok := v.names.at[id]; ok {
		return v.names.text(a)
	}
	return ""
}

// surveyDump reads a dump for the first time.
func surveyDump(ctx context.Context, f *hprof.File, o Options) (*survey, error) {
	v, err := surveyBy(ctx, f, o, 3)
	if errors.Is(err, errUnaligned) {
		v, err = surveyBy(ctx, f, o, 0)
	}
	return v, err
}

func surveyBy(ctx context.Context, f *hprof.File, o Options, shift uint) (*survey, error) {
	v := &survey{
		idSize: f.IDSize, loaded: map[uint64]uint64{}, serials: map[uint32]uint64{}, threads: map[uint32]thread{},
		frames: map[uint64]frame{}, traces: map[uint32][]uint64{}, ids: newIDSet(shift, o.MaxMemory/4), damage: f.Damage,
	}
	v.names.at = map[uint64]nameAt{}
	v.classAt = map[uint64]int64{}
	v.builtin = map[uint64]bool{0: true}
	seen := map[uint64]bool{}
	s := f.Scan()
	next, last := int64(0), uint64(0)
	for n := 0; ; n++ {
		if at := s.Mark(); at.Offset >= next {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			v.marks = append(v.marks, at)
			next = at.Offset + chunk
			o.progress("reading objects", at.Offset, f.Size)
		}
		r, err := s.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				v.damage = err
			}
			break
		}
		switch r.Kind {
		case hprof.KindInstance, hprof.KindObjectArray, hprof.KindPrimArray:
			fresh, err := v.ids.add(r.ID)
			if err != nil {
				return nil, err
			}
			if !fresh {
				v.twice++
			}
			if r.ID < last {
				v.unordered++
			}
			last = r.ID
			if r.Kind == hprof.KindInstance && slices.Contains(v.builtinClasses, r.Class) {
				v.builtin[r.ID] = true
			}
		case hprof.KindClass:
			if seen[r.ID] {
				v.twice++
				continue
			}
			seen[r.ID] = true
			fresh, err := v.ids.add(r.ID)
			if err != nil {
				return nil, err
			}
			if !fresh {
				v.twice++
			}
			v.classes = append(v.classes, r.Dump)
			v.classAt[r.ID] = r.Offset
		default:
			if v.small(r); int64(len(v.roots)) > o.MaxMemory/128 {
				return nil, fmt.Errorf("%w: more than %d roots", ErrMemory, len(v.roots)-1)
			}
		}
	}
	v.end = s.Offset()
	if v.ids.count == 0 {
		if v.damage != nil {
			return nil, v.damage
		}
		return nil, &hprof.FormatError{Offset: v.end, What: "there is no object in the dump", Err: hprof.ErrCut}
	}
	v.ids.seal()
	return v, nil
}

// small keeps what there is little of.
func (v *survey) small(r *hprof.Record) {
	switch r.Kind {
	case hprof.KindString:
		if _, twice := v.names.at[r.ID]; !twice && len(v.names.all)+len(r.Body) < maxNames {
			start := uint32(len(v.names.all))
			v.names.all = append(v.names.all, r.Body...)
			v.names.at[r.ID] = nameAt{start, uint32(len(v.names.all))}
		}
	case hprof.KindLoadClass:
		v.loaded[r.ID] = r.Name
		v.serials[r.Serial] = r.ID
		if builtinLoaders[v.name(r.Name)] {
			v.builtinClasses = append(v.builtinClasses, r.ID)
		}
	case hprof.KindFrame:
		v.frames[r.ID] = frame{r.Name, r.Source, r.Line, r.Serial}
	case hprof.KindTrace:
		v.traces[r.Trace] = r.Frames
	case hprof.KindRoot:
		v.roots = append(v.roots, root{r.ID, r.Root, r.Serial, r.Depth})
		if r.Root == hprof.RootThread {
			v.threads[r.Serial] = thread{r.ID, r.Trace}
		}
	}
}
