// Package webtest is for tests of the live page's server.
package webtest

import (
	"bytes"
	"io"
	"net/http"
	"testing"
)

// Ask is a request of the REST interface, and its answer. With a body it is a POST,
// otherwise a GET. A server that does not answer ends the test.
func Ask(t testing.TB, url, secret string, body []byte) (status int, answer []byte) {
	t.Helper()
	method := http.MethodGet
	if len(body) > 0 {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if answer, err = io.ReadAll(resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, answer
}
