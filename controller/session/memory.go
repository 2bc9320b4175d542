package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/headroom"
)

// ErrMemory reports that an attach or a recording was given up before it began, since the memory limit of a container was near.
var ErrMemory = errors.New("given up for want of memory")

// leastTree is what a tree of contexts may have even where there is little memory, in bytes.
const leastTree = 8 << 20

// roomFor is how much a tree may have, in bytes, of what was asked for: what is allocated in the target's tmpfs counts as memory
// of this process, and two thirds of what its container has left are for everything else.
func roomFor(memory int64) int64 {
	if m, limited := headroom.Of(os.Getpid()); limited {
		return min(memory, max(m.Left/3, leastTree))
	}
	return memory
}

// mindMemory refuses a target whose analysis takes more than the container of this process has left. Nothing has been done to it yet.
func (c *Config) mindMemory(pid int, counters map[string]any) error {
	if need, left, ok := headroom.Enough(attach.LoadedClasses(counters)); !ok && !c.LittleMemory {
		return fmt.Errorf("pid %d: %w: to analyse its classes takes some %d MB here, and the container that Rivulet runs in has %d MB left until its limit. Raise that limit, run Rivulet outside of the container (rivulet kube --image adds one to a pod), or attach all the same with --little-memory", pid, ErrMemory, need>>20, max(left, 0)>>20)
	}
	return nil
}

// watchMemory ends the recording, or what leads to it, where the memory gets short that the containers of the target and of this
// process may take.
func (s *Session) watchMemory(pid int) {
	w := headroom.New(pid)
	if w == nil {
		return
	}
	w.Look() // arming takes much at once
	s.wg.Add(1)
	go func() {
		defer s.wg.Done()
		defer w.Close() // another session of this process says anew what it may take
		tick := time.NewTicker(headroom.Every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-s.ctx.Done():
				return
			}
			if near := w.Look(); near != "" {
				s.log.Warn("memory", "what", near)
				s.end(near)
				s.scarce(fmt.Errorf("pid %d: %w: %s; raise that limit, or record a smaller subgraph", pid, ErrMemory, near))
				return
			}
		}
	}()
}

// whileRoom is a context for what takes memory: it ends, too, when that gets short. done gives the context back,
// and turns the error of such an end into one that says so.
func (s *Session) whileRoom(ctx context.Context) (roomy context.Context, done func(error) error) {
	roomy, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.plenty, func() { cancel(context.Cause(s.plenty)) })
	return roomy, func(err error) error {
		stop()
		cancel(nil)
		if why := context.Cause(roomy); errors.Is(err, context.Canceled) && errors.Is(why, ErrMemory) {
			return why
		}
		return err
	}
}
