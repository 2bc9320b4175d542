package live

import (
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// A View is the answer to a [Query]. Sections that were not asked for are nil; all are nil as
// long as there is nothing to see. It does not change.
type View struct {
	Frame       int64    // the frame's number, 0 if there is none
	Figures     *Figures // of snapshots only: those of the live recording are in the [State]
	Tree        *TreeView
	Icicle      *IcicleView
	Methods     *MethodsView
	Around      *AroundView
	Threads     *ThreadsView
	Uncertainty *UncertaintyView
	Skipped     *SkippedView
	Slowest     *SlowestView
	Compare     *CompareView
	Brief       *BriefView
	Sandwich    *Sandwich
	History     *HistoryView

	named     []int64 // methods that the sections mention
	frame     *Frame
	numbering *Numbering
}

// Mentioned are the numbers of the methods that the sections mention, some more than
// once; 0 is none.
func (s *View) Mentioned() []int64 { return s.named }

// Method is the method of a number, with its place as of the frame that is looked at:
// code moves from one version of a program to the next. It is the zero Method if there
// is none.
func (s *View) Method(number int32) cct.Method {
	if s.frame != nil {
		if id, ok := s.frame.local[number]; ok {
			return s.frame.method(id)
		}
	}
	return s.numbering.method(number)
}

// View computes what a query asks for, out of the newest frame or out of a snapshot. It does
// not read a frame: [Live.Run] does, or [Live.ReportNow].
func (l *Live) View(asked *Query) View {
	query := *asked
	q := &query
	q.app = l.app
	s := View{numbering: l.numbering}
	f := l.source(q.Source)
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
	if q.Source != 0 {
		s.Figures = f.figures()
	}
	q.within = f.snapped(q.Range[0], q.Range[1])
	if q.History {
		s.History = f.history(q.within)
	}
	if q.Tree != nil {
		s.Tree = ptr(f.selection(q).tree(q.Tree))
		for _, r := range s.Tree.Rows {
			mention(r[2])
		}
	}
	if q.Icicle != nil {
		if q.Icicle.Inverted && l.invertible(f, q.Source) {
			v := f.inverse(q.key())
			s.Icicle = ptr(f.inverted(v, v.leaves(), invertedEdge, true, q.Icicle))
		} else {
			s.Icicle = ptr(f.selection(q).icicle(q.Icicle))
		}
		for _, b := range s.Icicle.Boxes {
			mention(b[2])
		}
		for _, m := range s.Icicle.Above {
			mention(int64(m[1]))
		}
	}
	if q.Brief {
		s.Brief = l.brief(f, q.Source)
	}
	if s.Brief != nil {
		for _, list := range [][]int32{s.Brief.Self, s.Brief.Allocated, s.Brief.Waiting} {
			for _, m := range list {
				mention(int64(m))
			}
		}
	}
	if q.Methods != nil {
		s.Methods = ptr(f.methods(q))
		lines(s.Methods.Lines)
	}
	if q.Around != nil {
		s.Around = ptr(f.aroundView(q.Around))
		mention(int64(q.Around.Method))
		lines(s.Around.Callers)
		lines(s.Around.Callees)
		if q.Around.Width > 0 && l.invertible(f, q.Source) {
			if s.Sandwich = f.sandwich(q.Around); s.Sandwich != nil {
				for _, b := range slices.Concat(s.Sandwich.Callers.Boxes, s.Sandwich.Callees.Boxes) {
					mention(b[2])
				}
			}
		}
	}
	if q.Threads {
		s.Threads = ptr(f.threadsView())
	}
	if q.Uncertainty {
		s.Uncertainty = ptr(f.uncertainty())
		for _, d := range s.Uncertainty.Methods {
			mention(int64(d.Method))
		}
	}
	if q.Skipped != nil {
		s.Skipped = ptr(f.skipped(q.Skipped))
	}
	if q.Slowest {
		s.Slowest = ptr(f.slowest(q.Slow))
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
	if before := l.source(q.Against); q.Compare != nil && before != nil {
		s.Compare = ptr(compare(before, f, q.Compare))
		for _, r := range s.Compare.Rows {
			mention(r[2])
		}
		for _, c := range s.Compare.Changes {
			mention(c[0])
		}
		if f := s.Compare.Flame; f != nil {
			for _, b := range f.Boxes {
				mention(b[2])
			}
			for _, m := range f.Above {
				mention(int64(m[1]))
			}
		}
	}
	return s
}

func ptr[T any](v T) *T { return &v }

// Method is the method of a number that a [View] has; the zero Method if there is none.
func (l *Live) Method(number int32) cct.Method { return l.numbering.method(number) }
