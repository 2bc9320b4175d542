package session

import (
	"runtime"
	"sync"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/classpath"
)

// A placed class is one of which the agent has told where its file lies.
type placed struct {
	id    cha.ClassID
	place string
}

// readPlaced reads the files of classes while the agent reads those of others,
// and returns the classes of which it found none.
func (s *Session) readPlaced(classes []placed) (rest []cha.ClassID) {
	path := classpath.New(s.proc.PID, s.proc.Started)
	defer path.Close()
	read := make([]parsed, len(classes))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.NumCPU(), 4) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range next {
				s.stage.step(1)
				b, err := path.Read(classes[i].place, classes[i].id.Name)
				if err == nil {
					read[i], err = parse(classes[i].id, b)
				}
				if err != nil {
					read[i].mirror = nil
					s.log.Debug("class file", "class", classes[i].id, "place", classes[i].place, "error", err)
				}
			}
		}()
	}
	for i := range classes {
		next <- i
	}
	close(next)
	wg.Wait()
	if s.do(s.ctx, func() {
		defer s.loop.analyse()()
		for i := range read {
			if read[i].mirror == nil {
				rest = append(rest, classes[i].id)
			} else {
				s.loop.filed[read[i].id] = time.Now()
				s.loop.take(&read[i])
			}
		}
	}) != nil {
		return nil // the session has ended
	}
	return rest
}
