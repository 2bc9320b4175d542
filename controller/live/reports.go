package live

import (
	"context"
	"fmt"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

var errNothing = fmt.Errorf("%w: nothing has been recorded yet", ErrPhase)

// Phase is the current phase.
func (l *Live) Phase() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.phase
}

// ReportNow reads a frame and returns its report; after a recording has ended, the report of
// that one. Errors wrap [ErrPhase] if nothing was recorded yet, or are the session's.
func (l *Live) ReportNow(ctx context.Context) (*export.Report, error) {
	f, err := l.refresh(ctx)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return nil, errNothing
	}
	return f.Report, nil
}

// RecentReport is the report of the newest frame, which is read anew if the rate of frames
// allows; nil if there is none. Errors are the session's.
func (l *Live) RecentReport(ctx context.Context) (*export.Report, error) {
	f, err := l.recent(ctx)
	if err != nil || f == nil {
		return nil, err
	}
	return f.Report, nil
}

// Keep keeps the current state of the recording as a snapshot. An empty name stands for the
// root and the scheme. Errors wrap [ErrPhase] if nothing was recorded yet, or say why there
// is no room, or why the session can't be read.
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
		l.Logf("info", "saved snapshot %q", info.Name)
	}
	return info, err
}

// SnapshotReport is the report of a snapshot. The error is [ErrNoSnapshot] if there is no
// snapshot with this number, if it can't be read, or if it is a comparison.
func (l *Live) SnapshotReport(id int64) (*export.Report, error) {
	if f := l.source(id); f != nil && id != 0 {
		return f.Report, nil
	}
	return nil, ErrNoSnapshot
}

// SourceReport is the report of a snapshot or, for source 0, of the newest frame. With
// timeline, the report of a recording that is on includes the timeline so far. Errors are
// [ErrNoSnapshot], wrap [ErrNotRecording] or [ErrPhase], or say why the session or the
// snapshot's file can't be read.
func (l *Live) SourceReport(ctx context.Context, source int64, timeline bool) (*export.Report, error) {
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

// Compare returns the difference between two recordings. before and after are numbers of
// snapshots, 0 for the live recording. Errors are those of [Live.SourceReport].
func (l *Live) Compare(before, after int64, q *CompareQuery) (*CompareView, error) {
	a, b := l.source(before), l.source(after)
	if a == nil {
		return nil, l.missing(before)
	}
	if b == nil {
		return nil, l.missing(after)
	}
	return ptr(compare(a, b, q)), nil
}

// LastReport is the report of the last recording that has ended; nil if none has.
func (l *Live) LastReport() *export.Report {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.report
}
