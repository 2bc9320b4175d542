package web

import (
	"context"
	"fmt"

	"github.com/hashicorp/go-hclog"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// NewLive is a Live without a server, for others who look at a recording: the
// terminal session. changed is called, from any goroutine, when something is
// new; watched says whether anybody looks, without which no frames are read
// but those that are asked for. Run keeps it going.
func NewLive(b Backend, log hclog.Logger, changed func(), watched func() bool) *Live {
	return newLive(b, log, changed, watched)
}

// Run keeps the frames coming until the context is done. Then the recording
// that is on ends and the target is restored, which may take until patience is
// done as well.
func (l *Live) Run(ctx, patience context.Context) error {
	l.run(ctx, patience)
	return l.close(patience)
}

// Search returns the most methods of the attached JVM that match a query best
// (package search), and how many match. Until a recording begins, methods of classes that
// were loaded since the attach are among them after some seconds.
func (l *Live) Search(query string, most int) ([]Method, int) {
	return find(l.known(context.Background()), query, most)
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
		l.say("info", "saved snapshot %q", info.Name)
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

// A Sight is what a look shows. Sections that the look doesn't ask for, and all
// of them as long as there is nothing to see, are nil.
type Sight struct {
	Frame   int64 // the frame's number, 0 if there is none
	Tree    *TreePage
	Methods *MethodsPage
	Around  *AroundPage
	Threads *ThreadsPage
	Doubts  *DoubtsPage
	Compare *ComparePage
}

// See draws what a look asks for, but for the flame graph, out of the newest
// frame.
func (l *Live) See(look *Look) Sight {
	var s Sight
	f := l.source(look.Source)
	if f == nil {
		return s
	}
	s.Frame = f.ID
	if look.Tree != nil {
		s.Tree = ptr(f.view(look).tree(look.Tree))
	}
	if look.Methods != nil {
		s.Methods = ptr(f.methods(look))
	}
	if look.Around != nil {
		s.Around = ptr(f.aroundPage(look.Around))
	}
	if look.Threads {
		s.Threads = ptr(f.threadsPage())
	}
	if look.Doubts {
		s.Doubts = ptr(f.doubts())
	}
	if before := l.source(look.Against); look.Compare != nil && before != nil {
		s.Compare = ptr(compare(before, f, look.Compare))
	}
	return s
}

func ptr[T any](v T) *T { return &v }

// Name is the method of a number that a [Sight] has; the zero Method if there is
// none.
func (l *Live) Name(number int32) cct.Method { return l.book.name(number) }

var errNothing = fmt.Errorf("%w: nothing has been recorded yet", ErrPhase)
