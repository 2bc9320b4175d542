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

// wait waits for so long, or until the context has ended, or the process behind a pidfd, which
// it reports.
func (w *waker) wait(pidfd int, d time.Duration) (gone bool) {
	fds := []unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLIN}, {Fd: int32(pidfd), Events: unix.POLLIN}}
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
