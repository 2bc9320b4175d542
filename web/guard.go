package web

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"

	"github.com/gorilla/websocket"
)

// protocol is the WebSocket subprotocol, and keyProtocol how a browser, which
// can't set headers there, sends the secret: as an offered subprotocol that is
// never chosen.
const (
	protocol    = "rivulet.v1"
	keyProtocol = "key."
)

// defaultPort is that of http, which need not be named.
const defaultPort = "80"

// newSecret makes 128 random bits, in letters that a URL carries as they are.
func newSecret() string {
	b := make([]byte, 16)
	rand.Read(b) //nolint:errcheck // never fails (crypto/rand)
	return base64.RawURLEncoding.EncodeToString(b)
}

// policy lets the page load what is its own and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// guard refuses whoever must not come in, before anything else is looked at.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		scraper := s.scrapes(r) // knows a token that no page can have: it may come by any name of this machine
		if !scraper && !s.hostOK(r.Host) {
			refuse(w, http.StatusMisdirectedRequest, "this server does not answer for host "+clip(r.Host)+"; use the address that rivulet printed")
			return
		}
		private := strings.HasPrefix(r.URL.Path, "/api/") || strings.HasPrefix(r.URL.Path, "/debug/") || r.URL.Path == "/ws" || r.URL.Path == metricsPath
		if !private {
			if r.Method != http.MethodGet && r.Method != http.MethodHead {
				refuse(w, http.StatusMethodNotAllowed, "only GET here")
				return
			}
			next.ServeHTTP(w, r)
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host {
			refuse(w, http.StatusForbidden, "requests from another page are refused")
			return
		}
		if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
			refuse(w, http.StatusForbidden, "requests from another site are refused")
			return
		}
		if wait := s.tooSoon(scraper, r.URL.Path); wait > 0 {
			w.Header().Set("Retry-After", fmt.Sprint(int(math.Ceil(wait.Seconds()))))
			refuse(w, http.StatusTooManyRequests, "scrapers ask too often; ask again later")
			return
		}
		if !scraper && !s.knows(r) {
			refuse(w, http.StatusUnauthorized, "the secret is missing or wrong; open the address that rivulet printed, or send its secret as \"Authorization: Bearer SECRET\"")
			return
		}
		admit(r.Context())
		next.ServeHTTP(w, r)
	})
}

// safely has a fault of this program's own be told, and the others served on: a
// request that panics is answered, and the log has where.
func (s *Server) safely(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if p == http.ErrAbortHandler { //nolint:errorlint // as net/http compares it
				panic(p)
			}
			s.log.Error("fault while answering "+clip(r.URL.Path), "fault", p, "stack", string(debug.Stack()))
			s.live.Logf("error", "fault of Rivulet's own while answering %s: %v", clip(r.URL.Path), p)
			refuse(w, http.StatusInternalServerError, "a fault of Rivulet's own; its log on the terminal has more")
		}()
		next.ServeHTTP(w, r)
	})
}

// hostOK tells whether a Host header can be meant for this server. A name
// that an attacker controls must not be: it may point here by now (DNS
// rebinding). An address can't be made to point elsewhere.
func (s *Server) hostOK(host string) bool {
	if s.port == defaultPort && (!strings.Contains(host, ":") || strings.HasSuffix(host, "]")) {
		host += ":" + defaultPort // browsers leave it out
	}
	name, port, err := net.SplitHostPort(host)
	if err != nil || port != s.port {
		return false
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	return ip.IsLoopback() || !s.loopback
}

// knows tells whether a request carries the secret.
func (s *Server) knows(r *http.Request) bool {
	if key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return s.isSecret(key)
	}
	if r.URL.Path != "/ws" {
		return false
	}
	for _, p := range websocket.Subprotocols(r) {
		if key, ok := strings.CutPrefix(p, keyProtocol); ok {
			return s.isSecret(key)
		}
	}
	return false
}

func (s *Server) isSecret(key string) bool {
	return subtle.ConstantTimeCompare([]byte(key), []byte(s.secret)) == 1
}

func clip(s string) string {
	if len(s) > 80 {
		s = s[:80] + "..."
	}
	return strings.ToValidUTF8(s, "?")
}
