package sampler

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// Look samples all of Java's threads once, with [Options.Wall]: what each does at this moment, in the order of their
// numbers. Threads that run Java code have frames if they can be stopped for a moment ([Ptrace]). It is for samplers on
// which [Sampler.Run] was not called. It returns os.ErrProcessDone if the target has ended.
func (s *Sampler) Look() ([]stack.Stack, error) {
	if s.ended() {
		return nil, fmt.Errorf("process %d has ended: %w", s.pid, os.ErrProcessDone)
	}
	const (
		tries = 4 // a thread that goes on while it is read is read again
		pause = 3 * time.Millisecond
		most  = 300 * time.Millisecond // while a collection moves objects
	)
	s.begin()
	s.threads.list()
	found, unsure := map[int]stack.Stack{}, map[int]stack.Stack{}
	for n, begun := 0, time.Now(); ; n++ {
		before := s.collections()
		s.tick(monotonic())
		s.check()
		now := map[int]stack.Stack{} // of several samples of a thread the last one says what it does now
		for _, b := range s.batch {
			if b.Java {
				now[b.TID] = b
			}
		}
		steady := s.collections().NoneSince(before)
		missing := 0
		for _, tid := range s.wall.tids {
			if _, have := found[tid]; have {
				continue
			}
			switch b, there := now[tid]; {
			case there && b.Weight > 0:
				found[tid] = b
			default:
				if b.Lock = nil; steady { // it has gone on while it was read
					b.Frames, b.Complete, b.Broken = nil, false, brokenMoved
				}
				unsure[tid] = b
				missing++
			}
		}
		sure := s.threads.sure(s.wall.tids)
		if missing == 0 && sure || n+1 >= tries && (steady && sure || time.Since(begun) > most) {
			break
		}
		time.Sleep(pause)
		s.begin()
	}
	out := make([]stack.Stack, 0, len(found))
	for _, tid := range s.wall.tids {
		b, ok := found[tid]
		if !ok {
			b = unsure[tid]
		}
		if b.TID == 0 { // it runs, and can't be stopped
			b = stack.Stack{Time: monotonic(), TID: tid, Java: true, Broken: brokenRunning}
		}
		b.Thread = s.threads.known[tid].name // which may have been read later
		out = append(out, b)
	}
	return out, nil
}

// ended reports whether the target has ended.
func (s *Sampler) ended() bool {
	if s.pidfd < 0 {
		return s.gone()
	}
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(s.pidfd), Events: unix.POLLIN}}, 0)
	return err == nil && n > 0
}

// Number is the number that Java gives a thread (Thread.getId); 0 if it is not known. It may be called by
// what [Sampler.Run] hands samples to, or when it has returned.
func (s *Sampler) Number(tid int) int64 {
	k := s.threads.known[tid]
	if k == nil || !k.listed {
		return 0
	}
	s.threads.readNumber(k)
	return k.number
}

// Daemon tells whether a thread is a daemon, as far as that can be read. It may be called as [Sampler.Number].
func (s *Sampler) Daemon(tid int) bool {
	k := s.threads.known[tid]
	if k == nil || !k.listed {
		return false
	}
	s.threads.readDaemon(k)
	return k.daemon
}

// Inner is the number that a thread has in the target's own namespace of processes. It may be called as [Sampler.Number].
func (s *Sampler) Inner(tid int) int {
	if inner, ok := s.threads.outer[tid]; ok {
		return inner
	}
	return tid
}

// File is the source file of a method of a frame of this sampler's, "Cart.java"; "" if it is not known. It may be called
// as [Sampler.Number].
func (s *Sampler) File(m *stack.Method) string { return s.u.File(m) }

// Virtual reports whether the program has begun to use virtual threads. Those that are not mounted can't be seen from
// outside. It may be called as [Sampler.Number].
func (s *Sampler) Virtual() bool { return s.u.Virtual() }

// ReadsObjects reports whether Java's objects can be read, without which the locks of java.util.concurrent have
// no owner ([unwinder.Unwinder.Objects]). It may be called as [Sampler.Number].
func (s *Sampler) ReadsObjects() bool { return s.u.Objects() }
