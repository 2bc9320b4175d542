package live

import (
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// A BriefView says what is slow, as [export.Brief].
type BriefView struct {
	Lines     []string `json:"lines"`
	Self      []int32  `json:"self"` // methods with most self time, by their numbers
	Allocated []int32  `json:"allocated"`
}

// mostBriefLive is how many nodes a recording that is on may have for its newest frame to be
// gone through for sentences.
const mostBriefLive = 200_000

// brief is kept, since a frame does not change.
func (f *Frame) brief() *BriefView {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.told == nil {
		b := f.Report.Brief()
		f.told = &BriefView{Lines: []string{}, Self: []int32{}, Allocated: []int32{}}
		for _, line := range b.Lines {
			f.told.Lines = append(f.told.Lines, export.Clean(line))
		}
		for _, id := range b.Self {
			f.told.Self = append(f.told.Self, f.numbers[id])
		}
		for _, id := range b.Allocated {
			f.told.Allocated = append(f.told.Allocated, f.numbers[id])
		}
	}
	return f.told
}
