package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPush sends to two servers, of which one refuses.
func TestPush(t *testing.T) {
	var paths []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		paths = append(paths, r.URL.Path+" "+r.Header.Get("X-Scope-OrgID"))
		if strings.HasPrefix(r.URL.Path, "/push.") {
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	defer s.Close()
	header := filepath.Join(t.TempDir(), "header")
	if err := os.WriteFile(header, []byte("X-Scope-OrgID: 7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	report := "../controller/export/testdata/report.json"
	f := newFake()
	f.run(t, "push", report, "--otlp", s.URL, "--header", "@"+header).want(t, 0, "", "sent to otlp as service shop.Main")
	r := f.run(t, "push", report, "--otlp", s.URL, "--pyroscope", s.URL, "--service", "orders", "--header", "X-Scope-OrgID: 8", "--json")
	r.want(t, 1, `"kind": "push"`, "1 of 2 were not sent")
	var got struct{ Sent []pushed }
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Sent) != 2 || got.Sent[0].Error != "" || got.Sent[0].Service != "orders" || !strings.Contains(got.Sent[1].Error, "403") {
		t.Errorf("%+v", got)
	}
	if got, want := strings.Join(paths, ", "), "/v1development/profiles 7, /v1development/profiles 8, /push.v1.PusherService/Push 8"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"push"}, "FILE is missing"},
		{[]string{"push", report}, "say where to"},
		{[]string{"push", report, "--otlp", "localhost:4318"}, "--otlp: give an address such as http://HOST:PORT"},
		{[]string{"push", report, "--otlp", s.URL, "--label", "x"}, "give NAME=VALUE"},
		{[]string{"push", report, "--otlp", s.URL, "--label", "__name__=x"}, "give NAME=VALUE"},
		{[]string{"push", report, "--otlp", s.URL, "--header", "secret"}, "a line is no header"},
		{[]string{"push", report, "--otlp", s.URL, "--header", "@/no/such/file"}, "no such file"},
		{[]string{"push", report, "--otlp", s.URL, "--timeout", "0s"}, "above zero"},
		{[]string{"push", report, "/no/such/file", "--otlp", s.URL}, "no such file"},
	} {
		f.run(t, c.args...).want(t, 2, "", c.want)
	}
	if len(paths) != 3 {
		t.Error("a request that makes no sense was sent")
	}
}

func TestServiceOf(t *testing.T) {
	for main, want := range map[string]string{"shop.Main": "shop.Main", "/opt/app/orders.jar --port 1": "orders.jar", "": "unknown_service:java"} {
		if got := serviceOf(main); got != want {
			t.Errorf("%q: %q, want %q", main, got, want)
		}
	}
}
