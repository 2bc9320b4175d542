package web

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/time/rate"

	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// dist is the page as "go tool task ui" builds it.
//
//go:embed dist
var dist embed.FS

const (
	maxConns = 256
	maxBody  = 1 << 20
)

// A Config says what a [Server] is made of.
type Config struct {
	Backend live.Backend
	Log     hclog.Logger // nil logs nothing

	// Defaults are what a recording has where the page chooses nothing else.
	Defaults spec.Recording

	// Sample answers scrapers of pprof; nil has them refused.
	Sample SampleFunc

	// Find finds the JVM that a scraper describes; nil has it give a number.
	Find FindFunc

	// Inside looks into JVMs; nil has that refused.
	Inside InsideFunc

	// Fleet is what the page can reach beyond this machine.
	Fleet Fleet

	// ScrapeToken lets whoever has it read metrics and have JVMs sampled, and nothing else; ""
	// has only the page's secret do that. See [CheckToken].
	ScrapeToken string

	// App are the application's packages, as of [live.Config].
	App []string

	// Snapshots is the folder that snapshots are kept in, made when it is
	// needed; "" keeps them in memory.
	Snapshots string
}

// A Server serves the page, its REST interface and its WebSocket. Its methods are safe for
// concurrent use; Run must be called once.
type Server struct {
	listener net.Listener
	secret   string
	port     string
	loopback bool // it listens on the loopback interface only
	live     *live.Live
	hub      *Hub
	log      hclog.Logger

	inside   insides
	fleet    fleetTurns
	sample   SampleFunc
	find     FindFunc
	token    string                   // of scrapers
	rates    map[string]*rate.Limiter // of scrapers, by path
	sampling sync.Mutex               // held while a JVM is sampled for a scraper
	over     chan struct{}            // closed when the server ends
}

// Listen opens a server on an address such as 127.0.0.1:0, where port 0 is any free one. It
// answers once [Server.Run] is called. The error says why the address can't be used, and
// wraps what the operating system says.
func Listen(address string, c Config) (*Server, error) {
	if c.Log == nil {
		c.Log = hclog.NewNullLogger()
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("the page can't listen on %s: %w; choose another address with --listen", address, err)
	}
	at, err := netip.ParseAddrPort(l.Addr().String())
	if err != nil {
		l.Close()
		return nil, err
	}
	s := &Server{
		listener: limit(l, maxConns), secret: newSecret(), port: fmt.Sprint(at.Port()), loopback: at.Addr().IsLoopback(),
		log: c.Log.Named("web"), sample: c.Sample, find: c.Find, token: c.ScrapeToken, rates: scrapeRates(), over: make(chan struct{}),
	}
	s.inside.look, s.fleet.Fleet = c.Inside, c.Fleet
	s.hub = newHub()
	s.live = live.New(live.Config{Backend: c.Backend, Log: s.log, Changed: s.hub.wake, Watched: s.hub.watched, Snapshots: c.Snapshots, Defaults: c.Defaults, App: c.App})
	return s, nil
}

// URL is the address of the page, with its secret in the fragment, which browsers do not
// send.
func (s *Server) URL() string { return "http://" + s.Address() + "/#" + s.secret }

// An Opening says what the page shows first. Snapshots are given by number.
type Opening struct {
	Source   int64 // 0 is what the state of the server suggests
	Against  int64 // what Source is compared with, the one before; 0 is none
	Absolute bool  // the figures of Source aren't scaled to as many root calls as Against has
	List     bool  // the list of snapshots, with Source as what its other views show
}

// URLOf is [Server.URL] with what the page shows first.
func (s *Server) URLOf(o Opening) string {
	at := s.URL()
	if o.Source == 0 {
		return at
	}
	key := "source"
	if s.live.IsComparison(o.Source) {
		key = "compared"
	}
	if o.List {
		at += "&tab=snapshots"
	}
	at += fmt.Sprintf("&%s=%d", key, o.Source)
	if o.Against != 0 {
		at += fmt.Sprintf("&against=%d", o.Against)
	}
	if o.Absolute {
		at += "&each=0"
	}
	return at
}

// Address is the address that the server listens on, as host:port.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Loopback tells whether only this machine can reach the server.
func (s *Server) Loopback() bool { return s.loopback }

// Live is the model that the server shows.
func (s *Server) Live() *live.Live { return s.live }

// Run answers requests until ctx is done. Then it ends the recording, restores the target for
// as long as grace is not done, and tells the clients. The error says what could not be
// restored, or why the listener failed.
func (s *Server) Run(ctx, grace context.Context) error {
	srv := &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		BaseContext:       func(net.Listener) context.Context { return grace },
		ConnContext:       withConn,
		ErrorLog:          s.log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
	}
	work, stop := context.WithCancel(grace)
	defer stop()
	closed := make(chan error, 1)
	go func() { closed <- s.live.Run(work, grace) }()
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(s.listener) }()
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	close(s.over)
	stop()
	err = errors.Join(err, <-closed)
	s.hub.close()
	end, cancel := context.WithTimeout(grace, 3*time.Second)
	defer cancel()
	if srv.Shutdown(end) != nil {
		srv.Close()
	}
	for _, t := range []*turns{&s.inside.turns, &s.fleet.turns} {
		select {
		case <-t.over(): // what looks have made in a target is removed
		case <-grace.Done():
		}
	}
	return err
}

// handler is everything that the server answers to, guarded.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	s.routes(mux)
	mux.HandleFunc("GET /ws", s.connect)
	files, err := fs.Sub(dist, "dist")
	if err != nil { // dist is there, or this would not build
		panic(err)
	}
	page := http.FileServerFS(files)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/") && r.URL.Path != "/" {
			http.NotFound(w, r) // no listings
			return
		}
		page.ServeHTTP(w, r)
	})
	return s.guard(s.safely(mux))
}
