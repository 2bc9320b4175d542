package live

import (
	"context"
	"fmt"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// Run keeps the frames coming until the context is done. Then the recording
// that is on ends and the target is restored, which may take until patience is
// done as well.
func (l *Live) Run(ctx, patience context.Context) error {
	l.run(ctx, patience)
	return l.close(patience)
}

// Targets lists the JVMs of this machine. Errors are the backend's.
func (l *Live) Targets(ctx context.Context) ([]Target, error) { return l.backend.Targets(ctx) }

// Demo starts the sample program, or finds the one that it started before. Errors are
// the backend's.
func (l *Live) Demo(ctx context.Context) (Demo, error) {
	d, err := l.backend.Demo(ctx)
	if err != nil {
		l.Say("error", "%v", err)
		return d, err
	}
	l.Say("info", "the sample program runs as process %d", d.PID)
	return d, nil
}

// Search returns the most methods of the attached JVM that match a query best
// (package search), and how many match. Until a recording begins, methods of classes that
// were loaded since the attach are among them after some seconds.
func (l *Live) Search(ctx context.Context, query string, most int) ([]Method, int) {
	return find(l.known(ctx), query, most)
}

// Packages lists what lies directly in a package ("" is the top) or class of the
// attached JVM. What is known of it is as for [Live.Search].
func (l *Live) Packages(ctx context.Context, in string) []Branch {
	return branches(l.known(ctx), in)
}

// Phase is the phase that it is in.
func (l *Live) Phase() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.phase
}

// Fresh is the report of the recording as of now, or of the last one that has
// ended. Errors wrap [ErrPhase] where there is none.
func (l *Live) Fresh(ctx context.Context) (*export.Report, error) {
	f, err := l.refresh(ctx)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return nil, errNothing
	}
	return f.Report, nil
}

// Recent is as Fresh, but may be as old as the rate of frames allows; nil where
// there is none.
func (l *Live) Recent(ctx context.Context) (*export.Report, error) {
	f, err := l.recent(ctx)
	if err != nil || f == nil {
		return nil, err
	}
	return f.Report, nil
}

// Keep keeps the recording as of now as a snapshot. Without a name it gets that
// of its root and scheme.
func (l *Live) Keep(ctx context.Context, name string) (SnapshotInfo, error) {
	f, err := l.refresh(ctx)
	if err != nil {
		return SnapshotInfo{}, err
	}
	if f == nil {
		return SnapshotInfo{}, errNothing
	}
	if f, err = l.withTimeline(ctx, f); err != nil {
		return SnapshotInfo{}, err
	}
	info, err := l.keep(f, name)
	if err == nil {
		l.Say("info", "saved snapshot %q", info.Name)
	}
	return info, err
}

// Kept is the report of a snapshot; errors wrap [ErrNoSnapshot].
func (l *Live) Kept(id int64) (*export.Report, error) {
	if f := l.source(id); f != nil && id != 0 {
		return f.Report, nil
	}
	return nil, ErrNoSnapshot
}

// Saved is the report of a snapshot, or, for source 0, of the recording as of the last
// frame. With timeline, the report of a recording that is on has the timeline so far.
// Errors are [ErrNoSnapshot], wrap [ErrNotRecording] or [ErrPhase], or say why the
// session or the snapshot's file can't be read.
func (l *Live) Saved(ctx context.Context, source int64, timeline bool) (*export.Report, error) {
	if source == 0 {
		if _, err := l.recent(context.WithoutCancel(ctx)); err != nil { // others may be waiting for it
			return nil, err
		}
	}
	f := l.source(source)
	if f == nil {
		return nil, l.missing(source)
	}
	if source == 0 && timeline {
		var err error
		if f, err = l.withTimeline(ctx, f); err != nil {
			return nil, err
		}
	}
	return f.Report, nil
}

