package web

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest/fakejvm"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// A message is what tests read of the server's messages.
type message struct {
	T     string
	Seq   int64
	Frame int64
	Names [][3]any
	Tree  *live.TreeView
	State *live.State
	Page  bool
}

func next(t *testing.T, c *websocket.Conn, want func(message) bool) message {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(5 * time.Minute))
	for {
		_, b, err := c.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		var m message
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		if want(m) {
			return m
		}
	}
}

// TestSlowClient has one client that never reads, and wants the other to get
// every new state, and nobody to wait.
func TestSlowClient(t *testing.T) {
	f := fakejvm.New()
	size := int32(0)
	f.Tree = func() *cct.Snapshot {
		size += 10
		wide := livetest.Node(1, int64(size), 0)
		for i := range int32(400) {
			wide.Children = append(wide.Children, livetest.Node(1000+400*size+i, 1, 1)) // new names each time
		}
		return livetest.Snapshot(wide)
	}
	s := running(t, f)
	ctx := context.Background()
	if err := s.live.Attach(ctx, 4711, live.AttachOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := s.live.Start(ctx, spec.Recording{Roots: []string{"a.B.c"}}); err != nil {
		t.Fatal(err)
	}
	q := []byte(`{"seq":1,"tree":{"rows":400,"open":[1]},"icicle":{"width":4000,"depth":9}}`)
	slow, _ := s.dial(t, s.secret, "")
	if err := slow.NetConn().(*net.TCPConn).SetReadBuffer(8 << 10); err != nil {
		t.Fatal(err)
	}
	if err := slow.WriteMessage(websocket.TextMessage, q); err != nil {
		t.Fatal(err)
	}
	fast, _ := s.dial(t, s.secret, "")
	if err := fast.WriteMessage(websocket.TextMessage, q); err != nil {
		t.Fatal(err)
	}
	var last int64
	for range 20 {
		frame, err := s.fresh(ctx) // returns though a client does not read
		if err != nil {
			t.Fatal(err)
		}
		m := next(t, fast, func(m message) bool { return m.T == "page" && m.Frame >= frame })
		if m.Frame <= last {
			t.Errorf("frame %d after %d", m.Frame, last)
		}
		last = m.Frame
	}
	// The slow one may come back: it gets what is current, not all that it missed.
	frame, _ := s.fresh(ctx)
	pages := 0
	next(t, slow, func(m message) bool {
		if m.T == "page" {
			pages++
		}
		return m.Frame >= frame
	})
	if pages > 15 {
		t.Errorf("the slow client got %d pages for 21 frames", pages)
	}
}

// TestStateWithPage wants the state that says that a recording has stopped to come with the
// page of that recording's last frame, and to say so.
func TestStateWithPage(t *testing.T) {
	s := running(t, fakejvm.New())
	ctx := context.Background()
	if err := s.live.Attach(ctx, 4711, live.AttachOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := s.live.Start(ctx, spec.Recording{Roots: []string{"a.B.c"}}); err != nil {
		t.Fatal(err)
	}
	frame, err := s.fresh(ctx)
	if err != nil {
		t.Fatal(err)
	}
	c, _ := s.dial(t, s.secret, "")
	if err := c.WriteMessage(websocket.TextMessage, []byte(`{"seq":1,"tree":{"rows":10}}`)); err != nil {
		t.Fatal(err)
	}
	next(t, c, func(m message) bool { return m.T == "page" && m.Frame >= frame })
	if err := s.live.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	last, held := frame, false // frame that was sent last; a page has to follow
	next(t, c, func(m message) bool {
		if m.T == "page" {
			last = m.Frame
		}
		if held {
			if m.T != "page" {
				t.Errorf("a %s message after a state with a page", m.T)
			}
			return true
		}
		if m.T != "state" || m.State.Phase != live.Stopped {
			return false
		}
		held = m.Page
		return !held // its last frame has been sent before
	})
	if want := s.live.View(&live.Query{Seq: 1}).Frame; last != want {
		t.Errorf("stopped with frame %d, the last is %d", last, want)
	}
}

func TestTooManyClients(t *testing.T) {
	s := running(t, fakejvm.New())
	for range maxClients {
		if _, code := s.dial(t, s.secret, ""); code != 101 {
			t.Fatalf("refused: %d", code)
		}
	}
	if _, code := s.dial(t, s.secret, ""); code != http.StatusServiceUnavailable {
		t.Errorf("one too many: %d", code)
	}
}

// TestReconnect wants a second connection to be told everything anew, under
// the same numbers.
func TestReconnect(t *testing.T) {
	f := fakejvm.New()
	s := running(t, f)
	ctx := context.Background()
	s.live.Attach(ctx, 4711, live.AttachOptions{})
	s.live.Start(ctx, spec.Recording{Roots: []string{"a.B.c"}})
	s.fresh(ctx)
	var first message
	for i := range 2 {
		c, _ := s.dial(t, s.secret, "")
		c.WriteMessage(websocket.TextMessage, []byte(`{"seq":7,"tree":{"rows":10,"open":[1]}}`))
		m := next(t, c, func(m message) bool { return m.Tree != nil && m.Seq == 7 })
		if len(m.Tree.Rows) != 2 && i > 0 || len(m.Names) == 0 {
			t.Errorf("connection %d: %+v", i, m)
		}
		if i == 0 {
			first = m
		} else if m.Tree.Rows[0] != withOpen(first.Tree.Rows[0]) {
			t.Errorf("%v, before %v", m.Tree.Rows[0], first.Tree.Rows[0])
		}
		c.Close()
	}
}

func withOpen(r live.Row) live.Row { r[3] |= 1; return r }

// TestGoodbye wants clients to be told when the server ends.
func TestGoodbye(t *testing.T) {
	s, err := Listen("127.0.0.1:0", Config{Backend: fakejvm.New()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx, context.Background()) }()
	c, _ := s.dial(t, s.secret, "")
	cancel()
	for {
		if _, _, err = c.ReadMessage(); err != nil {
			break
		}
	}
	if !websocket.IsCloseError(err, websocket.CloseGoingAway) {
		t.Error(err)
	}
	if err := <-ran; err != nil {
		t.Error(err)
	}
}
