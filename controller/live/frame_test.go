package live

import (
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest"
)

// frameOf is a frame of a recording with these trees.
func frameOf(b *Numbering, s *cct.Snapshot) *Frame { return newFrame(1, livetest.Report(s), b) }
