package session

import (
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// A guide is what a scheme may go by that looks ahead (scheme.Guided).
type guide struct {
	invoked *vmstructs.Invoked // nil: not known
	eager   bool
}

// eagerFrom is the JDK from which on a redefinition costs more than the probes that it
// would save: before, it is the classes that are dear (docs/decisions/0026).
const eagerFrom = 17

// readInvoked begins to ask the JVM which methods it has invoked, if the scheme wants
// to know, and how busy it is. The result waits for the answer.
func (s *Session) readInvoked(make func(*cha.Hierarchy) scheme.Scheme) func() guide {
	if _, ok := make(cha.New()).(scheme.Guided); !ok {
		return func() guide { return guide{} }
	}
	var g guide
	var err error
	var wg sync.WaitGroup
	wg.Go(func() {
		if g.invoked, err = vmstructs.Read(s.proc.PID); err == nil {
			if err := loadKnown(s.proc, g.invoked); err != nil {
				s.log.Debug("not known what was invoked before earlier sessions", "reason", err)
			}
			g.eager = s.proc.Major() >= eagerFrom || crowded(s.proc.PID)
		}
	})
	return func() guide {
		began := time.Now()
		wg.Wait()
		if err != nil {
			s.log.Debug("not known what was invoked", "reason", err)
			return guide{}
		}
		s.log.Debug("invoked before", "methods", g.invoked.Len(), "eager", g.eager, "waited", time.Since(began))
		return g
	}
}

// guideScheme tells the scheme what is known.
func (l *loop) guideScheme() {
	g, ok := l.scheme.(scheme.Guided)
	if v := l.guide.invoked; ok && v != nil {
		g.Guide(func(m cha.MethodID) bool { return v.Has(m.Class.Name, m.Name, m.Desc) }, l.guide.eager)
	}
}

// Looks at how many threads want a core, and what lies between two of them.
const (
	crowdLooks = 3
	crowdPause = 20 * time.Millisecond
)

// crowded reports whether half as many threads of a process again as there are cores run
// or wait for one: then what one thread waits for, others wait for, too.
func crowded(pid int) bool {
	running := 0
	for range crowdLooks {
		dirs, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
		for _, dir := range dirs {
			if _, state, err := taskRun(dir); err == nil && state == 'R' {
				running++
			}
		}
		time.Sleep(crowdPause)
	}
	return 2*running > 3*crowdLooks*runtime.NumCPU()
}
