package hub_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/fleet/hub"
	"github.com/rivulet-profiler/rivulet/controller/fleet/link"
)

// open starts a hub of a folder at an address; port 0 has one chosen.
func open(t *testing.T, dir, listen string) *hub.Hub {
	t.Helper()
	h, err := hub.Open(t.Context(), hub.Config{
		Dir: dir, Listen: listen, Names: []string{"127.0.0.1"}, Limits: link.Limits{Disk: 64 << 20, Reports: 24 * time.Hour, Replicas: 1},
		Say: func(text string) { t.Log("hub: " + text) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func key(t *testing.T, h *hub.Hub, dir, name string, role fleet.Role, node string) *link.Key {
	t.Helper()
	k, err := hub.AddUser(dir, name, role, node)
	if err != nil {
		t.Fatal(err)
	}
	return h.Key(k)
}

func dial(t *testing.T, k *link.Key) *link.Link {
	t.Helper()
	l, err := link.Dial(k, link.Options{Name: k.User})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

func port(url string) string { return url[strings.LastIndexByte(url, ':'):] }

func head(run, node string, pid int) *fleet.Head {
	return &fleet.Head{Schema: fleet.Schema, Run: run, Do: fleet.DoProfile, Target: fleet.Target{Node: node, PID: pid, Start: 7}}
}

// TestRestart: commands and results, small and large, are there after the hub has begun
// again; each comes once or more often.
func TestRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := open(t, dir, "127.0.0.1:0")
	nodeKey, annaKey := key(t, h, dir, "web", fleet.RoleNode, ""), key(t, h, dir, "anna", fleet.RoleRecord, "")
	n, anna := dial(t, nodeKey), dial(t, annaKey)
	if err := anna.Send(t.Context(), &fleet.Command{Schema: fleet.Schema, Do: fleet.DoProfile, Run: "r1", Target: fleet.Target{Node: "web-1", PID: 5}}, "web-1", time.Minute); err != nil {
		t.Fatal(err)
	}
	large := make([]byte, 3*fleet.MostInline)
	for i := range large {
		large[i] = byte(rand.Uint32())
	}
	reports := [][]byte{[]byte("small"), large}
	if err := n.SendResult(t.Context(), head("r1", "web-1", 0), reports[0], nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	results, err := anna.Results(ctx, "r1")
	if err != nil {
		t.Fatal(err)
	}
	h.Close()
	var sent sync.WaitGroup
	sent.Go(func() { // while the hub is away
		if err := n.SendResult(t.Context(), head("r1", "web-1", 1), reports[1], nil); err != nil {
			t.Error(err)
		}
	})
	time.Sleep(100 * time.Millisecond)
	h = open(t, dir, "127.0.0.1"+port(h.URL))
	defer h.Close()
	got := map[int]bool{}
	for len(got) < 2 {
		select {
		case r := <-results:
			if got[r.Target.PID] = true; !bytes.Equal(r.Report, reports[r.Target.PID]) || r.Error != "" {
				t.Errorf("result %d has %d bytes: %s", r.Target.PID, len(r.Report), r.Error)
			}
		case <-ctx.Done():
			t.Fatalf("results %v in a minute", got)
		}
	}
	sent.Wait()
	came := make(chan string, 10)
	taking, end := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		n.Commands(taking, "web-1", func(d link.Delivery) { d.Ack(); came <- d.Subject }, func(text string) { t.Log(text) })
	}()
	select {
	case subject := <-came:
		if s, err := fleet.ParseDo(subject); err != nil || s.User != "anna" || s.Role != fleet.RoleRecord || s.Run != "r1" {
			t.Errorf("%+v, %v", s, err)
		}
	case <-ctx.Done():
		t.Error("no command in a minute")
	}
	end()
	<-over
}

// TestRoles: the broker refuses what a role may not do, whatever a message says.
func TestRoles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := open(t, dir, "127.0.0.1:0")
	defer h.Close()
	send := func(l *link.Link, do string) error {
		return l.Send(t.Context(), &fleet.Command{Schema: fleet.Schema, Do: do, Run: "r1", Target: fleet.Target{Node: "web-1", PID: 5}}, "web-1", 10*time.Second)
	}
	for role, want := range map[fleet.Role][2]bool{fleet.RoleLook: {false, false}, fleet.RoleSample: {true, false}, fleet.RoleRecord: {true, true}} {
		l := dial(t, key(t, h, dir, "user-"+string(role), role, ""))
		for i, do := range []string{fleet.DoSample, fleet.DoProfile} {
			err := send(l, do)
			if (err == nil) != want[i] || err != nil && !errors.Is(err, link.ErrRefused) {
				t.Errorf("%s, %s: %v", role, do, err)
			}
		}
	}
	// A node that has a key of its own can't speak for another.
	n := dial(t, key(t, h, dir, "web-1", fleet.RoleNode, "web-1"))
	if err := n.SendResult(t.Context(), head("r1", "web-2", 1), []byte("x"), nil); !errors.Is(err, link.ErrRefused) {
		t.Errorf("for another node: %v", err)
	}
	if err := n.SendResult(t.Context(), head("r1", "web-1", 1), []byte("x"), nil); err != nil {
		t.Error(err)
	}
	if err := send(n, fleet.DoSample); !errors.Is(err, link.ErrRefused) {
		t.Errorf("a node commands: %v", err)
	}
	wrong := h.Key(&link.Key{User: "user-look", Token: "nonsense"})
	if _, err := link.Dial(wrong, link.Options{}); err == nil || !strings.Contains(err.Error(), "key file") {
		t.Errorf("a wrong token: %v", err)
	}
	stranger := *wrong
	other := open(t, t.TempDir(), "127.0.0.1:0")
	defer other.Close()
	stranger.URL = other.URL
	if _, err := link.Dial(&stranger, link.Options{}); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("another hub: %v", err)
	}
}

// TestAsk: nodes that are there answer, one of them a second late; those that were there are known.
func TestAsk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := open(t, dir, "127.0.0.1:0")
	defer h.Close()
	nodeKey := key(t, h, dir, "node", fleet.RoleNode, "")
	anna := dial(t, key(t, h, dir, "anna", fleet.RoleLook, ""))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	add := func(i int) (*link.Link, *fleet.Node) {
		l, n := dial(t, nodeKey), &fleet.Node{Name: fmt.Sprintf("web-%d", i), JVMs: []fleet.JVM{{PID: i}}}
		if err := l.Here(ctx, n); err != nil {
			t.Fatal(err)
		}
		return l, n
	}
	var here, away []fleet.Node
	ask := func() { // until both listen
		t.Helper()
		for deadline := time.Now().Add(5 * time.Minute); len(here) < 2 && time.Now().Before(deadline); {
			var err error
			if here, away, err = anna.Nodes(ctx, 5*time.Second); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range 2 {
		l, n := add(i)
		go func() {
			_ = l.Answer(ctx, func() *fleet.Node {
				time.Sleep(time.Duration(i) * time.Second)
				return n
			})
		}()
	}
	ask()
	if len(here) != 2 || len(away) != 0 {
		t.Errorf("%d answer, %d do not", len(here), len(away))
	}
	add(2)
	here = nil
	ask()
	known, err := anna.Known(ctx)
	if len(here) != 2 || len(away) != 1 || away[0].Name != "web-2" || len(known) != 3 || err != nil || known[0].Seen.IsZero() {
		t.Errorf("%d answer, %d do not, %d are known: %v", len(here), len(away), len(known), err)
	}
}

// TestKeys: a hub lets new users in at once, and ends connections of those who are gone.
func TestKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := open(t, dir, "127.0.0.1:0")
	defer h.Close()
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() { h.Run(ctx); close(over) }()
	l := dial(t, key(t, h, dir, "anna", fleet.RoleLook, ""))
	if _, err := hub.AddUser(dir, "anna", fleet.RoleDump, ""); !errors.Is(err, hub.ErrKnown) {
		t.Error(err)
	}
	if err := hub.RemoveUser(dir, "anna"); err != nil {
		t.Fatal(err)
	}
	gone := false
	for deadline := time.Now().Add(5 * time.Minute); !gone && time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		one, cancel := context.WithTimeout(ctx, time.Second)
		_, err := l.Known(one)
		cancel()
		gone = err != nil
	}
	if !gone {
		t.Error("the connection of a user who was removed is good for a minute")
	}
	cancel()
	<-over
	if _, err := hub.Open(t.Context(), hub.Config{Dir: dir, Listen: "127.0.0.1:0", Say: func(string) {}}); !errors.Is(err, hub.ErrRunning) {
		t.Error(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if _, err := hub.Open(t.Context(), hub.Config{Dir: t.TempDir(), Listen: taken.Addr().String(), Say: func(string) {}}); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Error(err)
	}
	b, err := os.ReadFile(dir + "/users.json")
	if err != nil || bytes.Contains(b, []byte("token")) {
		t.Errorf("%s, %v", b, err)
	}
}

// TestFull: a hub whose disk is full takes no more, and what there is stays.
func TestFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := open(t, dir, "127.0.0.1:0")
	defer h.Close()
	n := dial(t, key(t, h, dir, "node", fleet.RoleNode, ""))
	b := make([]byte, fleet.MostInline)
	taken := 0
	for i := range 200 { // 50 MB of the 18 MB that results have
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // a full hub refuses for as long
		err := n.SendResult(ctx, head("r1", "web-1", i), append(b[:len(b)-1], byte(i)), nil)
		cancel()
		if err != nil {
			break
		}
		taken++
	}
	if taken < 20 || taken > 100 {
		t.Errorf("%d results were taken", taken)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	anna := dial(t, key(t, h, dir, "anna", fleet.RoleSample, ""))
	results, err := anna.Results(ctx, "r1")
	if err != nil {
		t.Fatal(err)
	}
	for range taken {
		select {
		case <-results:
		case <-ctx.Done():
			t.Fatal("results are missing")
		}
	}
}
