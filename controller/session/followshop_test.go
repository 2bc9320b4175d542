package session_test

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// startShop starts the bench folder's shop, Tomcat with JSPs and H2, from a folder
// of its own, with the servlet of testdata/AsyncOrders.java. It returns the
// address of the servlet.
func startShop(t *testing.T, j jvmtest.JDK) (p *jvmtest.Proc, url string) {
	t.Helper()
	bench := jdk.Bench()
	from, java := filepath.Join(bench, "shop"), filepath.Join(bench, "root", "usr", "share", "java")
	home := filepath.Join(bench, "root", "usr", "share", "tomcat10")
	api, classes := filepath.Join(java, "tomcat10-servlet-api.jar"), filepath.Join("webapps", "shop", "WEB-INF", "classes")
	for _, file := range []string{api, filepath.Join(home, "bin", "bootstrap.jar"), filepath.Join(from, classes, "shop", "FrontController.class")} {
		if _, err := os.Stat(file); err != nil {
			t.Skip("workload shop not fetched")
		}
	}
	source, err := os.ReadFile(filepath.Join("testdata", "AsyncOrders.java"))
	if err != nil {
		t.Fatal(err)
	}
	async := jvmtest.Compile(t, jvmtest.Any(t), 11, map[string]string{"shop/AsyncOrders.java": string(source)},
		"-cp", strings.Join([]string{filepath.Join(from, classes), api}, string(os.PathListSeparator)))

	base := t.TempDir()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"conf", "webapps"} {
		check(os.CopyFS(filepath.Join(base, dir), os.DirFS(filepath.Join(from, dir))))
	}
	check(os.Symlink(filepath.Join(from, "lib"), filepath.Join(base, "lib")))
	check(os.MkdirAll(filepath.Join(base, "temp"), 0o700))
	check(os.CopyFS(filepath.Join(base, classes), os.DirFS(async)))
	descriptor := filepath.Join(base, "webapps", "shop", "WEB-INF", "web.xml")
	b, err := os.ReadFile(descriptor)
	check(err)
	text := strings.Replace(string(b), "<servlet-class>shop.FrontController<", "<servlet-class>shop.AsyncOrders<", 1)
	if text == string(b) {
		t.Fatalf("no servlet to replace in %s", b)
	}
	check(os.WriteFile(descriptor, []byte(text), 0o600))

	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	check(l.Close())
	cmd := exec.Command(j.Java(), "-Xmx512m", "-Dcatalina.home="+home, "-Dcatalina.base="+base, "-Djava.io.tmpdir="+filepath.Join(base, "temp"),
		"-Dwl.port="+port, "-Dwl.threads=8", "-Dwl.home="+bench, "-Djava.util.logging.config.file="+filepath.Join(base, "conf", "logging.properties"),
		"-cp", filepath.Join(home, "bin", "bootstrap.jar")+string(os.PathListSeparator)+filepath.Join(home, "bin", "tomcat-juli.jar"),
		"org.apache.catalina.startup.Bootstrap", "start")
	p = jvmtest.StartCmd(t, cmd)
	url = "http://127.0.0.1:" + port + "/shop/do/"
	for deadline := time.Now().Add(jvmtest.Patience); ; time.Sleep(20 * time.Millisecond) {
		if _, err := ask200(url + "done"); err == nil {
			return p, url
		} else if time.Now().After(deadline) {
			t.Fatalf("the shop does not answer: %v; %q", err, p.Stderr())
		}
	}
}

// ask200 returns the body of an answer that must be well.
func ask200(url string) (string, error) {
	res, err := http.Get(url)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, res.Status)
	}
	return string(b), err
}

