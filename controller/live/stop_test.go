package live_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest/fakejvm"
)

// TestStopIsPatient wants a stop that is under way to be carried through when who asked
// for it goes, as a terminal session does at its end, until grace is over.
func TestStopIsPatient(t *testing.T) {
	for _, test := range []struct {
		name string
		fail error
	}{{"it ends", nil}, {"it fails", errors.New("Foo could not be restored")}} {
		t.Run(test.name, func(t *testing.T) {
			f := fakejvm.New()
			finishing, finish := make(chan bool), make(chan bool)
			f.Finishing = func(ctx context.Context) error {
				close(finishing)
				<-finish
				return errors.Join(test.fail, ctx.Err())
			}
			l := live.New(live.Config{Backend: f})
			over, end := context.WithCancel(context.Background())
			ran := make(chan error, 1)
			go func() { ran <- l.Run(over, context.Background()) }()
			record(t, l)
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
// grace, also what somebody else has asked for, and what begins
// at that late hour is refused.
func TestImpatient(t *testing.T) {
	for _, way := range []string{"it fails", "with a report", "deaf"} {
		f := fakejvm.New()
		begun, released := make(chan bool), make(chan bool)
		f.Finishing = func(ctx context.Context) error {
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
		l := live.New(live.Config{Backend: f})
		over, end := context.WithCancel(context.Background())
		grace, lose := context.WithCancel(context.Background())
		ran := make(chan error, 1)
		go func() { ran <- l.Run(over, grace) }()
		record(t, l)
		stopped := make(chan error, 1)
		go func() { stopped <- l.Stop(context.Background()) }()
		<-begun
		end()
		for late := time.Now().Add(5 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
			if l.Closing() || time.Now().After(late) {
				break
			}
		}
		lose()
		select {
		case err := <-ran:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", way, err)
			}
		case <-time.After(5 * time.Minute):
			t.Errorf("%s: it goes on for ever", way)
		}
		if log := fmt.Sprint(l.Entries(0)); strings.Contains(log, "restored and detached") {
			t.Errorf("%s: %s", way, log)
		}
		close(released)
		<-stopped
		if err := l.Attach(context.Background(), 4711, live.AttachOptions{}); !errors.Is(err, live.ErrPhase) || !strings.Contains(err.Error(), "while Rivulet ends") {
			t.Errorf("%s: attached at the end: %v", way, err)
		}
	}
}
