package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/sampler/ring"
	"github.com/rivulet-profiler/rivulet/controller/threads"
)

// TestWatch keeps what a JVM did until its end, and shows it again.
func TestWatch(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kept")
	f := newFake()
	r := f.run(t, "watch", "4711", "--dir", dir)
	r.want(t, 0, "", "the last 1h0m0s are kept in "+dir+", at most 256 MB\n")
	r.want(t, 0, "", "the target has ended; 0 events; rivulet watch show "+dir)
	if o := f.sampled; o.Hz != watchHz || o.Wall {
		t.Errorf("options %+v", o)
	}
	f.run(t, "watch", "show", dir).want(t, 0, "101 samples on 6 call paths stand for 1.01 s", "")
	f.run(t, "watch", "show", dir, "--last", "1015ms").want(t, 0, "2 samples on", "") // the last one of main is at 1.99 s, the compiler's at 3 s
	f.run(t, "watch", "show", dir, "--from", "-2s", "--to", "-1.5s", "--json").want(t, 0, `"samples": 51`, "")
	out := filepath.Join(dir, "flame.html")
	f.run(t, "watch", "show", dir, "-o", out).want(t, 0, "", "")
	page, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if text := pageData(t, string(page)); !strings.Contains(text, "shop.Orders$Line.handle") {
		t.Error("the page lacks a method")
	}
	f.run(t, "watch", "ls", dir).want(t, 0, "kept ", "")
	var ls jsonWatches
	r = f.run(t, "watch", "ls", dir, "--json")
	if err := json.Unmarshal([]byte(r.stdout), &ls); err != nil || len(ls.Watches) != 1 || ls.Watches[0].Samples != 101 || ls.Watches[0].Active {
		t.Errorf("%v: %s", err, r.stdout)
	}
	// Begun again, it goes on.
	f.run(t, "watch", "4711", "--dir", dir, "--hz", "50", "--wall").want(t, 0, "", "at 50 Hz")
	f.run(t, "watch", "show", dir).want(t, 0, "202 samples on", "")
}

// TestWatchEvent keeps what came before a deadlock, tells it, and records.
func TestWatchEvent(t *testing.T) {
	dir := t.TempDir()
	f := newFake()
	f.sampleOn = true
	f.locked = []threads.Deadlock{{Threads: []threads.Locked{{Thread: "left", WaitsFor: "a.Lock", Holds: "b.Lock"}, {Thread: "right", WaitsFor: "b.Lock", Holds: "a.Lock"}}}}
	r := f.run(t, "watch", "4711", "--dir", dir, "--when", "deadlock every 2s", "--keep", "1000h", "--before", "1000h", "--after", "0s", "--then", "profile", "--then-for", "1ms", "--for", "4s")
	for _, said := range []string{"kept 101 samples as ", "recorded shop.Orders$Line.handle(I)V exactly for 1ms: ", "stopped; 1 event;"} {
		r.want(t, 0, "deadlock every 2s: deadlock: left waits for a.Lock of right, right waits for b.Lock of left\n", said)
	}
	if strings.Count(r.stdout, "\n") != 1 {
		t.Errorf("told more than once:\n%s", r.stdout)
	}
	f.run(t, "watch", "show", dir, "--capture", "last").want(t, 0, "101 samples on", "")
	f.run(t, "watch", "show", dir, "--capture", "first").want(t, 2, "", `there is no capture "first"`)
	ls := f.run(t, "watch", "ls", dir)
	ls.want(t, 0, "deadlock every 2s", "")
	at := strings.Index(ls.stdout, dir+"/captures/")
	if at < 0 {
		t.Fatalf("no recording:\n%s", ls.stdout)
	}
	exact := strings.Fields(ls.stdout[at:])[0]
	f.run(t, "view", exact).want(t, 0, "", "")
}

func TestWatchFlags(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	f := newFake()
	for _, c := range []struct{ args, want string }{
		{"4711 --when cpu", "rules are such as"},
		{"4711 --disk 10", "give a size"},
		{"4711 --keep 1s", "from 10s"},
		{"4711 --before 2h", "up to that of --keep"},
		{"4711 --after -1s", "up to 10m"},
		{"4711 --captures 0", "above zero"},
		{"4711 --then sleep --when deadlock", "there is only profile"},
		{"4711 --then profile", "after which event?"},
		{"4711 --then-for 3s", "--then profile"},
		{"", "PID is missing"},
		{"show 4711", "nothing was kept"},
		{"show " + t.TempDir(), "nothing was kept"},
		{"show 4711 --last 5m --from 12:00", "give --from and --to, or --last"},
		{"show 4711 --last -5m", "above zero"},
		{"show 4711 --json --format text", "give one of both"},
	} {
		f.run(t, append([]string{"watch"}, strings.Fields(c.args)...)...).want(t, 2, "", c.want)
	}
	f.run(t, "watch", "ls").want(t, 0, "nothing is kept", "")
	if got := f.steps(); got != "" {
		t.Error("steps:", got)
	}
}

func TestTimeOf(t *testing.T) {
	zone := time.FixedZone("X", 3600)
	now := time.Date(2026, 11, 24, 14, 0, 0, 0, zone)
	const second = int64(time.Second)
	s := &ring.Summary{Last: 5000 * second, Header: ring.Header{Wall: now.UnixNano(), Mono: 5000 * second}}
	for text, want := range map[string]int64{
		"13:59": 4940, "13:59:58": 4998, "14:01": 5060 - 86400, "-10m": 4400, "2026-11-24 14:00:05": 5005, "2026-11-24T13:00:00Z": 5000, "2026-11-24 13:59": 4940,
	} {
		if got, err := timeOf(text, s, now); err != nil || got != want*second {
			t.Errorf("%s is %d, %v", text, got/second, err)
		}
	}
	if _, err := timeOf("noon", s, now); err == nil {
		t.Error("noon is a time")
	}
}

func TestProcessUse(t *testing.T) {
	used, cores, err := processUse(os.Getpid())
	if err != nil || cores <= 0 || used < 0 {
		t.Error(used, cores, err)
	}
	if _, _, err := processUse(1 << 30); err == nil {
		t.Error("there is no such process")
	}
}

// TestSampleBesideFlags refuses what makes no sense, and samples while something is recorded.
func TestSampleBesideFlags(t *testing.T) {
	f := newFake()
	for args, want := range map[string]string{
		"--sample=0": "from 1 to", "--sample --cpu": "give one of them", "--sample --ui": "leave out --ui", "--sample --follow": "give one of them",
		"--count heap --follow": "leave out this",
	} {
		f.run(t, append([]string{"profile", "4711", "--root", "a.B.c"}, strings.Fields(args)...)...).want(t, 2, "", want)
	}
	if got := f.steps(); got != "" {
		t.Error("steps:", got)
	}
	f.sampleOn = true
	f.run(t, "profile", "4711", "--root", "a.B.c", "--sample=200", "--for", "10ms").want(t, 0, "~ java.util.HashMap.get\n", "")
	if got := f.steps(); got != "attach sample start close finish" || f.sampled.Hz != 200 || !f.sampled.Wall {
		t.Error("steps:", got, f.sampled.Hz)
	}
}
