package kube

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/fleet"
)

// working is a cluster whose worker is a function of this process.
func working(lost time.Duration, work func(w *Worker)) *local {
	return &local{own: func(ctx context.Context, s Streams, _ []string) (bool, error) {
		w, err := Serve(ctx, s.In, s.Out, lost)
		if err != nil {
			return true, err
		}
		work(w)
		return true, nil
	}}
}

// heard keeps what comes, in order.
type heard struct{ all []string }

func (h *heard) to() Heard {
	return Heard{
		JVMs:   func(l []fleet.JVM) { h.all = append(h.all, "jvms "+l[0].Main) },
		State:  func(p fleet.Progress) { h.all = append(h.all, p.State) },
		Part:   func(r *fleet.Result) { h.all = append(h.all, "part "+string(r.Report)) },
		Result: func(r *fleet.Result) { h.all = append(h.all, "result "+string(r.Report)+r.Error) },
	}
}

func (h *heard) text() string { return strings.Join(h.all, ", ") }

// TestTalk has a worker that says everything that can be said, and is told to stop.
func TestTalk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := working(Lost, func(w *Worker) {
			if w.Request.Command.Do != "profile" || !w.Request.All {
				t.Errorf("%+v", w.Request)
			}
			w.JVMs([]fleet.JVM{{PID: 1, Main: "shop.Orders"}})
			w.State(fleet.Progress{State: fleet.StateRecording})
			one, two := fleet.Target{PID: 1}, fleet.Target{PID: 2}
			_ = w.Part(fleet.Head{Target: one}, []byte("half"))
			<-w.First.Done() // kept alive for ten minutes before
			if err := context.Cause(w.First); !errors.Is(err, context.Canceled) || w.Second.Err() != nil {
				t.Errorf("first %v, second %v", err, w.Second.Err())
			}
			_ = w.Result(fleet.Head{Target: one}, []byte("whole"))
			_ = w.Result(fleet.Head{Target: two, Error: "no such class"}, nil)
		})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		h := &heard{}
		err := Talk(ctx, t.Context(), c, here, &Request{Command: fleet.Command{Do: "profile"}, All: true}, []string{"x"}, h.to())
		if want := "jvms shop.Orders, recording, part half, result whole, result no such class"; err != nil || h.text() != want {
			t.Errorf("%v: %s", err, h.text())
		}
		time.Sleep(time.Hour) // whatever still runs ends
	})
}

// TestQuit does not wait for a worker that hangs.
func TestQuit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never := make(chan struct{})
		defer close(never)
		c := &local{own: func(ctx context.Context, _ Streams, _ []string) (bool, error) {
			<-ctx.Done()
			return true, context.Cause(ctx)
		}}
		now, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begun := time.Now()
		err := Talk(now, now, c, here, &Request{}, []string{"x"}, (&heard{}).to())
		if took := time.Since(begun); checkOf(err) != CheckConnection || took != time.Minute+quitWait {
			t.Errorf("%v after %v", err, took)
		}
	})
}

// TestLost has workers whose other end goes: by the end of their input, and without a word.
func TestLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, closed := range []bool{true, false} {
			in, out := io.Pipe()
			go func() {
				_, _ = io.WriteString(out, "{}\n")
				if closed {
					time.Sleep(time.Second)
					out.Close()
				}
			}()
			ctx, cancel := context.WithCancel(t.Context())
			w, err := Serve(ctx, in, io.Discard, Lost)
			if err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			<-w.First.Done()
			want := map[bool]time.Duration{true: time.Second, false: Lost}[closed]
			if took := time.Since(begun); took != want || !errors.Is(context.Cause(w.First), ErrSilent) {
				t.Errorf("closed %v: %v after %v", closed, context.Cause(w.First), took)
			}
			cancel()
			out.Close()
			synctest.Wait()
		}
	})
}

