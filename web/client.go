package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"github.com/hashicorp/go-hclog"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
)

const (
	// What a client sends is a Query, with four thousand open nodes at most.
	maxMessage = 64 << 10
	// A client that takes nothing for so long is given up.
	writeLimit = 20 * time.Second
	pingEvery  = 15 * time.Second
	pongLimit  = 40 * time.Second
	// updateEvery is the shortest time between two messages that the client
	// did not ask for, queryEvery between those that it did.
	updateEvery = 200 * time.Millisecond
	queryEvery  = 15 * time.Millisecond
)

// A Client is one WebSocket connection. One goroutine reads its queries, one writes what has
// changed of the answers. There is no queue between them and the recording: the writer takes
// the newest frame when it is ready to write.
type Client struct {
	hub     *Hub
	live    *live.Live
	log     hclog.Logger
	conn    *websocket.Conn
	dirty   chan struct{} // something is new
	queried chan struct{} // it looks at something else
	over    chan struct{} // closed when it is to go
	once    sync.Once
	code    int // why, written before over is closed
	reason  string

	mu    sync.Mutex
	query live.Query

	// The writer's own.
	knows   map[int32]string // methods whose names it has, with the place that it was told
	lastLog int64            // last entry of the log that it has
	sent    map[string][]byte
	kept    []byte // the list of snapshots that it has
	source  int64  // of the sections in sent
}

// end has the client go; the first reason counts.
func (c *Client) end(code int, reason string) {
	c.once.Do(func() {
		c.code, c.reason = code, reason
		close(c.over)
	})
}

// serve reads and writes until one of both ends.
func (c *Client) serve(conn *websocket.Conn) {
	c.conn = conn
	c.knows, c.sent = map[int32]string{}, map[string][]byte{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.write()
		conn.Close() // ends the reader
	}()
	c.read()
	c.end(websocket.CloseNormalClosure, "")
	<-done
}

func (c *Client) read() {
	c.conn.SetReadLimit(maxMessage)
	alive := func(string) error { return c.conn.SetReadDeadline(time.Now().Add(pongLimit)) }
	alive("") //nolint:errcheck // a connection without deadlines fails at the read
	c.conn.SetPongHandler(alive)
	for {
		kind, b, err := c.conn.ReadMessage()
		if err != nil {
			return
		}
		alive("") //nolint:errcheck // as above
		if kind != websocket.TextMessage {
			c.end(websocket.CloseUnsupportedData, "text messages only")
			return
		}
		q, err := live.ParseQuery(b)
		if err != nil {
			c.end(websocket.ClosePolicyViolation, clip(err.Error()))
			return
		}
		c.mu.Lock()
		c.query = *q
		c.mu.Unlock()
		select {
		case c.queried <- struct{}{}:
		default:
		}
	}
}

func (c *Client) write() {
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	var last time.Time
	for {
		pause := time.Duration(0)
		select {
		case <-c.over:
			c.goodbye()
			return
		case <-ping.C:
			if c.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeLimit)) != nil {
				return
			}
			continue
		case <-c.queried:
			pause = queryEvery
		case <-c.dirty:
			pause = updateEvery
		}
		if !c.rest(pause - time.Since(last)) {
			c.goodbye()
			return
		}
		for _, msg := range c.messages() {
			if c.conn.SetWriteDeadline(time.Now().Add(writeLimit)) != nil || c.conn.WriteMessage(websocket.TextMessage, msg) != nil {
				return
			}
		}
		last = time.Now()
	}
}

// rest waits, but not for who has just looked elsewhere; false when it is to go.
func (c *Client) rest(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.queried:
	case <-c.over:
		return false
	}
	return true
}

func (c *Client) goodbye() {
	text := websocket.FormatCloseMessage(c.code, c.reason)
	_ = c.conn.WriteControl(websocket.CloseMessage, text, time.Now().Add(time.Second)) // it may be gone
}

// messages are what the client lacks of the state and of what it looks at.
func (c *Client) messages() [][]byte {
	var out [][]byte
	state := c.state()
	c.mu.Lock()
	q := c.query
	c.mu.Unlock()
	answer := c.page(&q) // after the state: it is not older
	if state != nil {
		state.Page = answer != nil
		b, err := json.Marshal(state)
		if err != nil {
			c.log.Error("state", "error", err)
		} else {
			out = append(out, b)
		}
	}
	if answer != nil {
		out = append(out, answer)
	}
	return out
}

// A stateMessage has the state, and the entries of the log that are new.
type stateMessage struct {
	T     string          `json:"t"` // "state"
	State json.RawMessage `json:"state"`
	Log   []live.Entry    `json:"log"`
	Page  bool            `json:"page,omitempty"` // a page message follows, and both are shown at once
}

