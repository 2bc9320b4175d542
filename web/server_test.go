package web

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest/fakejvm"
	"github.com/rivulet-profiler/rivulet/controller/spec"
	"github.com/rivulet-profiler/rivulet/web/webtest"
)

// running is a server that answers, and that has ended when the test has.
func running(t *testing.T, f *fakejvm.JVM) *Server {
	t.Helper()
	s, err := Listen("127.0.0.1:0", Config{Backend: f})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx, context.Background()) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ran:
			if err != nil {
				t.Errorf("run: %v", err)
			}
		case <-time.After(5 * time.Minute):
			t.Error("the server does not end")
		}
	})
	return s
}

// keeping is a server with a folder for snapshots; it has ended when end returns.
func keeping(t *testing.T, dir string) (s *Server, end func()) {
	t.Helper()
	return keepingBy(t, fakejvm.New(), dir)
}

func keepingBy(t *testing.T, f live.Backend, dir string) (s *Server, end func()) {
	t.Helper()
	s, err := Listen("127.0.0.1:0", Config{Backend: f, Snapshots: dir})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx, context.Background()) }()
	return s, func() {
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	}
}

// call uses the REST interface and returns the status and the answer.
func (s *Server) call(t *testing.T, path, body string) (int, string) {
	t.Helper()
	status, b := webtest.Ask(t, "http://"+s.Address()+"/api/"+path, s.secret, []byte(body))
	return status, string(b)
}

// fresh reads a frame, and returns its number.
func (s *Server) fresh(ctx context.Context) (int64, error) {
	_, err := s.live.ReportNow(ctx)
	return s.live.State().Frame, err
}

// recorded is a client of a Live that records a JVM; nothing serves it.
func recorded(t *testing.T, f *fakejvm.JVM) *Client {
	t.Helper()
	l := live.New(live.Config{Backend: f, Watched: func() bool { return true }})
	if err := errors.Join(l.Attach(t.Context(), 4711, live.AttachOptions{}), l.Start(t.Context(), spec.Recording{Roots: []string{"a.B.c"}})); err != nil {
		t.Fatal(err)
	}
	return &Client{live: l, knows: map[int32]string{}, sent: map[string][]byte{}}
}
