package web

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// TestStopIsPatient wants a stop that is under way to be carried through when who asked
// for it goes, as a terminal session does at its end, until patience is over.
func TestStopIsPatient(t *testing.T) {
	for _, test := range []struct {
		name string
		fail error
	}{{"it ends", nil}, {"it fails", errors.New("Foo could not be restored")}} {
		t.Run(test.name, func(t *testing.T) {
			f := newFake()
			finishing, finish := make(chan bool), make(chan bool)
			f.finishing = func(ctx context.Context) error {
				close(finishing)
				<-finish
				return errors.Join(test.fail, ctx.Err())
			}
			l := newLive(f, hclog.NewNullLogger(), func() {}, func() bool { return false })
			over, end := context.WithCancel(context.Background())
			ran := make(chan error, 1)
			go func() { ran <- l.Run(over, context.Background()) }()
			if err := errors.Join(l.Attach(t.Context(), 4711, 0), l.Start(t.Context(), Recording{Roots: []string{"a.B.c"}})); err != nil {
				t.Fatal(err)
			}
			ctx, leave := context.WithCancel(context.Background())
			stopped := make(chan error, 1)
			go func() { stopped <- l.Stop(ctx) }()
			<-finishing
			leave()
			end()
			select {
			case err := <-ran:
				t.Errorf("it has ended before the stop: %v", err)
			case <-time.After(100 * time.Millisecond):
			}
			close(finish)
			if err := <-stopped; !errors.Is(err, test.fail) || errors.Is(err, context.Canceled) {
				t.Errorf("stop: %v", err)
			}
			if err := <-ran; !errors.Is(err, test.fail) {
				t.Errorf("run: %v", err)
			}
			if kept := len(l.State().Snapshots); (kept == 1) != (test.fail == nil) {
				t.Errorf("%d snapshots", kept)
			}
		})
	}
}

// TestImpatient has a target that does not answer: what waits for it ends with
// patience, also what a client of the REST interface has asked for, and what begins
// at that late hour is refused.
func TestImpatient(t *testing.T) {
	for _, way := range []string{"it fails", "with a report", "deaf"} {
		f := newFake()
		begun, released := make(chan bool), make(chan bool)
		f.finishing = func(ctx context.Context) error {
			close(begun)
			if way == "deaf" {
				<-released
				return nil
			}
			<-ctx.Done()
			if way == "with a report" {
				return nil
			}
			return ctx.Err()
		}
		s, err := Listen("127.0.0.1:0", Config{Backend: f})
		if err != nil {
			t.Fatal(err)
		}
		over, end := context.WithCancel(context.Background())
		patience, lose := context.WithCancel(context.Background())
		ran := make(chan error, 1)
		go func() { ran <- s.Run(over, patience) }()
		s.call(t, "attach", `{"pid":4711}`)
		s.call(t, "start", `{"roots":["a.B.c"]}`)
		stopped := make(chan error, 1)
		go func() { stopped <- s.live.Stop(context.Background()) }()
		<-begun
		end()
		for late := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			s.live.mu.Lock()
			closing := s.live.closing
			s.live.mu.Unlock()
			if closing || time.Now().After(late) {
				break
			}
		}
		lose()
		select {
		case err := <-ran:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", way, err)
			}
		case <-time.After(time.Minute):
			t.Errorf("%s: it goes on for ever", way)
		}
		if log := fmt.Sprint(s.live.Log(0)); strings.Contains(log, "restored and detached") {
			t.Errorf("%s: %s", way, log)
		}
		close(released)
		<-stopped
		if err := s.live.Attach(context.Background(), 4711, 0); !errors.Is(err, ErrPhase) || !strings.Contains(err.Error(), "while Rivulet ends") {
			t.Errorf("%s: attached at the end: %v", way, err)
		}
	}
}
