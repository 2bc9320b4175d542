package probe

import (
	"slices"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/verify"
)

// maxFrames bounds the stack maps of a method. A table of 65,535 frames with
// 65,535 locals each would take gigabytes.
const maxFrames = 32 << 20

// A mapper rewrites stack maps. Its memory serves one method after the other.
type mapper struct {
	entry  []classfile.VType // locals as the reader keeps them
	locals []classfile.VType // with the fresh local
	info   []byte
	stubs  []stubFrame // by the stub
	writer classfile.FrameWriter
	reader classfile.FrameReader
}

// frames returns the new StackMapTable, nil if the method needs none.
//
// Class files before version 50 have none. In version 50 a method without one
// that needs one makes the JVM fall back to the old verifier, which it still
// does if there is no new one either.
func (mp *mapper) frames(r *rewriter, m *classfile.Member, catches []catch, slot int) (*classfile.Attribute, error) {
	c := r.class
	old := r.code.Attribute(classfile.AttrStackMapTable)
	if old == nil && (c.Major < classfile.MajorStackMaps || c.Major == classfile.MajorStackMaps && r.layout.joins()) {
		return nil, nil
	}
	if old == nil && len(catches) == 0 {
		return nil, nil
	}
	mp.writer.Start(mp.info[:0])
	mp.stubs = append(mp.stubs[:0], make([]stubFrame, len(r.layout.stubs))...)
	if old != nil {
		if err := mp.move(r, m, old, slot); err != nil {
			return nil, err
		}
	}
	for i := range mp.stubs {
		f := &mp.stubs[i]
		if !f.known {
			return nil, malformed("a branch to where no stack map is")
		}
		mp.writer.Frame(int(r.layout.stubs[i].pos), false, f.locals, f.stack)
		if mp.writer.Size() > maxFrames {
			return nil, reasonFrames
		}
	}
	stack := []classfile.VType{{Tag: classfile.VObject, Data: r.thrown}}
	for _, c := range catches {
		mp.locals = tops(mp.locals[:0], slot)
		if c.this >= 0 {
			mp.locals[c.this].Tag = classfile.VUninitializedThis
		}
		if len(r.locals) > 0 {
			mp.locals = append(mp.locals, r.locals...)
		} else if c.this < 0 {
			mp.locals = mp.locals[:0]
		}
		mp.writer.Frame(c.at, false, mp.locals, stack)
	}
	mp.info = mp.writer.Finish()
	a, err := c.NewAttribute(classfile.AttrStackMapTable, mp.info)
	return &a, err
}

// move writes the frames that the method has, each with the fresh local, and
// among them those of new branch targets.
func (mp *mapper) move(r *rewriter, m *classfile.Member, old *classfile.Attribute, slot int) error {
	l := &r.layout
	more, err := newFrames(r, m)
	if err != nil {
		return err
	}
	if mp.entry, err = r.class.EntryLocals(m, mp.entry[:0]); err != nil {
		return err
	}
	f := &mp.reader
	f.Reset(old, &r.code, mp.entry)
	changed := true // the locals, against the frame written before
	for f.Next() {
		if f.Offset >= len(l.code) || l.marks[f.Offset]&markStart == 0 {
			return malformed("stack map frame between instructions")
		}
		for len(more) > 0 && more[0].Offset <= f.Offset {
			if more[0].Offset < f.Offset {
				if err := mp.write(r, &more[0], slot, true); err != nil {
					return err
				}
				changed = true
			}
			more = more[1:]
		}
		if err := mp.write(r, &f.Frame, slot, changed || !f.SameLocals); err != nil {
			return err
		}
		changed = false
	}
	for i := range more {
		if err := mp.write(r, &more[i], slot, true); err != nil {
			return err
		}
	}
	mp.entry = f.Locals
	return f.Err()
}

// newFrames returns the frames behind conditional branches that were grown.
func newFrames(r *rewriter, m *classfile.Member) ([]classfile.Frame, error) {
	at := r.layout.landings()
	if len(at) == 0 {
		return nil, nil
	}
	fs, err := verify.Frames(r.class, m, at)
	if err != nil || len(fs) != len(at) {
		return nil, reasonFar
	}
	return fs, nil
}

// write writes one frame of the original code.
func (mp *mapper) write(r *rewriter, f *classfile.Frame, slot int, changed bool) (err error) {
	l := &r.layout
	if err := l.moveTypes(f.Stack); err != nil {
		return err
	}
	if changed {
		to := slot
		if len(r.locals) == 0 {
			to = 0 // nothing comes behind
		}
		if mp.locals, err = l.extend(mp.locals[:0], f.Locals, slot, to); err != nil {
			return err
		}
		mp.locals = append(mp.locals, r.locals...)
	}
	l.setDepth(f.Offset, f.Stack)
	mp.writer.Frame(int(l.pos[f.Offset]), !changed, mp.locals, f.Stack)
	mp.keep(l, f)
	if mp.writer.Size() > maxFrames {
		return reasonFrames
	}
	return nil
}

// A stubFrame is the frame of a stub: that of its target.
type stubFrame struct {
	locals, stack []classfile.VType
	known         bool
}

// keep copies a frame that was just written for the stubs that jump there.
func (mp *mapper) keep(l *layout, f *classfile.Frame) {
	for i := range l.stubs {
		if int(l.stubs[i].target) == f.Offset {
			mp.stubs[i] = stubFrame{slices.Clone(mp.locals), slices.Clone(f.Stack), true}
		}
	}
}

// joins reports whether control comes together anywhere in the method.
func (l *layout) joins() bool {
	for _, m := range l.marks {
		if m&(markTarget|markHandler) != 0 {
			return true
		}
	}
	return false
}

// extend appends locals, moved, and pads them with top up to a slot.
func (l *layout) extend(to, locals []classfile.VType, most, slot int) ([]classfile.VType, error) {
	start := len(to)
	used := 0
	for _, t := range locals {
		used += t.Slots()
	}
	if used > most {
		return to, malformed("stack map frame with more locals than max_locals")
	}
	to = append(to, locals...)
	if err := l.moveTypes(to[start:]); err != nil {
		return to, err
	}
	return tops(to, slot-used), nil
}

func tops(to []classfile.VType, n int) []classfile.VType {
	for range n {
		to = append(to, classfile.VType{})
	}
	return to
}

// moveTypes moves the offsets of new instructions inside types.
func (l *layout) moveTypes(ts []classfile.VType) error {
	for i := range ts {
		if ts[i].Tag != classfile.VUninitialized {
			continue
		}
		at := int(ts[i].Data)
		if at >= len(l.code) || classfile.Op(l.code[at]) != classfile.OpNew {
			return malformed("stack map type of no new instruction")
		}
		ts[i].Data = uint16(l.body(at))
	}
	return nil
}