// TestFollowShop follows the asynchronous steps of orders in a shop on Tomcat with
// a database, under load: each is below the method that handed it over, as often
// as there were orders, and waited as long as the shop itself says.
func TestFollowShop(t *testing.T) {
	t.Parallel()
	p, url := startShop(t, jvmtest.Any(t))
	const clients, each = 8, 12
	load := func(path func(client, n int) string) {
		t.Helper()
		var wg sync.WaitGroup
		for c := range clients {
			wg.Go(func() {
				for n := range each {
					if _, err := ask200(url + path(c, n)); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
	// Before the recording: orders, too, so that the pools' threads are there.
	user := func(c, n int) int { return c*each + n }
	cart := func(c, n int) string { return fmt.Sprintf("cart?u=%d&id=%d", user(c, n), 10*user(c, n)) }
	order := func(c, n int) string { return fmt.Sprintf("order?u=%d", user(c, n)) }
	load(cart)
	load(order)
	counts := func() (orders, right, queued int64) {
		t.Helper()
		text, err := ask200(url + "done")
		if _, scan := fmt.Sscan(text, &orders, &right, &queued); err != nil || scan != nil || orders != right {
			t.Fatalf("%q: %v, %v", text, err, scan)
		}
		return orders, right, queued
	}
	earlier, _, waited := counts()
	load(cart)

	s := attached(t, p)
	rec := session.Recording{Roots: []string{"shop.AsyncOrders.service"}, Scheme: "A", Follow: true, Slowest: 10, UntilCalls: clients*each + 1}
	for _, pattern := range []string{"org.h2.**", "org.apache.**"} { // some thousand methods, whose probes would take most of the time
		if err := rec.Filter.Add(pattern, false); err != nil {
			t.Fatal(err)
		}
	}
	start(t, s, rec)
	load(order)
	orders, _, queued := counts()
	orders, queued = orders-earlier, queued-waited
	r := finish(t, s)
	if orders != clients*each || t.Failed() {
		t.Fatalf("%d orders, want %d", orders, clients*each)
	}
	const own, worker = "shop.AsyncOrders.", "java.util.concurrent.ThreadPoolExecutor.runWorker"
	got := edges(r, r.Tree.Roots())
	maps.DeleteFunc(got, func(edge string, _ int64) bool {
		from, to, _ := strings.Cut(edge, " > ")
		return !strings.Contains(to, own) && !strings.HasPrefix(to, "~") && to != "shop.Shop.order" || strings.HasPrefix(from, "jdk.proxy")
	})
	same(t, got, map[string]int64{
		own + "service > " + own + "done": 1, "shop.OrderAction.execute > shop.Shop.order": orders,
		own + "service > " + own + "ship": orders, own + "ship > ~" + worker: orders,
		"~" + worker + " > " + own + "lambda$ship": orders, own + "lambda$ship > " + own + "pack": orders,
		own + "service > " + own + "invoice": orders, own + "invoice > ~" + worker: 2 * orders, // two stages
		"~" + worker + " > " + own + "lambda$invoice": 2 * orders, own + "lambda$invoice > " + own + "write": orders, own + "lambda$invoice > " + own + "send": orders,
	})
	if k := r.Tree; k.Unfollowed+k.Detached+k.Bad+k.Lost > 0 || len(r.Notes) > 0 {
		t.Errorf("%d unfollowed, %d detached, %d damaged, %d lost; notes %q", k.Unfollowed, k.Detached, k.Bad, k.Lost, r.Notes)
	}
	for n := range cct.All(cct.Merge(r.Tree.Roots())) {
		if short(r, n.Method) != own+"ship" {
			continue
		}
		// The shop's clock begins before the hand-over and ends in the task.
		if w := n.Children[0].Async(); w == nil || w.Waited > queued || w.Waited < queued-queued/4 || w.Longest > w.Waited || w.Longest < w.Waited/orders {
			t.Errorf("queued for %+v, by the shop's own clock for %d ns", w, queued)
		}
	}
	if e := r.Events; e.Differ == nil || *e.Differ != 0 || e.Bad != 0 {
		t.Errorf("events and tree differ: %+v", e)
	}
	for k, i := range r.Slowest.Invocations {
		tasks := map[string]int64{}
		for n := range cct.All(i.Thread.Roots) {
			if name, ok := strings.CutPrefix(short(r, n.Method), own); ok && !strings.HasPrefix(name, "lambda$") {
				tasks[name] += n.Calls
			}
		}
		if tasks["done"] == 0 {
			same(t, tasks, map[string]int64{"service": 1, "ship": 1, "pack": 1, "invoice": 1, "write": 1, "send": 1})
		}
		if path := i.Path; path == nil || path.Lacking != 0 || path.Run+path.Queue+path.Wait+path.Profiler != i.Took+i.Suspended {
			t.Errorf("slowest %d, which took %d and %d: %+v", k, i.Took, i.Suspended, path)
		}
	}
}
