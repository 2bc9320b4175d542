// Command simulate measures a hub with many nodes, which are connections that answer each
// command with a snapshot that was recorded before: the hub's memory, processor time and disk,
// bytes on the wire, and what merging takes. It writes a table to stdout.
//
//	unshare -n sh -c 'ip link set lo up; go run ./tools/fleet/simulate -nodes 1000 SNAPSHOT.rivulet...'
//
// In a network namespace of its own the bytes of the loopback device are those of the fleet.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/fleet/link"
)

func main() {
	nodes := flag.Int("nodes", 1000, "how many nodes")
	idle := flag.Duration("idle", 30*time.Second, "how long they do nothing, to see what that costs")
	binary := flag.String("rivulet", "", "rivulet's binary; built if it isn't given")
	flag.Parse()
	if err := simulate(*nodes, *idle, *binary, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "simulate:", err)
		os.Exit(1)
	}
}

func simulate(nodes int, idle time.Duration, binary string, files []string) error {
	var snapshots [][]byte
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		snapshots = append(snapshots, b)
	}
	if len(snapshots) == 0 {
		return fmt.Errorf("give files that rivulet profile -o FILE.rivulet has written")
	}
	dir, err := os.MkdirTemp("", "simulate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if binary == "" {
		binary = filepath.Join(dir, "rivulet")
		if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	}
	_ = raiseFiles() // else there are fewer connections, which fail with their reason
	hubDir := filepath.Join(dir, "hub")
	hub := exec.Command(binary, "hub", "--dir", hubDir, "--listen", "127.0.0.1:4222", "--name", "127.0.0.1")
	hub.Stderr = os.Stderr
	hub.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := hub.Start(); err != nil {
		return err
	}
	defer func() {
		_ = hub.Process.Signal(os.Interrupt)
		_ = hub.Wait()
	}()
	var key *link.Key
	for range 100 {
		if key, err = link.ReadKey(filepath.Join(hubDir, "keys/node.key")); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil {
		return err
	}
	time.Sleep(time.Second)
	m := &measured{pid: hub.Process.Pid, dir: hubDir}
	m.mark("")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var sent, failed atomic.Int64
	if err := connect(ctx, key, nodes, snapshots, &sent, &failed); err != nil {
		return err
	}
	m.mark("all nodes connect, and say what they are")
	time.Sleep(idle)
	m.mark(fmt.Sprintf("idle for %v", idle))
	admin := filepath.Join(hubDir, "keys/admin.key")
	ps, err := m.command(binary, "fleet", "ps", "--json", "--key", admin)
	if err != nil {
		return err
	}
	m.mark("fleet ps")
	report := filepath.Join(dir, "merged.rivulet")
	run, err := m.command(binary, "fleet", "profile", "--root", "any.Root.method", "--for", "1s", "--key", admin, "-o", report)
	if err != nil {
		return err
	}
	m.mark("fleet profile of all at once")
	total := int64(0)
	for i := range nodes {
		total += int64(len(snapshots[i%len(snapshots)]))
	}
	fmt.Printf("%d nodes, one JVM each; snapshots of %.0f kB on average; %d results sent, %d failed\n\n", nodes, float64(total)/float64(nodes)/1e3, sent.Load(), failed.Load())
	m.print(nodes)
	fmt.Printf("\nfleet ps: %.2f s, %d MB at most\nfleet profile, merge included: %.1f s, %.1f s of a core, %d MB at most\n", ps.wall.Seconds(), ps.rss>>20, run.wall.Seconds(), run.cpu.Seconds(), run.rss>>20)
	return merge(nodes, snapshots)
}

// connect has nodes that answer with snapshots.
func connect(ctx context.Context, key *link.Key, nodes int, snapshots [][]byte, sent, failed *atomic.Int64) error {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var first error
	room := make(chan struct{}, 16)
	for i := range nodes {
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			name := fmt.Sprintf("node-%04d", i)
			l, err := link.Dial(key, link.Options{Name: name})
			n := &fleet.Node{Schema: fleet.Schema, Name: name, Version: "simulated", Host: name, Cores: 8, JVMs: []fleet.JVM{{
				PID: 4711, Start: 7, Main: "shop.orders.OrderServer", Java: "17.0.15", VM: "OpenJDK 64-Bit Server VM", User: "orders", App: "orders", Hostname: name,
				Started: time.Now(), Attachable: true, Labels: map[string]string{"zone": "a"},
			}}}
			if err == nil {
				err = l.Here(ctx, n)
			}
			if err != nil {
				mu.Lock()
				first = err
				mu.Unlock()
				return
			}
			go func() { _ = l.Answer(ctx, func() *fleet.Node { return n }) }()
			go l.Commands(ctx, name, func(d link.Delivery) {
				c, _, err := fleet.ReadCommand(d.Subject, d.Data)
				d.Ack()
				if err != nil || c.Do == fleet.DoStop {
					return
				}
				h := &fleet.Head{Schema: fleet.Schema, Run: c.Run, Do: c.Do, Target: c.Target, JVM: n.JVMs[0]}
				if err := l.SendResult(ctx, h, snapshots[i%len(snapshots)], nil); err != nil {
					failed.Add(1)
					return
				}
				sent.Add(1)
			}, func(text string) { fmt.Fprintln(os.Stderr, name, text) })
		})
	}
	wg.Wait()
	time.Sleep(2 * time.Second) // consumers
	return first
}

