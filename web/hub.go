package web

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// A Hub holds the clients of a [Server]. It never waits for one. Its methods may be
// called concurrently.
type Hub struct {
	mu      sync.Mutex
	clients map[*Client]struct{}
	closed  bool
	left    sync.WaitGroup
}

const maxClients = 64

var errFull = errors.New("64 pages are open already; close one")

func newHub() *Hub { return &Hub{clients: map[*Client]struct{}{}} }

// wake tells every client that there is something new.
func (h *Hub) wake() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.clients {
		select {
		case c.dirty <- struct{}{}:
		default: // it knows
		}
	}
}

// watched tells whether any client is there.
func (h *Hub) watched() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.clients) > 0
}

func (h *Hub) add(c *Client) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || len(h.clients) >= maxClients {
		return errFull
	}
	h.clients[c] = struct{}{}
	h.left.Add(1)
	return nil
}

func (h *Hub) remove(c *Client) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.clients, c)
	h.left.Done()
}

// close says goodbye to every client and waits until they are gone.
func (h *Hub) close() {
	h.mu.Lock()
	h.closed = true
	for c := range h.clients {
		c.end(websocket.CloseGoingAway, "rivulet has ended")
	}
	h.mu.Unlock()
	h.left.Wait()
}

var upgrader = websocket.Upgrader{
	HandshakeTimeout: 5 * time.Second,
	ReadBufferSize:   4 << 10,
	WriteBufferSize:  32 << 10,
	Subprotocols:     []string{protocol},
	CheckOrigin:      func(*http.Request) bool { return true }, // guard has looked
}

// connect makes a client of a connection and serves it until it goes away.
func (s *Server) connect(w http.ResponseWriter, r *http.Request) {
	c := &Client{hub: s.hub, live: s.live, log: s.log, dirty: make(chan struct{}, 1), queried: make(chan struct{}, 1), over: make(chan struct{})}
	if err := s.hub.add(c); err != nil {
		refuse(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	defer s.hub.remove(c)
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // it has been told
	}
	c.serve(conn)
}
