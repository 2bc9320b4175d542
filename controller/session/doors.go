package session

import (
	"context"
	"slices"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/controller/patch"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// doors are classes of which single methods call the probe class, so that
// something can be followed that no code of the program's tells. Those of the boot
// loader are no part of the analysis.
type doors struct {
	patch.Edit
	files   map[cha.ClassID][]byte // with the stack maps that the JVM has thrown away
	problem string                 // why one could not be changed
}

// door returns the doors that a class is one of, nil for any other class.
func (l *loop) door(id cha.ClassID) *doors {
	for _, d := range []*doors{&l.reflection.doors, &l.following.doors, &l.spans} {
		if d.Has(id) {
			return d
		}
	}
	return nil
}

// onlyDoor reports whether a class is one and can't be an opened one as well.
func (l *loop) onlyDoor(id cha.ClassID) bool {
	if id.Loader != 0 || l.door(id) == nil {
		return false
	}
	_, _, never := probe.Never(id.Name)
	return never || !l.filter.OpensJDK()
}

// openDoors changes the classes, before the gate opens. Those that are not
// loaded yet are changed while they are. set makes the doors known to the loop.
func (s *Session) openDoors(ctx context.Context, d *doors, set func()) error {
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
