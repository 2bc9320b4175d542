package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// An interrupts turns signals into an orderly way out: the first ends what is
// being done and lets it detach and report, the second no longer waits for
// the target.
type interrupts struct {
	first  context.Context // done at the first signal
	second context.Context // done at the second one
	got    chan os.Signal  // gets the first
	stop   func()
}

// Ctrl-C, kill, and a terminal that went away.
var endSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

func watchInterrupts() *interrupts {
	first, endFirst := context.WithCancel(context.Background())
	second, endSecond := context.WithCancel(context.Background())
	in := &interrupts{first: first, second: second, got: make(chan os.Signal, 1)}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, endSignals...)
	// A reader of our output that has gone must not end us with the target
	// still instrumented: with a handler, writing fails and nothing more.
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case s := <-signals:
				if first.Err() != nil {
					endSecond()
					continue
				}
				in.got <- s
				endFirst()
			case <-quit:
				return
			}
		}
	}()
	in.stop = func() {
		signal.Stop(signals)
		signal.Stop(pipe)
		close(quit)
		<-done
		endFirst()
		endSecond()
	}
	return in
}