// Compare draws the difference from one source to another, both as for [Live.Saved],
// whose errors it has.
func (l *Live) Compare(before, after int64, look *CompareLook) (*ComparePage, error) {
	a, b := l.source(before), l.source(after)
	if a == nil {
		return nil, l.missing(before)
	}
	if b == nil {
		return nil, l.missing(after)
	}
	return ptr(compare(a, b, look)), nil
}

// A Sight is what a look shows. Sections that the look doesn't ask for, and all
// of them as long as there is nothing to see, are nil.
type Sight struct {
	Frame   int64    // the frame's number, 0 if there is none
	Figures *Figures // of snapshots only: those of the live recording are in the [State]
	Tree    *TreePage
	Icicle  *IciclePage
	Methods *MethodsPage
	Around  *AroundPage
	Threads *ThreadsPage
	Doubts  *DoubtsPage
	Skipped *SkippedPage
	Slowest *SlowPage
	Compare *ComparePage

	named []int64 // methods that the sections mention
	frame *Frame
	book  *Book
}

// Mentioned are the numbers of the methods that the sections mention, some more than
// once; 0 is none.
func (s *Sight) Mentioned() []int64 { return s.named }

// Method is the method of a number, with its place as of the frame that is looked at:
// code moves from one version of a program to the next. It is the zero Method if there
// is none.
func (s *Sight) Method(number int32) cct.Method {
	if s.frame != nil {
		if id, ok := s.frame.local[number]; ok {
			return s.frame.method(id)
		}
	}
	return s.book.name(number)
}

// See draws what a look asks for out of the newest frame, or out of a snapshot.
func (l *Live) See(look *Look) Sight {
	s := Sight{book: l.book}
	f := l.source(look.Source)
	if f == nil {
		return s
	}
	s.Frame, s.frame = f.ID, f
	mention := func(method int64) { s.named = append(s.named, method) }
	lines := func(list []Line) {
		for _, l := range list {
			mention(l.Figures[0])
		}
	}
	if look.Source != 0 {
		s.Figures = f.figures()
	}
	if look.Tree != nil {
		s.Tree = ptr(f.view(look).tree(look.Tree))
		for _, r := range s.Tree.Rows {
			mention(r[2])
		}
	}
	if look.Icicle != nil {
		s.Icicle = ptr(f.view(look).icicle(look.Icicle))
		for _, b := range s.Icicle.Boxes {
			mention(b[2])
		}
		for _, m := range s.Icicle.Above {
			mention(int64(m[1]))
		}
	}
	if look.Methods != nil {
		s.Methods = ptr(f.methods(look))
		lines(s.Methods.Lines)
	}
	if look.Around != nil {
		s.Around = ptr(f.aroundPage(look.Around))
		mention(int64(look.Around.Method))
		lines(s.Around.Callers)
		lines(s.Around.Callees)
	}
	if look.Threads {
		s.Threads = ptr(f.threadsPage())
	}
	if look.Doubts {
		s.Doubts = ptr(f.doubts())
		for _, d := range s.Doubts.Dark {
			mention(int64(d.Method))
		}
	}
	if look.Skipped != nil {
		s.Skipped = ptr(f.skipped(look.Skipped))
	}
	if look.Slowest {
		s.Slowest = ptr(f.slowest(look.Slow))
		for _, i := range s.Slowest.Lines {
			mention(int64(i.Method))
		}
		if p := s.Slowest.Path; p != nil {
			for _, k := range p.Segments {
				mention(k[2])
			}
			for _, m := range p.Methods {
				mention(m[0])
			}
		}
	}
	if before := l.source(look.Against); look.Compare != nil && before != nil {
		s.Compare = ptr(compare(before, f, look.Compare))
		for _, r := range s.Compare.Rows {
			mention(r[2])
		}
		for _, c := range s.Compare.Changes {
			mention(c[0])
		}
	}
	return s
}

func ptr[T any](v T) *T { return &v }

// Name is the method of a number that a [Sight] has; the zero Method if there is
// none.
func (l *Live) Name(number int32) cct.Method { return l.book.name(number) }

var errNothing = fmt.Errorf("%w: nothing has been recorded yet", ErrPhase)
