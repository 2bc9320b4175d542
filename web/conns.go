package web

import (
	"container/list"
	"context"
	"net"
	"sync"
)

// connBuffer is how many bytes the kernel may hold for a client that does not
// read: what it reads later is the older, the more there is.
const connBuffer = 128 << 10

// A limited listener has so many connections open at the most, so that they cost
// neither memory nor descriptors. When all places are taken, a new connection gets that of the
// oldest one that has not shown the secret: other users of the machine, who can reach the port,
// can't keep out whoever knows the secret. Where all have shown it, the new one is closed.
type limited struct {
	net.Listener
	most int

	mu      sync.Mutex
	n       int
	strange *list.List // of *counted that have not shown the secret, oldest first
}

func limit(l net.Listener, most int) *limited {
	return &limited{Listener: l, most: most, strange: list.New()}
}

func (l *limited) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if tcp, ok := c.(*net.TCPConn); ok {
			tcp.SetWriteBuffer(connBuffer) //nolint:errcheck // then it has the system's
		}
		if k := l.take(c); k != nil {
			return k, nil
		}
		c.Close()
	}
}

// take finds a place for a connection, nil if there is none.
func (l *limited) take(c net.Conn) *counted {
	l.mu.Lock()
	var oldest *counted
	if l.n >= l.most {
		e := l.strange.Front()
		if e == nil {
			l.mu.Unlock()
			return nil
		}
		oldest = e.Value.(*counted)
		l.forget(oldest)
	}
	k := &counted{Conn: c, of: l}
	k.at = l.strange.PushBack(k)
	l.n++
	l.mu.Unlock()
	if oldest != nil {
		oldest.Conn.Close()
	}
	return k
}

// forget frees a connection's place. The mutex is held.
func (l *limited) forget(k *counted) {
	l.admit(k)
	if !k.gone {
		k.gone = true
		l.n--
	}
}

// admit keeps a connection, which has shown the secret. The mutex is held.
func (l *limited) admit(k *counted) {
	if k.at != nil {
		l.strange.Remove(k.at)
		k.at = nil
	}
}

// A counted connection gives its place back when it is closed.
type counted struct {
	net.Conn
	of   *limited
	at   *list.Element // among the strange ones; of's mutex guards it
	gone bool          // likewise
}

func (c *counted) Close() error {
	c.of.mu.Lock()
	c.of.forget(c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

type connKey struct{}

// withConn lets requests find their connection.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// admit keeps the connection of a request that has shown the secret.
func admit(ctx context.Context) {
	if c, ok := ctx.Value(connKey{}).(*counted); ok {
		c.of.mu.Lock()
		c.of.admit(c)
		c.of.mu.Unlock()
	}
}
