package session

import (
	"context"
	"slices"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/controller/patch"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// jdkPatches are classes whose methods are patched to call the probe class, so that
// something can be followed that the program's own code does not show. Those of the boot
// loader are no part of the analysis.
type jdkPatches struct {
	patch.Edit
	files   map[cha.ClassID][]byte // with the stack maps that the JVM has thrown away
	problem string                 // why one could not be changed
}

// patchesOf returns the patches that change a class, nil for any other class.
func (l *loop) patchesOf(id cha.ClassID) *jdkPatches {
	for _, d := range []*jdkPatches{&l.reflection.jdkPatches, &l.following.jdkPatches, &l.spans} {
		if d.Has(id) {
			return d
		}
	}
	return nil
}

// onlyPatched reports whether a class is patched, and never has probes as well.
func (l *loop) onlyPatched(id cha.ClassID) bool {
	if id.Loader != 0 || l.patchesOf(id) == nil {
		return false
	}
	_, _, never := probe.Never(id.Name)
	return never || !l.filter.OpensJDK()
}

// patchJDK patches the classes before the gate opens. Those that are not
// loaded yet are patched when they are loaded. set makes the patches known to the loop.
func (s *Session) patchJDK(ctx context.Context, d *jdkPatches, set func()) error {
	d.files = map[cha.ClassID][]byte{}
	var ids []cha.ClassID
	for name := range d.Classes {
		ids = append(ids, cha.ClassID{Name: name})
	}
	slices.SortFunc(ids, cha.ClassID.Compare)
	if err := s.wait(ctx, func(done func()) {
		set()
		s.loop.fetched = done
		s.loop.send(&link.Fetch{Classes: ids})
	}); err != nil {
		return err
	}
	return s.wait(ctx, func(done func()) {
		if d.Optional {
			ids = slices.DeleteFunc(ids, func(id cha.ClassID) bool { return len(d.files[id]) == 0 })
		}
		if d.Anywhere {
			for name := range d.Classes {
				for _, m := range s.loop.h.Named(name) {
					if m.ID.Loader != 0 {
						ids = append(ids, m.ID)
					}
				}
			}
		}
		if len(ids) == 0 {
			done()
			return
		}
		s.loop.enqueue(&job{classes: ids, all: true, bytes: true, done: func([]cha.ClassID) { done() }})
	})
}