// TestWorkerFails says what ended a worker.
func TestWorkerFails(t *testing.T) {
	for _, one := range []struct {
		write string
		end   error
		check string
		says  string
	}{
		{"", &ExitError{126}, CheckPlace, "may not be executed"},
		{"", &ExitError{127}, CheckBinary, "no Rivulet"},
		{"", &ExitError{137}, CheckMemory, "killed"},
		{"", &ExitError{2}, "", "code 2"},
		{"", errorText("EOF"), CheckConnection, "was lost"},
		{"hello\n", nil, CheckConnection, `no frame: "hello\n"`},
		{"result 99999999999\n", nil, CheckConnection, "no frame"},
		{"result 100\nx", nil, CheckConnection, "1 bytes of 100"},
		{"song 1\nx", nil, CheckConnection, "song"},
	} {
		c := &local{own: func(_ context.Context, s Streams, _ []string) (bool, error) {
			_, _ = io.WriteString(s.Out, one.write)
			return true, one.end
		}}
		err := Talk(t.Context(), t.Context(), c, here, &Request{}, []string{"x"}, (&heard{}).to())
		if err == nil || checkOf(err) != one.check || !strings.Contains(err.Error(), one.says) {
			t.Errorf("%q, %v: %v", one.write, one.end, err)
		}
	}
	c := working(Lost, func(w *Worker) { w.Fail(&Error{Check: CheckJVM, Cause: "two JVMs", Fix: "choose"}) })
	err := Talk(t.Context(), t.Context(), c, here, &Request{}, []string{"x"}, (&heard{}).to())
	if checkOf(err) != CheckJVM || err.Error() != "two JVMs; choose" {
		t.Error(err)
	}
}

// FuzzFrames reads frames of anybody.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("state 2\n{}alive 0\njvms 2\n[]failed 2\n{}"))
	f.Add([]byte("result 12\n{\"schema\":1}\n"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		h := Heard{JVMs: func([]fleet.JVM) {}, State: func(fleet.Progress) {}, Part: func(*fleet.Result) {}, Result: func(*fleet.Result) {}}
		_ = h.listen(strings.NewReader(string(b)))
	})
}

// TestTwice: a process has one result, whatever its worker says.
func TestTwice(t *testing.T) {
	one := fleet.Head{Target: fleet.Target{PID: 1}}
	for _, again := range []func(w *Worker) error{
		func(w *Worker) error { return w.Result(one, []byte("again")) },
		func(w *Worker) error { return w.Part(one, []byte("again")) },
	} {
		c := working(Lost, func(w *Worker) {
			_ = w.Result(one, []byte("whole"))
			_ = again(w)
		})
		h := &heard{}
		err := Talk(t.Context(), t.Context(), c, here, &Request{}, []string{"x"}, h.to())
		if h.text() != "result whole" || checkOf(err) != CheckConnection {
			t.Errorf("%v: %s", err, h.text())
		}
	}
}

// TestRoom: what many workers send has a bound together. A part gives its room to the next one of the same process.
func TestRoom(t *testing.T) {
	big := make([]byte, 100_000)
	rand.Read(big)
	room := NewRoom(250_000)
	talk := func(work func(w *Worker)) (string, error) {
		h := &heard{}
		to := h.to()
		to.Part = func(*fleet.Result) { h.all = append(h.all, "part") }
		to.Result = func(*fleet.Result) { h.all = append(h.all, "result") }
		to.Room = room
		err := Talk(t.Context(), t.Context(), working(Lost, work), here, &Request{}, []string{"x"}, to)
		return h.text(), err
	}
	head := func(pid int) fleet.Head { return fleet.Head{Target: fleet.Target{PID: pid}} }
	got, err := talk(func(w *Worker) {
		for range 5 {
			_ = w.Part(head(1), big)
		}
		_ = w.Result(head(1), big)
	})
	if want := "part, part, part, part, part, result"; err != nil || got != want {
		t.Fatalf("%v: %s", err, got)
	}
	got, err = talk(func(w *Worker) { _ = w.Result(head(1), big); _ = w.Result(head(2), big) })
	if got != "result" || checkOf(err) != CheckMemory || !errors.Is(err, ErrRoom) {
		t.Errorf("%v: %s", err, got)
	}
	if got, err = talk(func(w *Worker) { _ = w.Result(head(1), []byte("small")) }); err != nil || got != "result" {
		t.Errorf("%v: %s", err, got)
	}
}
