package session

import (
	"fmt"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/controller/roots"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

var loaderKinds = map[uint8]cha.LoaderKind{
	wire.LoaderBoot: cha.LoaderBoot, wire.LoaderPlatform: cha.LoaderPlatform, wire.LoaderApp: cha.LoaderApp, wire.LoaderOther: cha.LoaderOther,
}

func (l *loop) onLoaders(q *link.Loaders) {
	for _, row := range q.Rows {
		ld := cha.Loader{ID: row.ID, Kind: loaderKinds[row.Kind], Parent: row.Parent}
		switch ld.Kind {
		case cha.LoaderPlatform:
			ld.Name = "platform"
		case cha.LoaderApp:
			ld.Name = "app"
		default:
			ld.Name = row.Class + "@" + row.Name
		}
		l.loaders[ld.ID] = ld.Name
		l.h.AddLoader(ld)
	}
}

// onClasses takes a part of a listing of loaded classes.
func (l *loop) onClasses(q *link.Classes) {
	place := ""
	for _, row := range q.Rows {
		m := &cha.ClassMirror{ID: row.ID, Access: uint16(row.Access)}
		m.Initialized = row.State&wire.ClassInitialized != 0
		m.Linked = m.Initialized
		m.Fixed = row.State&wire.ClassModifiable == 0
		m.Hidden = row.State&wire.ClassHidden != 0
		m.Exact = []cha.ClassID{}
		if row.Super.Name != "" {
			m.Super = row.Super.Name
			m.Exact = append(m.Exact, row.Super)
		}
		for _, i := range row.Interfaces {
			m.Interfaces = append(m.Interfaces, i.Name)
			m.Exact = append(m.Exact, i)
		}
		if row.Place != wire.SamePlace {
			place = row.Place
		}
		if roots.Ours(m.ID.Name) {
			continue
		}
		old := l.h.Class(m.ID)
		if old == nil || old.Exact == nil {
			l.fresh = append(l.fresh, m.ID)
		}
		if place != "" && (old == nil || old.Methods == nil) {
			l.places[m.ID] = place
		}
		l.h.Add(m)
	}
	if q.Last && l.listed != nil {
		f := l.listed
		l.listed = nil
		f()
	}
}

// onFiles takes class files that were asked for.
func (l *loop) onFiles(q *link.Files) {
	for _, row := range q.Rows {
		id, b := row.ID, row.Bytes
		if l.sites.Takes(id, b) {
			continue
		}
		if d := l.patchesOf(id); d != nil {
			d.files[id] = append([]byte(nil), b...)
			if l.onlyPatched(id) || l.h.Class(id) == nil { // or it may not be loaded
				continue
			}
		}
		if len(b) > 0 && l.mirror(id, b) != nil {
			l.filed[id] = time.Now()
			l.opened.keep(id, b)
		}
	}
	if q.Last && l.fetched != nil {
		f := l.fetched
		l.fetched = nil
		f()
	}
}

// mirror analyses a class's bytes and adds them to the hierarchy; nil if they
// are no class file of that name, which a loader's resources need not be.
func (l *loop) mirror(id cha.ClassID, b []byte) *classfile.Class {
	defer l.analyse()()
	p, err := parse(id, b)
	if err != nil {
		l.s.log.Debug("class file", "class", id, "error", err)
		return nil
	}
	l.take(&p)
	return p.file
}

// parsed is a class file that was analysed.
type parsed struct {
	id     cha.ClassID
	bytes  []byte
	file   *classfile.Class
	mirror *cha.ClassMirror
}

// parse analyses the bytes of a class.
func parse(id cha.ClassID, b []byte) (p parsed, err error) {
	p = parsed{id: id, bytes: b}
	if p.file, err = classfile.Parse(b); err != nil {
		return p, err
	}
	if name := p.file.Name(); name != id.Name {
		return p, fmt.Errorf("it is of class %s", name)
	}
	p.mirror, err = cha.NewMirror(id, p.file)
	return p, err
}

// take adds what was parsed to the hierarchy.
func (l *loop) take(p *parsed) {
	l.h.Add(p.mirror)
	l.looksUp(p)
	if l.keepsFile() && classfile.HasMethodParameters(p.file) {
		l.files[p.id] = append([]byte(nil), p.bytes...)
	}
}

// analyse counts what its caller does as analysis until the returned function is
// called. What it calls may count itself, too.
func (l *loop) analyse() (end func()) {
	if l.stats.analysing {
		return func() {}
	}
	l.stats.analysing = true
	start := time.Now()
	return func() {
		l.stats.analysing = false
		l.stats.analysis += time.Since(start)
	}
}

// keepsFile tells whether this JVM loses MethodParameters on retransformation.
func (l *loop) keepsFile() bool { return l.s.proc.Major() < 19 }
