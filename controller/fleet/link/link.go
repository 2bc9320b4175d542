package link

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rivulet-profiler/rivulet/controller/fleet"
)

// A Link is a connection to a broker. Several goroutines may use it at a time.
type Link struct {
	Key *Key

	nc *nats.Conn
	js jetstream.JetStream

	mu      sync.Mutex
	waiting map[string]map[*context.CancelCauseFunc]bool // publishers, by subject: the broker says beside a request that it refuses it
	stores  map[string]jetstream.ObjectStore
}

// Options say how to connect.
type Options struct {
	Name string // shown by the broker's own tools
	// Wait has Dial return at once, and connect in the background for as long as it
	// takes; otherwise a broker that can't be reached is an error.
	Wait bool
	// Say, where it isn't nil, is told when the connection is lost and when it is back.
	Say func(text string)
	// InProcess, where it isn't nil, is used instead of the network.
	InProcess nats.InProcessConnProvider
}

// ErrRefused is what the broker does not let somebody do.
var ErrRefused = errors.New("the broker refuses it")

// Dial connects. The error says whether the broker can't be reached, its certificate is
// not one of the key's, or the token is not one of its own.
func Dial(k *Key, o Options) (*Link, error) {
	l := &Link{Key: k, waiting: map[string]map[*context.CancelCauseFunc]bool{}, stores: map[string]jetstream.ObjectStore{}}
	say := o.Say
	if say == nil {
		say = func(string) {}
	}
	options := []nats.Option{
		nats.Name(o.Name),
		nats.CustomInboxPrefix(fleet.Inbox(k.User)),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(500 * time.Millisecond), nats.ReconnectJitter(300*time.Millisecond, 300*time.Millisecond),
		nats.Timeout(5 * time.Second), nats.PingInterval(10 * time.Second), nats.MaxPingsOutstanding(2),
		nats.ReconnectBufSize(1 << 20),
		nats.IgnoreAuthErrorAbort(), // a broker that starts may not know its users yet
		nats.RetryOnFailedConnect(o.Wait),
		nats.ErrorHandler(l.asyncError),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				say("the connection to the broker is lost: " + err.Error())
			}
		}),
		nats.ReconnectHandler(func(c *nats.Conn) {
			l.tryAgain()
			say("connected to " + c.ConnectedUrlRedacted())
		}),
		nats.ConnectHandler(func(c *nats.Conn) { say("connected to " + c.ConnectedUrlRedacted()) }),
	}
	if o.InProcess != nil {
		options = append(options, nats.InProcessServer(o.InProcess))
	}
	if k.Creds != "" {
		options = append(options, nats.UserCredentials(k.Creds))
	} else {
		options = append(options, nats.UserInfo(k.User, k.Token))
	}
	switch {
	case k.CAFile != "":
		options = append(options, nats.RootCAs(k.CAFile))
	case k.CA != "":
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM([]byte(k.CA)) {
			return nil, fmt.Errorf("%w: its certificate can't be read", ErrKey)
		}
		options = append(options, nats.Secure(&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}))
	}
	nc, err := nats.Connect(k.URL, options...)
	if err != nil {
		return nil, explain(k.URL, err)
	}
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(5*time.Second))
	if err != nil {
		nc.Close()
		return nil, err
	}
	l.nc, l.js = nc, js
	return l, nil
}

// explain says what to do about a broker that can't be used.
func explain(url string, err error) error {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var refused net.Error
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired):
		return fmt.Errorf("%s does not know this user or token: take the key file that its hub has written: %w", url, err)
	case errors.As(err, &unknown):
		return fmt.Errorf("%s shows a certificate that this key does not know: the key is of another hub, or somebody is in between: %w", url, err)
	case errors.As(err, &host):
		return fmt.Errorf("%s is not a name that the hub's certificate has: start the hub with --name of this host: %w", url, err)
	case errors.Is(err, nats.ErrNoServers), errors.As(err, &refused):
		return fmt.Errorf("no broker answers at %s: is rivulet hub running there, and may this host reach it? %w", url, err)
	}
	return fmt.Errorf("%s: %w", url, err)
}

// asyncError ends requests that the broker refuses, which NATS says beside them.
func (l *Link) asyncError(_ *nats.Conn, _ *nats.Subscription, err error) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return
	}
	if _, after, ok := strings.Cut(err.Error(), `"`); ok {
		subject, _, _ := strings.Cut(after, `"`)
		l.mu.Lock()
		defer l.mu.Unlock()
		for cancel := range l.waiting[subject] {
			(*cancel)(fmt.Errorf("%w: %s may not publish to %s", ErrRefused, l.Key.User, subject))
		}
	}
}

// errLost is a request whose answer went with the connection.
var errLost = errors.New("the connection was lost meanwhile")

// tryAgain ends requests of a connection before this one.
func (l *Link) tryAgain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, all := range l.waiting {
		for cancel := range all {
			(*cancel)(errLost)
		}
	}
}

// refusable is a context that ends if the broker refuses a subject, with that as its cause.
func (l *Link) refusable(ctx context.Context, subject string) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting[subject] == nil {
		l.waiting[subject] = map[*context.CancelCauseFunc]bool{}
	}
	l.waiting[subject][&cancel] = true
	return ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if delete(l.waiting[subject], &cancel); len(l.waiting[subject]) == 0 {
			delete(l.waiting, subject)
		}
		cancel(nil)
	}
}

// Close ends the connection. What was published before arrives.
func (l *Link) Close() {
	if l.nc.IsConnected() {
		_ = l.nc.FlushTimeout(2 * time.Second) // the broker may go just now
	}
	l.nc.Close()
}

// pauses between attempts to publish.
const (
	shortestPause = 200 * time.Millisecond
	longestPause  = 5 * time.Second
)

// keep publishes a message to a stream until the broker has it, ctx is done, or it is
// refused. say, where it isn't nil, is told once why it takes long.
func (l *Link) keep(ctx context.Context, subject, id string, data []byte, say func(string)) error {
	return l.again(ctx, say, func() error {
		allowed, end := l.refusable(ctx, subject)
		defer end()
		one, cancel := context.WithTimeout(allowed, answerWithin)
		defer cancel()
		_, err := l.js.Publish(one, subject, data, jetstream.WithMsgID(id), jetstream.WithRetryAttempts(0))
		if cause := context.Cause(allowed); err != nil && errors.Is(cause, ErrRefused) {
			return cause
		}
		return err
	})
}

// again tries something until it is done, ctx is, or it is refused.
func (l *Link) again(ctx context.Context, say func(string), try func() error) error {
	pause, said := shortestPause, false
	for {
		err := try()
		if err == nil || errors.Is(err, ErrRefused) {
			return err
		}
		if full := isFull(err); say != nil && !said && (full || pause > time.Second) {
			said = true
			say(map[bool]string{true: "the broker's disk is full, so results wait here: ", false: "the broker does not take it yet: "}[full] + err.Error())
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-time.After(pause):
		}
		pause = min(2*pause, longestPause)
	}
}

// isFull tells whether a stream has no room left.
func isFull(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == 10077 || api.ErrorCode == 10047 || api.ErrorCode == 10023) // maximum bytes; no storage
}