// merge measures what putting reports together takes, without a fleet.
func merge(nodes int, snapshots [][]byte) error {
	for n := 10; n <= nodes; n *= 10 {
		var results []*fleet.Result
		for i := range n {
			h := fleet.Head{Target: fleet.Target{Node: fmt.Sprintf("node-%04d", i), PID: 4711, Start: 7}}
			results = append(results, &fleet.Result{Head: h, Report: snapshots[i%len(snapshots)]})
		}
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		begun, used := time.Now(), core()
		r := fleet.Merge(results, nil)
		took, spent := time.Since(begun), core()-used
		runtime.GC()
		runtime.ReadMemStats(&after)
		if r == nil || len(r.Processes) != n {
			return fmt.Errorf("merged nothing")
		}
		fmt.Printf("merging %d reports: %.2f s, %.2f s of a core, result of %.0f MB\n", n, took.Seconds(), spent.Seconds(), float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/1e6)
		runtime.KeepAlive(r)
	}
	return nil
}

// core is the processor time that this process has used.
func core() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A cost is that of one command.
type cost struct {
	wall, cpu time.Duration
	rss       int64
}

type point struct {
	what      string
	at        time.Time
	cpu       time.Duration // of the hub
	rss, disk int64
	wire      int64
	written   int64
}

// A measured has what the hub has used at some moments.
type measured struct {
	pid    int
	dir    string
	points []point
}

func (m *measured) mark(what string) {
	p := point{what: what, at: time.Now(), wire: loopback()}
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", m.pid))
	if f := strings.Fields(string(stat)); len(f) > 15 {
		user, _ := strconv.Atoi(f[13])
		system, _ := strconv.Atoi(f[14])
		p.cpu = time.Duration(user+system) * 10 * time.Millisecond
	}
	p.rss = field(fmt.Sprintf("/proc/%d/status", m.pid), "VmRSS:") << 10
	p.written = field(fmt.Sprintf("/proc/%d/io", m.pid), "write_bytes:")
	_ = filepath.WalkDir(m.dir, func(_ string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			if info, err := e.Info(); err == nil {
				p.disk += info.Size()
			}
		}
		return nil
	})
	m.points = append(m.points, p)
}

func (m *measured) print(nodes int) {
	fmt.Println("| step | time | hub: core time | hub: memory afterwards | hub: disk afterwards | wire | wire a node |\n|---|---|---|---|---|---|---|")
	for i, p := range m.points[1:] {
		b := m.points[i]
		wire := p.wire - b.wire
		fmt.Printf("| %s | %.1f s | %.1f s | %d MB | %.1f MB | %.1f MB | %.1f kB |\n", p.what, p.at.Sub(b.at).Seconds(), (p.cpu - b.cpu).Seconds(), p.rss>>20, float64(p.disk)/1e6, float64(wire)/1e6, float64(wire)/1e3/float64(nodes))
	}
}

func (m *measured) command(name string, args ...string) (cost, error) {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	begun := time.Now()
	err := cmd.Run()
	c := cost{wall: time.Since(begun)}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.rss, c.cpu = u.Maxrss<<10, time.Duration(u.Utime.Nano()+u.Stime.Nano())
	}
	return c, err
}

// field is a number of a file of /proc, by what its line begins with.
func field(path, name string) int64 {
	b, _ := os.ReadFile(path)
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n
		}
	}
	return 0
}

// loopback is how many bytes the loopback device has carried.
func loopback() int64 {
	b, _ := os.ReadFile("/proc/net/dev")
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "lo:"); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n
		}
	}
	return 0
}

func raiseFiles() error {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return err
	}
	l.Cur = l.Max
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &l)
}
