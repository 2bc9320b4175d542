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

// dearFrom is the JDK whose redefinitions are dear whatever they change: compiled code
// that became invalid stays, and each batch searches it (docs/decisions/0008).
const dearFrom = 20

// learnInvoked begins to ask the JVM which methods it has invoked, if the scheme wants
// to know, and how busy it is. The result waits for the answer.
func (s *Session) learnInvoked(make func(*cha.Hierarchy) scheme.Scheme) func() guide {
	if _, ok := make(cha.New()).(scheme.Guided); !ok {
		return func() guide { return guide{} }
	}
	var g guide
	var err error
	var wg sync.WaitGroup
	wg.Go(func() {
		crowd := crowd{task: fmt.Sprintf("/proc/%d/task", s.proc.PID)}
		crowd.look()
		g.invoked, err = vmstructs.Read(s.proc.PID)
		crowd.look()
		time.Sleep(crowdPause)
		crowd.look()
		g.eager = s.proc.Major() >= dearFrom || crowd.more()
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

// crowdPause lies between two looks at a crowd.
const crowdPause = 20 * time.Millisecond

// A crowd counts the target's threads that run or wait for a core, at several moments.
type crowd struct {
	task           string // folder
	looks, running int
}

func (c *crowd) look() {
	c.looks++
	dirs, _ := filepath.Glob(c.task + "/*")
	for _, dir := range dirs {
		if _, state, err := taskRun(dir); err == nil && state == 'R' {
			c.running++
		}
	}
}

// more reports whether there were half as many again as there are cores: then what one
// thread waits for, others wait for, too.
func (c *crowd) more() bool { return 2*c.running > 3*c.looks*runtime.NumCPU() }
