package session_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// servePaths are how often each method below a root is called by way of which:
// "~" is an execution, and the JDK's methods and lambdas in between are left out.
func servePaths(r *export.Report) map[string]int64 {
	out := map[string]int64{}
	type item struct {
		node *cct.Node
		path string
	}
	var todo []item
	for _, n := range cct.Merge(r.Tree.Roots()) {
		todo = append(todo, item{n, ""})
	}
	for len(todo) > 0 {
		it := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if it.node.Async() != nil {
			it.path += "~"
		}
		full, _, _ := strings.Cut(r.Method(it.node.Method).Name, "(")
		if class, name, ok := strings.Cut(full, "FollowServe."); ok && class == "t." && !strings.HasPrefix(name, "lambda$") {
			it.path += "/" + name
			out[it.path] += it.node.Calls
		} else if full == "shop.orders.OrderService.process" {
			out[it.path+"/process"] += it.node.Calls
			continue
		}
		for _, c := range it.node.Children {
			todo = append(todo, item{c, it.path})
		}
	}
	return out
}

// TestFollowServer follows the steps of orders that a server takes under load:
// every one is counted, below the order that handed it over. The server has
// virtual threads where there are any.
func TestFollowServer(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	demo := os.DirFS("../../jvmside/demo")
	if err := fs.WalkDir(demo, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(demo, path)
		files[path] = string(b)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join("testdata", "FollowServe.java"))
	if err != nil {
		t.Fatal(err)
	}
	files["t/FollowServe.java"] = string(b)
	dir := jvmtest.Compile(t, jvmtest.Any(t), 8, files)
	const clients, each = 8, 12
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		p := jvmtest.Start(t, j, nil, "t.FollowServe", nil, dir)
		p.WaitLine("READY")
		url := "http://127.0.0.1:" + strings.TrimPrefix(p.WaitLine("PORT "), "PORT ")
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.FollowServe.handle"}, Follow: true, Slowest: 10})
		get := func(path string) (string, error) { return ask200(url + path) }
		var load sync.WaitGroup
		for range clients {
			load.Go(func() {
				for range each {
					if _, err := get("/order"); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		load.Wait()
		answer, err := get("/done")
		var receipts, refused int64
		if _, scan := fmt.Sscan(answer, &receipts, &refused); err != nil || scan != nil || receipts+refused != clients*each || receipts == 0 {
			t.Fatalf("%q: %v, %v", answer, err, scan)
		}
		r := stopped(t, s)
		exact(t, r)
		want := map[string]int64{
			"/handle": clients * each, "/handle/next": clients * each, "/handle/process": clients * each, "/handle/lookUp": clients * each,
			"/handle/lookUp~/customer": clients * each, "/handle/later": receipts, "/handle/later~/mail": receipts, "/handle/later~/mail~/archive": receipts,
		}
		same(t, servePaths(r), want)
		if k := r.Tree; k.Unfollowed+k.Detached+k.Bad > 0 || len(r.Notes) > 0 {
			t.Errorf("%d unfollowed, %d detached, %d damaged; notes %q", k.Unfollowed, k.Detached, k.Bad, r.Notes)
		}
		if e := r.Events; e.Differ == nil || *e.Differ != 0 || e.Bad != 0 {
			t.Errorf("events and tree differ: %+v", e)
		}
		for k, i := range r.Slowest.Invocations {
			if path := i.Path; path == nil || path.Lacking != 0 || path.Run+path.Queue+path.Wait+path.Profiler != i.Took+i.Suspended {
				t.Errorf("slowest %d, which took %d and %d: %+v", k, i.Took, i.Suspended, path)
			}
		}
	}, 21, 25)
}
