package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/filter"
	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// opened are the classes of the JDK that a filter opens. They are no part of
// the analysis: its callbacks hold for all code of the JDK, with probes or
// without. Instead all their methods get probes before the gate opens, or while
// they are loaded, so that none of their calls is missed whoever makes it, and
// no thread ever waits in them: the agent, and threads that hold locks of the
// JDK's, run through them.
type opened struct {
	on      bool
	h       *cha.Hierarchy
	filter  filter.Set
	wanted  map[cha.ClassID]bool // methods were told to the ledger
	natives int                  // methods without bytecode in them
	never   map[string]neverRow  // by rule
	replace []cha.MethodID       // intrinsics
	files   map[cha.ClassID][]byte
}

type neverRow struct {
	why     string
	classes map[cha.ClassID]bool
}

const intrinsicReason = "left alone: compilers may replace its body, probes and all, so its calls could not be counted"

// opens reports whether a class is of the JDK and gets probes. It takes note of
// those that the filter would open and that never get any.
func (o *opened) opens(m *cha.ClassMirror) bool {
	if !o.on || m.Hidden || m.Fixed || m.IsLambda() {
		return false
	}
	if !ofJDK(o.h, m.ID) || !o.filter.OpensClass(m.ID.String()) {
		return false
	}
	rule, why, never := probe.Never(m.ID.Name)
	if !never {
		return true
	}
	row, ok := o.never[rule]
	if !ok {
		row = neverRow{why, map[cha.ClassID]bool{}}
		o.never[rule] = row
	}
	row.classes[m.ID] = true
	return false
}

// wantOpened tells the ledger about an opened class whose bytes are at hand.
func (l *loop) wantOpened(id cha.ClassID) {
	m := l.h.Class(id)
	if m == nil || m.Methods == nil || l.opened.wanted[id] || !l.opened.opens(m) {
		return
	}
	l.want(scheme.Plan{Steps: l.opened.steps(id)})
}

// steps are the methods of an opened class that get probes. It takes note
// of those that can't have any, so it is for once.
func (o *opened) steps(id cha.ClassID) (steps []scheme.Step) {
	m := o.h.Class(id)
	if m == nil || o.wanted[id] {
		return nil
	}
	o.wanted[id] = true
	for i := range m.Methods {
		f := &m.Methods[i]
		key := cha.MethodID{Class: id, Name: f.Name, Desc: f.Desc}
		switch {
		case !o.filter.Method(id.String(), f.Name, f.Desc, true):
		case f.Intrinsic:
			o.replace = append(o.replace, key)
		case f.IsNative():
			o.natives++
		case f.HasCode:
			steps = append(steps, scheme.Step{Method: key})
		}
	}
	return steps
}

// openJDK lists the JDK's classes and gives probes to the opened ones.
func (s *Session) openJDK(ctx context.Context) error {
	ids, err := s.listOpened(ctx)
	if err != nil || len(ids) == 0 {
		return err
	}
	return s.instrumentOpened(ctx, ids)
}

// openLate does the same for classes that were just being loaded.
func (s *Session) openLate(ctx context.Context, fresh []cha.ClassID) error {
	var ids []cha.ClassID
	if err := s.do(ctx, func() {
		l := &s.loop
		ids = slices.DeleteFunc(slices.Clone(fresh), func(id cha.ClassID) bool {
			m := l.h.Class(id)
			return m == nil || l.opened.wanted[id] || !l.opened.opens(m)
		})
	}); err != nil || len(ids) == 0 {
		return err
	}
	return s.instrumentOpened(ctx, ids)
}

// instrumentOpened has classes retransformed. Their methods are wanted when
// their bytes come.
func (s *Session) instrumentOpened(ctx context.Context, ids []cha.ClassID) error {
	if err := s.fetchOpened(ctx, ids); err != nil {
		return err
	}
	return s.wait(ctx, func(done func()) {
		s.loop.enqueue(&job{classes: ids, all: true, bytes: true, done: func([]cha.ClassID) { done() }})
	})
}

// listOpened returns the loaded classes of the JDK that the filter opens.
func (s *Session) listOpened(ctx context.Context) (ids []cha.ClassID, err error) {
	on := false
	if err := s.do(ctx, func() {
		on = s.loop.filter.OpensJDK()
		s.loop.opened = opened{on: on, h: s.loop.h, filter: s.loop.filter, wanted: map[cha.ClassID]bool{}, never: map[string]neverRow{}, files: map[cha.ClassID][]byte{}}
	}); err != nil || !on {
		return nil, err
	}
	if _, err := s.list(ctx); err != nil {
		return nil, err
	}
	err = s.do(ctx, func() {
		l := &s.loop
		l.h.Classes(func(m *cha.ClassMirror) bool {
			if l.opened.opens(m) {
				ids = append(ids, m.ID)
			}
			return true
		})
	})
	slices.SortFunc(ids, cha.ClassID.Compare)
	return ids, err
}

// fetchOpened gets the class files of opened classes, which have the stack maps
// that the JVM has thrown away: it does not verify classes of the boot loader.
func (s *Session) fetchOpened(ctx context.Context, ids []cha.ClassID) error {
	return s.wait(ctx, func(done func()) {
		s.loop.fetched = done
		s.loop.send(&link.Fetch{Classes: ids})
	})
}

// keep keeps the file of an opened class.
func (o *opened) keep(id cha.ClassID, b []byte) {
	if !o.on {
		return
	}
	if m := o.h.Class(id); m != nil && o.opens(m) {
		o.files[id] = append([]byte(nil), b...)
	}
}

// mapped returns the bytes of a class of the JDK that gets probes with its stack
// maps.
func (l *loop) mapped(id cha.ClassID, b []byte) ([]byte, error) {
	file := l.opened.files[id]
	if d := l.patchesOf(id); d != nil {
		file = d.files[id]
	}
	if file == nil {
		return b, nil
	}
	return classfile.WithStackMaps(b, file)
}

// leftAlone are what of the opened JDK has no probes.
func (o *opened) leftAlone() []export.Skipped {
	var out []export.Skipped
	for rule, row := range o.never {
		name := strings.ReplaceAll(strings.TrimSuffix(rule, "/"), "/", ".")
		if strings.HasSuffix(rule, "/") {
			name += ".**"
		}
		out = append(out, export.Skipped{Method: fmt.Sprintf("%s (%d loaded classes)", name, len(row.classes)), Reason: row.why})
	}
	for _, id := range o.replace {
		out = append(out, export.Skipped{Method: id.String(), Reason: intrinsicReason})
	}
	if o.natives > 0 {
		out = append(out, export.Skipped{Method: fmt.Sprintf("%d methods of the opened JDK", o.natives), Reason: string(scheme.Native)})
	}
	slices.SortFunc(out, func(a, b export.Skipped) int { return cmp.Compare(a.Method, b.Method) })
	return out
}
