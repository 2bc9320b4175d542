package live

import (
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// A BriefView says what is slow, as [export.Brief].
type BriefView struct {
	Lines     []string `json:"lines"`
	Self      []int32  `json:"self"` // methods with most self time, by their numbers
	Allocated []int32  `json:"allocated"`
	Waiting   []int32  `json:"waiting"` // that wait most themselves; empty where that was not sampled
}

// mostBriefAtOnce is how many nodes a frame may have to be gone through for sentences while
// somebody waits for the rest of the view, and again for each frame of a recording that is on.
const mostBriefAtOnce = 20_000

// brief is kept, since a frame does not change.
func (f *Frame) brief() *BriefView {
	f.mu.Lock()
	told := f.told
	f.mu.Unlock()
	if told != nil {
		return told
	}
	b := f.Report.Brief()
	told = &BriefView{Lines: []string{}, Self: []int32{}, Allocated: []int32{}, Waiting: []int32{}}
	for _, line := range b.Lines {
		told.Lines = append(told.Lines, export.Clean(line))
	}
	for _, id := range b.Self {
		told.Self = append(told.Self, f.numbers[id])
	}
	for _, id := range b.Allocated {
		told.Allocated = append(told.Allocated, f.numbers[id])
	}
	for _, id := range b.Waiting {
		told.Waiting = append(told.Waiting, f.numbers[id])
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.told = told
	return told
}

// brief is that of a frame at once if it is small. A larger one that won't change any more is
// gone through beside everything else: nil for now, and viewers are told when it is there.
func (l *Live) brief(f *Frame, source int64) *BriefView {
	if f.sums.Nodes <= mostBriefAtOnce {
		return f.brief()
	}
	l.mu.Lock()
	on := source == 0 && l.phase == InRecording
	l.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.told == nil && !on && !f.telling {
		f.telling = true
		go func() {
			f.brief()
			l.changed()
		}()
	}
	return f.told
}
