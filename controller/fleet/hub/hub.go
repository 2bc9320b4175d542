// Package hub is a broker for a small fleet: a nats-server in this process, with JetStream
// on disk, TLS and tokens.
//
// All that it keeps is in one folder: its certificate authority, who may use it, and the
// streams. The first start makes all of it. For larger fleets use a cluster of nats-servers.
//
// Where a function names no kind, its errors are those of files.
package hub

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/fleet/link"
)

// Config says how a hub runs.
type Config struct {
	Dir     string
	Listen  string   // ADDRESS:PORT
	Names   []string // that others reach it by, beside those that it finds; the first is in keys
	Limits  link.Limits
	Cert    string // file of a certificate of one's own; "" has one made
	CertKey string
	Version string
	Say     func(text string)
}

// A Hub is one that runs.
type Hub struct {
	URL string // for keys
	CA  []byte // PEM; nil with a certificate of one's own

	c        Config
	s        *server.Server
	register *register
	admin    string // token of this process
	lock     *os.File
	link     *link.Link
}

// adminName is who this process is for its own server.
const adminName = "hub"

// ErrRunning is a folder that another hub uses.
var ErrRunning = errors.New("another hub uses this folder")

// Open starts a hub. The error names a port that is taken, and [ErrRunning].
func Open(ctx context.Context, c Config) (*Hub, error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, err
	}
	h := &Hub{c: c, register: &register{dir: c.Dir}, admin: NewToken()}
	var err error
	if h.lock, err = os.OpenFile(filepath.Join(c.Dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, err
	}
	if err := unix.Flock(int(h.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		h.lock.Close()
		return nil, fmt.Errorf("%s: %w: give each its own --dir and --listen", c.Dir, ErrRunning)
	}
	if err := h.start(ctx); err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

func (h *Hub) start(ctx context.Context) error {
	c := &h.c
	host, portText, err := net.SplitHostPort(c.Listen)
	port, wrong := strconv.Atoi(portText)
	if err != nil || wrong != nil {
		return fmt.Errorf("--listen %q: give ADDRESS:PORT, such as :4222", c.Listen)
	}
	// The server ends the process if it can't listen.
	probe, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", c.Listen, err)
	}
	if port == 0 {
		port = probe.Addr().(*net.TCPAddr).Port
	}
	probe.Close()
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	names := append(slices.Clone(c.Names), ownNames()...)
	if c.Cert != "" {
		pair, err := tls.LoadX509KeyPair(c.Cert, c.CertKey)
		if err != nil {
			return err
		}
		config.Certificates = []tls.Certificate{pair}
	} else {
		a, err := openAuthority(c.Dir)
		if err != nil {
			return err
		}
		pair, err := a.issue(names)
		if err != nil {
			return err
		}
		config.Certificates, h.CA = []tls.Certificate{pair}, a.pem
	}
	h.URL = "tls://" + net.JoinHostPort(names[0], strconv.Itoa(port))
	if err := changeUsers(c.Dir, func(u []User) ([]User, error) { return u, nil }); err != nil {
		return err
	}
	if _, err := h.register.refresh(); err != nil {
		return err
	}
	o := &server.Options{
		ServerName: "rivulet-hub", Host: host, Port: port, NoSigs: true, NoLog: true,
		TLSConfig: config, TLS: true, TLSTimeout: 5, AuthTimeout: 10,
		JetStream: true, StoreDir: filepath.Join(c.Dir, "kept"), JetStreamMaxStore: c.Limits.Disk, JetStreamMaxMemory: 64 << 20,
		SyncInterval: time.Second, DisableJetStreamBanner: true,
		CustomClientAuthentication: h, PingInterval: 20 * time.Second, MaxPingsOut: 2,
	}
	if h.s, err = server.NewServer(o); err != nil {
		return err
	}
	h.s.SetLoggerV2(logger{c.Say}, false, false, false)
	go h.s.Start()
	if !h.s.ReadyForConnections(30 * time.Second) {
		return fmt.Errorf("the server does not begin: is %s whole?", filepath.Join(c.Dir, "kept"))
	}
	if h.link, err = link.Dial(&link.Key{User: adminName, Token: h.admin}, link.Options{Name: "hub", InProcess: h.s}); err != nil {
		return err
	}
	return h.link.Setup(ctx, c.Limits)
}

// Key completes a key of this hub.
func (h *Hub) Key(k *link.Key) *link.Key {
	k.URL, k.CA = h.URL, string(h.CA)
	return k
}

// Check implements server.Authentication: who shows a user's token may do what the
// user's role allows.
func (h *Hub) Check(c server.ClientAuthentication) bool {
	o := c.GetOpts()
	if o.Username == adminName && o.Password == h.admin {
		c.RegisterUser(&server.User{Username: adminName})
		return true
	}
	u, ok := h.register.find(o.Username, o.Password)
	if !ok {
		if _, err := h.register.refresh(); err != nil { // added just now
			return false
		}
		if u, ok = h.register.find(o.Username, o.Password); !ok {
			return false
		}
	}
	g := fleet.GrantOf(u.Name, u.Role, u.Node)
	p := &server.Permissions{Publish: &server.SubjectPermission{Allow: g.Publish}, Subscribe: &server.SubjectPermission{Allow: g.Subscribe}}
	if g.Respond {
		p.Response = &server.ResponsePermission{MaxMsgs: 1, Expires: time.Minute}
	}
	c.RegisterUser(&server.User{Username: u.Name, Permissions: p})
	return true
}

// Run ends connections of users that were removed, until ctx is done.
func (h *Hub) Run(ctx context.Context) {
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		gone, err := h.register.refresh()
		if err != nil {
			h.c.Say("who may use the hub can't be read: " + err.Error())
			continue
		}
		for _, name := range gone {
			h.c.Say("ending the connections of " + name)
			h.disconnect(name)
		}
	}
}

// disconnect ends all connections of a user.
func (h *Hub) disconnect(user string) {
	z, err := h.s.Connz(&server.ConnzOptions{Username: true, User: user, Limit: 1 << 16})
	if err != nil {
		h.c.Say("connections can't be listed: " + err.Error())
		return
	}
	for _, c := range z.Conns {
		_ = h.s.DisconnectClientByID(c.Cid) // it has gone meanwhile
	}
}

// Close ends the hub. What it keeps stays.
func (h *Hub) Close() {
	if h.link != nil {
		h.link.Close()
	}
	if h.s != nil {
		h.s.Shutdown()
		h.s.WaitForShutdown()
	}
	h.lock.Close()
}

// A logger has the server's messages.
type logger struct{ say func(string) }

func (l logger) Noticef(string, ...any)            {}
func (l logger) Warnf(format string, args ...any)  { l.say(fmt.Sprintf(format, args...)) }
func (l logger) Fatalf(format string, args ...any) { l.say(fmt.Sprintf(format, args...)) }
func (l logger) Errorf(format string, args ...any) { l.say(fmt.Sprintf(format, args...)) }
func (l logger) Debugf(string, ...any)             {}
func (l logger) Tracef(format string, args ...any) {}
