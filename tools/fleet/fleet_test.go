//go:build fleet

package fleet

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

var (
	rounds = flag.Int("rounds", 5, "recordings with kills, for each kind of broker")
	kills  = flag.Int("kills", 6, "processes that are killed in each")
	seed   = flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the moments and victims")
)

const nodes, jvmsEach = 3, 5

// ownProgram calls root as often as a file says, and keeps in another file how often it has,
// so that this is known when it is killed: round, calls, and the round that is done.
const ownProgram = `
import java.io.*; import java.nio.*; import java.nio.channels.*;
public class Own {
    static volatile long sink;
    static void leaf(int n) { sink += n; }
    static void root(int n) { for (int i = 0; i < 3; i++) leaf(n); }
    public static void main(String[] a) throws Exception {
        MappedByteBuffer m = new RandomAccessFile(a[0], "rw").getChannel().map(FileChannel.MapMode.READ_WRITE, 0, 24);
        m.order(ByteOrder.LITTLE_ENDIAN);
        long last = 0;
        for (;; Thread.sleep(5)) {
            String[] go;
            try (BufferedReader r = new BufferedReader(new FileReader(a[1]))) { go = r.readLine().split(" "); }
            catch (IOException | NullPointerException e) { continue; }
            long round = Long.parseLong(go[0]), calls = Long.parseLong(go[1]);
            if (round == last) continue;
            m.putLong(8, 0); m.putLong(0, round);
            for (int i = 0; i < calls; i++) {
                root(i);
                m.putLong(8, i + 1);
                if (i % 8 == 0) Thread.sleep(1);
            }
            m.putLong(16, last = round);
        }
    }
}`

// A program is one JVM of a host.
type program struct {
	*daemon
	counts, goes string
	killed       bool // in this round
}

func (p *program) read(at int) int64 {
	b, err := os.ReadFile(p.counts)
	if err != nil || len(b) < 24 {
		return 0
	}
	return int64(binary.LittleEndian.Uint64(b[at:]))
}

// own is how often it has called root in a round.
func (p *program) own(round int) int64 {
	if p.read(0) != int64(round) {
		return 0
	}
	return p.read(8)
}

// A world is a fleet with all that may be killed.
type world struct {
	t        *testing.T
	dir      string
	rivulet  string
	broker   *broker
	hosts    []*host
	nodes    []*daemon
	programs []*program
	random   *rand.Rand

	mu     sync.Mutex
	killed map[string]int
}

func TestFleet(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Fatal("namespaces need root")
	}
	t.Logf("seed %d", *seed)
	for name, open := range map[string]func(*testing.T, string, string) *broker{"hub": embedded, "cluster": cluster} {
		t.Run(name, func(t *testing.T) { testFleet(t, open) })
	}
}

func testFleet(t *testing.T, open func(*testing.T, string, string) *broker) {
	dir, err := os.MkdirTemp("/var/tmp", "rivulet-fleet") // each host has a /tmp of its own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	w := &world{t: t, dir: dir, rivulet: filepath.Join(dir, "rivulet"), random: rand.New(rand.NewPCG(*seed, 1)), killed: map[string]int{}}
	build := exec.Command("go", "build", "-o", w.rivulet, ".")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	j := jvmtest.Any(t)
	classes := jvmtest.Compile(t, j, 8, map[string]string{"Own.java": ownProgram})
	run(t, "cp", "-r", classes, filepath.Join(dir, "classes"))
	w.hosts = hosts(t, nodes)
	w.broker = open(t, dir, w.rivulet)
	for i, h := range w.hosts {
		argv := append([]string{w.rivulet, "node", "--key", w.broker.nodeKey, "--dir", filepath.Join(dir, h.name), "--name", h.name, "--at-once", "5"}, w.broker.flags...)
		d := &daemon{name: h.name, host: h, log: filepath.Join(dir, h.name+".log"), argv: argv}
		if err := d.start(); err != nil {
			t.Fatal(err)
		}
		w.nodes = append(w.nodes, d)
		for k := range jvmsEach {
			base := filepath.Join(dir, fmt.Sprintf("own-%d-%d", i, k))
			p := &program{counts: base + ".counts", goes: base + ".go"}
			p.daemon = &daemon{name: fmt.Sprintf("jvm-%d-%d", i, k), host: h, log: base + ".log", argv: []string{
				filepath.Join(j.Home, "bin/java"), "-Xmx32m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dotel.service.name=own", "-Dotel.resource.attributes=id=" + fmt.Sprintf("%d-%d", i, k),
				"-cp", filepath.Join(dir, "classes"), "Own", p.counts, p.goes,
			}}
			w.programs = append(w.programs, p)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			logs(t, dir)
		}
	})
	for round := 1; round <= *rounds && !t.Failed(); round++ {
		w.round(round)
	}
	t.Logf("%d rounds of %d JVMs, killed: %v", *rounds, len(w.programs), w.killed)
}

