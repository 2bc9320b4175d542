package sampler

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A waker waits on the thread that it is called on, which is cheaper than to go by the
// scheduler there and back for each batch.
type waker struct {
	fd   int // an eventfd, readable once the context has ended
	stop func() bool
	done chan struct{} // closed once it was written to
	fds  []unix.PollFd
}

func newWaker(ctx context.Context) (*waker, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("eventfd", err)
	}
	w := &waker{fd: fd, done: make(chan struct{})}
	w.stop = context.AfterFunc(ctx, func() {
		defer close(w.done)
		_, _ = unix.Write(fd, []byte{1, 0, 0, 0, 0, 0, 0, 0}) // it holds more than one
	})
	return w, nil
}

// wait waits for so long, or until the context has ended, or one of more descriptors is
// readable, or the process behind a pidfd has ended, which it reports.
func (w *waker) wait(pidfd int, d time.Duration, more []int) (gone bool) {
	fds := append(w.fds[:0], unix.PollFd{Fd: int32(w.fd), Events: unix.POLLIN}, unix.PollFd{Fd: int32(pidfd), Events: unix.POLLIN})
	for _, fd := range more {
		fds = append(fds, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	w.fds = fds
	t := unix.NsecToTimespec(d.Nanoseconds())
	n, err := unix.Ppoll(fds, &t, nil)
	return err == nil && n > 0 && fds[1].Revents != 0
}

func (w *waker) close() {
	if !w.stop() {
		<-w.done
	}
	unix.Close(w.fd)
}

// hurry gives this thread precedence, where that is allowed, until the function that it returns is
// called: rings hold some 60 ms of samples, and where all cores are busy it may wait for longer.
func hurry() func() {
	const first = -10 // nice
	before, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil || unix.Setpriority(unix.PRIO_PROCESS, 0, first) != nil {
		return func() {}
	}
	return func() { _ = unix.Setpriority(unix.PRIO_PROCESS, 0, 20-before) } // the system call's form
}
