package web

import (
	"bytes"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// metricsPath is where scrapers of OpenMetrics ask.
const metricsPath = "/metrics"

// leastToken is the least length of a scraper's token, in bytes.
const leastToken = 20

// CheckToken reports whether a scraper's token can be one; the error says what is wrong with it.
func CheckToken(token string) error {
	switch {
	case len(token) < leastToken:
		return errors.New("a token has 20 characters at least; make one with: openssl rand -hex 24")
	case strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' }):
		return errors.New("a token has no spaces, no line ends and nothing beyond ASCII")
	}
	return nil
}

// scrapeRates are how often scrapers may ask, all together: an answer to the first reads the
// recording's tree, the second has a JVM sampled.
func scrapeRates() map[string]*rate.Limiter {
	return map[string]*rate.Limiter{
		metricsPath: rate.NewLimiter(rate.Every(time.Second), 5),
		pprofPath:   rate.NewLimiter(rate.Every(5*time.Second), 5),
	}
}

// scrapes tells whether a request comes with the token of scrapers, for what these may see.
func (s *Server) scrapes(r *http.Request) bool {
	if s.token == "" || r.Method != http.MethodGet || s.rates[r.URL.Path] == nil {
		return false
	}
	key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && subtle.ConstantTimeCompare([]byte(key), []byte(s.token)) == 1
}

// tooSoon is how long a scraper has to wait; 0 for whoever is none.
func (s *Server) tooSoon(scraper bool, path string) time.Duration {
	if !scraper {
		return 0
	}
	ask := s.rates[path].Reserve()
	wait := ask.Delay()
	if wait > 0 {
		ask.Cancel()
	}
	return wait
}

// getMetrics answers a scraper of OpenMetrics.
func (s *Server) getMetrics(w http.ResponseWriter, r *http.Request) {
	var b bytes.Buffer
	if err := s.live.OpenMetrics(whole(r), &b); err != nil {
		refuse(w, http.StatusServiceUnavailable, export.Clean(err.Error()))
		return
	}
	w.Header().Set("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
	w.Write(b.Bytes()) //nolint:errcheck // the client has gone
}