// report is what is looked at of JSON.
type report struct {
	Calls     int64
	Processes []struct {
		Host  string
		PID   int
		Error string
		Calls int64
	}
	Flat []struct {
		Method    string
		Calls     int64
		Processes struct{ Calls []int64 }
	}
}

// round records one root in all JVMs while processes are killed, and compares.
func (w *world) round(round int) {
	t := w.t
	for _, p := range w.programs {
		if p.killed = false; !p.running() {
			if err := p.start(); err != nil {
				t.Fatal(err)
			}
		}
	}
	var listed []struct {
		Node string
		JVM  struct {
			PID        int
			Attachable bool
			Labels     map[string]string
		}
	}
	wait(t, "all JVMs to be there", func() bool {
		out, err := w.command("fleet", "ps", "--json", "--select", "app=own").Output()
		var ps struct{ JVMs json.RawMessage }
		if err != nil || json.Unmarshal(out, &ps) != nil || json.Unmarshal(ps.JVMs, &listed) != nil {
			return false
		}
		n := 0
		for _, l := range listed {
			if l.JVM.Attachable {
				n++
			}
		}
		return n == len(w.programs)
	})
	// By node and pid, which program it is.
	byTarget := map[string]*program{}
	for _, l := range listed {
		for i, p := range w.programs {
			if l.JVM.Labels["id"] == fmt.Sprintf("%d-%d", i/jvmsEach, i%jvmsEach) {
				byTarget[fmt.Sprintf("%s/%d", l.Node, l.JVM.PID)] = p
			}
		}
	}
	cmd := w.command("fleet", "profile", "--root", "Own.root", "--scheme", "A", "--select", "app=own", "--for", "8s", "--format", "json")
	var out bytes.Buffer
	said := &watched{text: "run ", found: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &out, said
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-said.found
	killing := make(chan struct{})
	go func() {
		defer close(killing)
		w.killSome()
	}()
	w.goWhenArmed(round, begun, byTarget)
	err := cmd.Wait()
	<-killing
	var r report
	if failed := json.Unmarshal(out.Bytes(), &r); failed != nil {
		t.Fatalf("round %d: %v, %v: %s", round, err, failed, said.String())
	}
	sum, ended := int64(0), 0
	for i, p := range r.Processes {
		name := fmt.Sprintf("%s/%d", p.Host, p.PID)
		program := byTarget[name]
		if program == nil {
			t.Errorf("round %d: %s was not asked, or is there twice", round, name)
			continue
		}
		delete(byTarget, name)
		got := int64(0)
		for _, m := range r.Flat {
			if strings.HasPrefix(m.Method, "Own.root") {
				got = m.Processes.Calls[i]
			}
		}
		own := program.own(round)
		sum += own
		if program.killed {
			ended++
		}
		// A JVM that was killed may have been inside a call that it has not counted yet.
		if got != own && !(program.killed && got == own+1) || !program.killed && (p.Error != "" || program.read(16) != int64(round)) {
			t.Errorf("round %d: %s, %s, killed %v: recorded %d calls, the program has counted %d: %s", round, name, program.name, program.killed, got, own, p.Error)
		}
	}
	for name, p := range byTarget {
		t.Errorf("round %d: %s, %s is missing", round, name, p.name)
	}
	total := int64(0)
	for _, m := range r.Flat {
		if strings.HasPrefix(m.Method, "Own.root") {
			total = m.Calls
		}
	}
	if total < sum || total > sum+int64(ended) {
		t.Errorf("round %d: %d calls in the merged tree, %d of the programs", round, total, sum)
	}
	if t.Failed() {
		t.Logf("round %d: %s", round, said.String())
	}
	t.Logf("round %d: %v, %d calls in %d JVMs, %d of which were killed", round, time.Since(begun).Round(time.Second), sum, len(r.Processes), ended)
}

func (w *world) command(args ...string) *exec.Cmd {
	args = append(append(args, "--key", w.broker.userKey), w.broker.flags...)
	return exec.Command(w.rivulet, args...)
}

// goWhenArmed has each program begin when it is recorded. Nodes say on disk how far they are.
func (w *world) goWhenArmed(round int, since time.Time, byTarget map[string]*program) {
	told := map[*program]bool{}
	wait(w.t, "all JVMs to be recorded", func() bool {
		for _, h := range w.hosts {
			for _, pattern := range []string{"jobs/*/recording", "jobs/*/end.json", "done/*/job.json"} {
				files, _ := filepath.Glob(filepath.Join(w.dir, h.name, pattern))
				for _, f := range files {
					info, err := os.Stat(f)
					_, process, _ := strings.Cut(filepath.Base(filepath.Dir(f)), ".")
					pid, _, _ := strings.Cut(process, "-")
					p := byTarget[h.name+"/"+pid]
					if err != nil || p == nil || told[p] || info.ModTime().Before(since) {
						continue
					}
					told[p] = true
					text := fmt.Sprintf("%d %d\n", round, 1000+w.random.IntN(3000))
					if err := os.WriteFile(p.goes+".new", []byte(text), 0o600); err != nil {
						w.t.Error(err)
					}
					if err := os.Rename(p.goes+".new", p.goes); err != nil {
						w.t.Error(err)
					}
				}
			}
		}
		return len(told) == len(w.programs)
	})
}

// killSome kills processes at random moments, and starts nodes and servers again.
func (w *world) killSome() {
	random := rand.New(rand.NewPCG(*seed, w.random.Uint64()))
	for range *kills {
		time.Sleep(time.Duration(random.IntN(2500)) * time.Millisecond)
		var d *daemon
		kind := "node"
		switch n := random.IntN(10); {
		case n < 5:
			d = w.nodes[random.IntN(len(w.nodes))]
		case n < 8:
			d, kind = w.broker.servers[random.IntN(len(w.broker.servers))], "broker"
		default:
			p := w.programs[random.IntN(len(w.programs))]
			if p.killed {
				continue
			}
			kind, p.killed = "jvm", true
			d = p.daemon
		}
		d.kill()
		w.mu.Lock()
		w.killed[kind]++
		w.mu.Unlock()
		if kind == "jvm" {
			continue
		}
		time.Sleep(time.Duration(random.IntN(1500)) * time.Millisecond)
		if err := d.start(); err != nil {
			w.t.Error(err)
		}
	}
}

// A watched buffer tells when a text has been written.
type watched struct {
	mu    sync.Mutex
	b     bytes.Buffer
	text  string
	found chan struct{}
	done  bool
}

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.b.Write(b)
	if !w.done && strings.Contains(w.b.String(), w.text) {
		w.done = true
		close(w.found)
	}
	return len(b), nil
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}