// state is nil if the client has all of it.
func (c *Client) state() *stateMessage {
	now := c.live.State()
	list := now.Snapshots // it may be long, and rarely changes
	now.Snapshots = nil
	state, err := json.Marshal(now)
	kept, err2 := json.Marshal(list)
	if err = errors.Join(err, err2); err != nil {
		c.log.Error("state", "error", err)
		return nil
	}
	entries := c.live.Entries(c.lastLog)
	same := bytes.Equal(c.kept, kept)
	if same && bytes.Equal(c.sent["state"], state) && len(entries) == 0 {
		return nil
	}
	c.sent["state"], c.kept = state, kept
	if !same {
		now.Snapshots = list
		if state, err = json.Marshal(now); err != nil {
			c.log.Error("state", "error", err)
			return nil
		}
	}
	if entries == nil {
		entries = []live.Entry{}
	} else if n := len(entries); n > 0 {
		c.lastLog = entries[n-1].Seq
	}
	return &stateMessage{T: "state", State: state, Log: entries}
}

// A page message has the sections that differ from those sent last.
type page struct {
	T       string          `json:"t"` // "page"
	Seq     int64           `json:"seq"`
	Source  int64           `json:"source"`
	Frame   int64           `json:"frame"` // 0 if there is nothing to see
	Names   [][]any         `json:"names,omitempty"`
	Figures json.RawMessage `json:"figures,omitempty"`
	Tree    json.RawMessage `json:"tree,omitempty"`
	Icicle  json.RawMessage `json:"icicle,omitempty"`
	Methods json.RawMessage `json:"methods,omitempty"`
	Around  json.RawMessage `json:"around,omitempty"`
	Threads json.RawMessage `json:"threads,omitempty"`
	Doubts  json.RawMessage `json:"doubts,omitempty"`
	Skipped json.RawMessage `json:"skipped,omitempty"`
	Slowest json.RawMessage `json:"slowest,omitempty"`
	Compare json.RawMessage `json:"compare,omitempty"`
	Brief   json.RawMessage `json:"brief,omitempty"`
	Halves  json.RawMessage `json:"sandwich,omitempty"`
	History json.RawMessage `json:"history,omitempty"`
}

// page draws what the client looks at; nil if it has all of that.
func (c *Client) page(q *live.Query) []byte {
	p := page{T: "page", Seq: q.Seq, Source: q.Source}
	view := c.live.View(q)
	p.Frame = view.Frame
	if view.Frame == 0 || c.source != q.Source { // it forgets the sections, too
		state := c.sent["state"]
		clear(c.sent)
		c.sent["state"], c.source = state, q.Source
	}
	changed := false
	for _, section := range []struct {
		name    string
		to      *json.RawMessage
		there   bool
		content any
	}{
		{"figures", &p.Figures, view.Figures != nil, view.Figures},
		{"tree", &p.Tree, view.Tree != nil, view.Tree},
		{"icicle", &p.Icicle, view.Icicle != nil, view.Icicle},
		{"methods", &p.Methods, view.Methods != nil, view.Methods},
		{"around", &p.Around, view.Around != nil, view.Around},
		{"threads", &p.Threads, view.Threads != nil, view.Threads},
		{"doubts", &p.Doubts, view.Uncertainty != nil, view.Uncertainty},
		{"skipped", &p.Skipped, view.Skipped != nil, view.Skipped},
		{"slowest", &p.Slowest, view.Slowest != nil, view.Slowest},
		{"brief", &p.Brief, view.Brief != nil, view.Brief},
		{"sandwich", &p.Halves, view.Sandwich != nil, view.Sandwich},
		{"history", &p.History, view.History != nil, view.History},
		{"compare", &p.Compare, view.Compare != nil, view.Compare},
	} {
		if !section.there {
			continue
		}
		b, err := json.Marshal(section.content)
		if err != nil {
			c.log.Error("page", "section", section.name, "error", err)
			continue
		}
		if !bytes.Equal(c.sent[section.name], b) {
			c.sent[section.name], *section.to, changed = b, b, true
		}
	}
	p.Names = c.news(&view)
	head, err := json.Marshal([3]int64{p.Seq, p.Source, p.Frame})
	if err != nil {
		return nil
	}
	if !changed && len(p.Names) == 0 && bytes.Equal(c.sent["head"], head) {
		return nil
	}
	c.sent["head"] = head
	b, err := json.Marshal(p)
	if err != nil {
		c.log.Error("page", "error", err)
		return nil
	}
	return b
}

// news are the names of methods that the client does not have yet: [number, name, loader,
// place].
func (c *Client) news(view *live.View) [][]any {
	var out [][]any
	for _, number := range view.Mentioned() {
		n := int32(number)
		if n == 0 {
			continue
		}
		m := view.Method(n)
		place := export.Clean(m.Place())
		if told, ok := c.knows[n]; ok && told == place {
			continue
		}
		c.knows[n] = place
		name := []any{n, m.Name, m.Loader}
		if place != "" {
			name = append(name, place)
		}
		out = append(out, name)
	}
	return out
}
