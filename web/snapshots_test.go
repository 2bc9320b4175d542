package web

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest/fakejvm"
)

// TestKept wants snapshots to survive the server, with their names and figures,
// in files that nobody else may read and other readers understand.
func TestKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there yet")
	s, end := keeping(t, dir)
	s.call(t, "attach", `{"pid":4711}`)
	s.call(t, "start", `{"roots":["a.B.c"]}`)
	s.call(t, "save", `{"name":"half way, \u00e4\u2603\ud83d\ude00"}`)
	s.call(t, "save", `{"name":"second"}`)
	s.call(t, "stop", `{}`)
	if code, text := s.call(t, "rename", `{"id":1,"name":"another ☃"}`); code != 200 {
		t.Error(code, text)
	}
	if code, text := s.call(t, "delete", `{"id":2}`); code != 200 {
		t.Error(code, text)
	}
	_, before := s.call(t, "report?source=1", "")
	renamed := s.live.State().Snapshots[0].File
	end()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("files %q, %v", files, err)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", f, info.Mode(), err)
		}
		in, err := os.Open(f)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(in)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(z); err != nil || !json.Valid(text) {
			t.Errorf("%s is nothing for other readers: %.100s, %v", f, text, err)
		}
		in.Close()
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Error(info.Mode(), err)
	}

	// Beside them there is one without a head, one that is damaged, and what is none.
	var plain bytes.Buffer
	if err := fakejvm.New().Report(fakejvm.New().Tree()).Snapshot(&plain); err != nil {
		t.Fatal(err)
	}
	other := files[0]
	if filepath.Base(other) == renamed {
		other = files[1]
	}
	damaged, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"by hand.rivulet": plain.Bytes(), "z.rivulet": damaged[:len(damaged)-20], "x.rivulet": []byte("what?"), "notes.txt": []byte("n")} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, end = keeping(t, dir)
	defer end()
	names := map[string]live.SnapshotInfo{}
	for _, k := range s.live.State().Snapshots {
		names[k.Name] = k
	}
	k, ok := names["another ☃"]
	if !ok || k.Calls != 9 || k.Nodes != 2 || k.Total != 40 || k.Target != "shop.Main" || k.File == "" || len(names) != 3 {
		t.Fatalf("after a restart: %+v of %+v", k, names)
	}
	report := func(k live.SnapshotInfo) (int, string) {
		return s.call(t, "report?source="+url.QueryEscape(string(mustJSON(t, k.ID))), "")
	}
	if code, after := report(k); code != 200 || after != before {
		t.Errorf("%d: %s, it was %s", code, after, before)
	}
	if code, text := report(names["by hand"]); code != 200 || !strings.Contains(text, `"calls": 9`) {
		t.Errorf("without a head: %d %s", code, text)
	}
	if code, text := s.call(t, "rename", `{"id":`+string(mustJSON(t, names["by hand"].ID))+`,"name":"with a head"}`); code != 200 {
		t.Error(code, text)
	}
	again, end2 := keeping(t, dir)
	headed := false
	for _, k := range again.live.State().Snapshots {
		headed = headed || k.File == "by hand.rivulet" && k.Name == "with a head" && k.Calls == 9
	}
	if end2(); !headed {
		t.Error("renamed, the one without a head has got none")
	}
	broken := 0
	for _, k := range s.live.State().Snapshots {
		if code, text := report(k); code != 200 {
			broken++
			if !strings.Contains(text, "json report, at byte") {
				t.Errorf("the damaged one: %s", text)
			}
		}
	}
	said := ""
	for _, k := range s.live.State().Snapshots {
		said += k.Broken
	}
	if broken != 1 || !strings.Contains(said, "json report, at byte") {
		t.Errorf("%d are broken: %q", broken, said)
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestKeptNowhere wants a recording to stay in memory, and that to be said, when
// the folder can't be written.
func TestKeptNowhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s, end := keeping(t, file)
	defer end()
	s.call(t, "attach", `{"pid":4711}`)
	s.call(t, "start", `{"roots":["a.B.c"]}`)
	s.call(t, "stop", `{}`)
	if _, text := s.call(t, "log", ""); !strings.Contains(text, "it lasts until Rivulet ends") {
		t.Error(text)
	}
	if list := s.live.State().Snapshots; len(list) != 1 || list[0].File != "" {
		t.Errorf("%+v", list)
	}
}

// TestOpen sends files to the page: a snapshot, JSON, and what is neither.
func TestOpen(t *testing.T) {
	s := running(t, fakejvm.New())
	var snap, text bytes.Buffer
	r := fakejvm.New().Report(fakejvm.New().Tree())
	if err := r.Snapshot(&snap); err != nil {
		t.Fatal(err)
	}
	if err := r.JSON(&text, export.JSONOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		body string
		code int
		has  string
	}{
		{snap.String(), 200, `"name":"mine.json"`},
		{text.String(), 200, `"calls":9`},
		{"PK\x03\x04", 422, "what can be opened"},
		{snap.String()[:50], 422, "json report"},
		{`{"schema":1,"kind":"dry-run"}`, 422, "of kind"},
	} {
		req, err := http.NewRequest("POST", "http://"+s.Address()+"/api/open?name=mine.json", strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+s.secret)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != c.code || !strings.Contains(string(b), c.has) {
			t.Errorf("%.20q: %d %s, want %d with %q", c.body, resp.StatusCode, b, c.code, c.has)
		}
	}
	if _, got := s.call(t, "compare?before=1&after=2", ""); !strings.Contains(got, `"root_invocations":[3,3]`) {
		t.Error("the two that were opened:", got)
	}
	if _, got := s.call(t, "formats", ""); !strings.Contains(got, `{"name":"speedscope","ending":".speedscope.json"}`) {
		t.Error(got)
	}
}
