package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// keeping is a server with a folder for snapshots; it has ended when end returns.
func keeping(t *testing.T, dir string) (s *Server, end func()) {
	t.Helper()
	return keepingBy(t, newFake(), dir)
}

func keepingBy(t *testing.T, f Backend, dir string) (s *Server, end func()) {
	t.Helper()
	s, err := Listen("127.0.0.1:0", Config{Backend: f, Snapshots: dir})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx, context.Background()) }()
	return s, func() {
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	}
}

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
	if err := newFake().report().Snapshot(&plain); err != nil {
		t.Fatal(err)
	}
	other := files[0]
	if info, err := readInfo(other); err == nil && info.Name == "another ☃" {
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
	names := map[string]SnapshotInfo{}
	for _, k := range s.live.State().Snapshots {
		names[k.Name] = k
	}
	k, ok := names["another ☃"]
	if !ok || k.Calls != 9 || k.Nodes != 2 || k.Total != 40 || k.Target != "shop.Main" || k.File == "" || len(names) != 3 {
		t.Fatalf("after a restart: %+v of %+v", k, names)
	}
	report := func(k SnapshotInfo) (int, string) {
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
	if info, err := readInfo(filepath.Join(dir, "by hand.rivulet")); err != nil || info.Name != "with a head" || info.Calls != 9 {
		t.Errorf("%+v, %v", info, err)
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

// TestKeptFull wants each recording that ends to be kept, however many there are: the
// oldest leave the list, not the folder.
func TestKeptFull(t *testing.T) {
	dir := t.TempDir()
	l := newLive(newFake(), hclog.NewNullLogger(), func() {}, func() bool { return false })
	l.store = store{dir}
	f := frameOf(l.book, snapshot(node(1, 3, 30)))
	for range 250 {
		if _, err := l.keep(f, ""); err != nil {
			t.Fatal(err)
		}
	}
	for len(l.snapshots) < mostKept {
		if err := l.add(&Snapshot{Frame: f, file: "as if"}, "", "", true); err != nil {
			t.Fatal(err)
		}
	}
	info, err := l.keep(f, "one more")
	files, _ := filepath.Glob(filepath.Join(dir, "*"+storeEnding))
	if list := l.State().Snapshots; err != nil || info.File == "" || len(files) != 251 || len(list) != mostKept || list[0].ID != 2 || list[mostKept-1].ID != info.ID {
		t.Errorf("%v: %+v; %d files, %d listed", err, info, len(files), len(list))
	}
}

// TestSnapshotFigures wants a snapshot to come with its own figures, whatever is
// recorded meanwhile, also after it was read again.
func TestSnapshotFigures(t *testing.T) {
	l := newLive(newFake(), hclog.NewNullLogger(), func() {}, func() bool { return false })
	l.store = store{t.TempDir()}
	r := reportOf(snapshot(node(1, 3, 30, node(2, 6, 10))))
	pause := 5 * time.Millisecond
	r.Instrumented, r.Redefinition = 7, export.Redefinition{Batches: 2, Classes: 4, LongestPause: &pause}
	r.Tree.Threads[0].Suspended = 99
	r.Room = &export.Room{Used: 1 << 20, Most: 1 << 30}
	info, err := l.keep(newFrame(1, r, l.book), "")
	if err != nil {
		t.Fatal(err)
	}
	l.frame = frameOf(l.book, snapshot(node(1, 1000, 1)))
	for _, from := range []string{"memory", "file"} {
		c := &Client{live: l, knows: map[int32]string{}, sent: map[string][]byte{}}
		var got struct{ Figures *Figures }
		if err := json.Unmarshal(c.page(&Look{Source: info.ID}), &got); err != nil {
			t.Fatal(err)
		}
		g := got.Figures
		if g == nil || g.Calls != 9 || g.Instrumented != 7 || g.Called != 2 || g.Batches != 2 || g.Classes != 4 || g.Pause == nil || *g.Pause != int64(pause) || g.Suspended != 99 || g.Used != 1<<20 || g.Most != 1<<30 || g.Seconds != 1 {
			t.Errorf("from %s: %+v", from, g)
		}
		l.mu.Lock()
		l.snapshots[0].unload()
		l.mu.Unlock()
	}
	c := &Client{live: l, knows: map[int32]string{}, sent: map[string][]byte{}}
	if b := c.page(&Look{}); strings.Contains(string(b), `"figures"`) {
		t.Errorf("twice: %s", b)
	}
}

// TestForgets wants what lies in files to leave the memory when there is too
// much of it, and to come back when it is looked at.
func TestForgets(t *testing.T) {
	l := newLive(newFake(), nil, func() {}, func() bool { return false })
	l.log = hclog.NewNullLogger()
	l.store = store{t.TempDir()}
	f := frameOf(l.book, snapshot(node(1, 3, 30, node(2, 6, 10))))
	f.sums.Nodes = mostNodes/2 + 1 // as if
	for _, name := range []string{"first", "second"} {
		if _, err := l.keep(f, name); err != nil {
			t.Fatal(err)
		}
	}
	l.source(2)
	if l.snapshots[0].Frame != nil || l.snapshots[1].Frame == nil {
		t.Error("the first one is still in memory, or the second one is not")
	}
	again := l.source(1)
	if again == nil || again.sums.Calls != 9 || l.source(2) == nil {
		t.Errorf("the first one comes back as %+v", again)
	}
}

// TestOpen sends files to the page: a snapshot, JSON, and what is neither.
func TestOpen(t *testing.T) {
	s := running(t, newFake())
	var snap, text bytes.Buffer
	r := newFake().report()
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
	if _, got := s.call(t, "compare?before=1&after=2", ""); !strings.Contains(got, `"calls_before":3,"calls_after":3`) {
		t.Error("the two that were opened:", got)
	}
	if _, got := s.call(t, "formats", ""); !strings.Contains(got, `{"name":"speedscope","ending":".speedscope.json"}`) {
		t.Error(got)
	}
}
