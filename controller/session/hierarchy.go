package session

import (
	"fmt"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

var loaderKinds = map[uint8]cha.LoaderKind{
	wire.LoaderBoot: cha.LoaderBoot, wire.LoaderPlatform: cha.LoaderPlatform, wire.LoaderApp: cha.LoaderApp, wire.LoaderOther: cha.LoaderOther,
}

func (l *loop) onLoaders(r *wire.Reader) error {
	for n := r.Count(13); n > 0; n-- {
		ld := cha.Loader{ID: r.U32(), Kind: loaderKinds[r.U8()], Parent: r.U32()}
		class, hash := r.Str(), r.Str()
		switch ld.Kind {
		case cha.LoaderPlatform:
			ld.Name = "platform"
		case cha.LoaderApp:
			ld.Name = "app"
		default:
			ld.Name = class + "@" + hash
		}
		if r.Err() == nil {
			l.loaders[ld.ID] = ld.Name
			l.h.AddLoader(ld)
		}
	}
	return r.Err()
}

// onClasses takes a part of a listing of loaded classes.
func (l *loop) onClasses(r *wire.Reader) error {
	last, place := r.U8() != 0, ""
	for n := r.Count(21); n > 0; n-- {
		m := &cha.ClassMirror{ID: cha.ClassID{Loader: r.U32(), Name: r.Str()}, Access: uint16(r.U32())}
		state := r.U8()
		m.Initialized = state&wire.ClassInitialized != 0
		m.Linked = m.Initialized
		m.Fixed = state&wire.ClassModifiable == 0
		m.Hidden = state&wire.ClassHidden != 0
		m.Exact = []cha.ClassID{}
		if sup := (cha.ClassID{Loader: r.U32(), Name: r.Str()}); sup.Name != "" {
			m.Super = sup.Name
			m.Exact = append(m.Exact, sup)
		}
		for k := r.Count(6); k > 0; k-- {
			i := cha.ClassID{Loader: r.U32(), Name: r.Str()}
			m.Interfaces = append(m.Interfaces, i.Name)
			m.Exact = append(m.Exact, i)
		}
		if where := r.Str(); where != wire.SamePlace {
			place = where
		}
		if r.Err() != nil {
			return r.Err()
		}
		if ours(m.ID.Name) {
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
	if last && l.listed != nil {
		f := l.listed
		l.listed = nil
		f()
	}
	return r.Err()
}

// onBytes takes class files that were asked for.
func (l *loop) onBytes(r *wire.Reader) error {
	last := r.U8() != 0
	for n := r.Count(10); n > 0; n-- {
		id := cha.ClassID{Loader: r.U32(), Name: r.Str()}
		b := r.Bytes()
		if r.Err() != nil {
			return r.Err()
		}
		if l.sites.takes(id, b) {
			continue
		}
		if d := l.door(id); d != nil {
			d.files[id] = append([]byte(nil), b...)
			if l.onlyDoor(id) || l.h.Class(id) == nil { // or it may not be loaded
				continue
			}
		}
		if len(b) > 0 && l.mirror(id, b) != nil {
			l.filed[id] = time.Now()
			l.keepOpened(id, b)
		}
	}
	if last && l.fetched != nil {
		f := l.fetched
		l.fetched = nil
		f()
	}
	return r.Err()
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
