//go:build corpus

package probe_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// The load on the shop: so many clients place so many orders each, and look
// around before and after each.
const (
	shopClients = 8
	shopOrders  = 60
)

var (
	shopPlaced = regexp.MustCompile(`Order [1-9]\d*: 1 lines, total (\d+)`)
	shopStat   = regexp.MustCompile(`requests (\d+) orders (\d+) total (\d+) lines (\d+)`)
)

// wholeShop runs Tomcat with the shop of the bench folder, bare and with
// everything but the pages instrumented, which Tomcat compiles as it goes: each
// request of a load is answered, and the shop's books say what the load saw and
// are the same both times.
func wholeShop(t *testing.T, j jvmtest.JDK, w *whole) {
	bench := classtest.Bench()
	if _, err := os.Stat(filepath.Join(bench, "shop", "conf")); err != nil {
		t.Fatalf("%v: run go tool task bench:setup", err)
	}
	tomcat := filepath.Join(bench, "root", "usr", "share", "tomcat10")
	_, bare := serveShop(t, j, tomcat, filepath.Join(bench, "shop"), nil, nil)

	base := filepath.Join(t.TempDir(), "shop")
	if err := os.CopyFS(base, os.DirFS(filepath.Join(bench, "shop"))); err != nil {
		t.Fatal(err)
	}
	var jars []string
	links, _ := filepath.Glob(filepath.Join(bench, "shop", "lib", "*.jar"))
	for _, link := range links {
		here := filepath.Join(base, "lib", filepath.Base(link))
		os.Remove(here)
		if jar, err := filepath.EvalSymlinks(link); err != nil {
			t.Log(err) // not all are there, nor needed
		} else if err := os.Symlink(jar, here); err != nil {
			t.Fatal(err)
		} else {
			jars = append(jars, jar)
		}
	}
	more, _ := filepath.Glob(filepath.Join(tomcat, "lib", "*.jar"))
	var common []classtest.Class
	for _, jar := range append(jars, more...) {
		common = append(common, w.ta.rewriteAll(t, classtest.Read(t, jar))...)
	}
	classtest.Jar(t, filepath.Join(base, "mine.jar"), firstOfEach(common))
	conf := filepath.Join(base, "conf", "catalina.properties")
	text, err := os.ReadFile(conf)
	if err == nil {
		text = bytes.Replace(text, []byte("common.loader="), []byte(`common.loader="${catalina.base}/mine.jar",`), 1)
		err = os.WriteFile(conf, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	classes := filepath.Join(base, "webapps", "shop", "WEB-INF", "classes")
	for _, c := range w.ta.rewriteAll(t, classtest.ReadDir(t, classes)) {
		if err := os.WriteFile(filepath.Join(classes, c.Name+".class"), c.Bytes, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var first []classtest.Class
	for _, jar := range []string{"bootstrap.jar", "tomcat-juli.jar"} {
		first = append(first, w.ta.rewriteAll(t, classtest.Read(t, filepath.Join(tomcat, "bin", jar)))...)
	}
	mine := filepath.Join(t.TempDir(), "mine.jar")
	classtest.Jar(t, mine, first)
	out, got := serveShop(t, j, tomcat, base, w.flags, []string{mine})
	if got != bare {
		t.Errorf("books of the shop %q, without probes %q\n%.3000s", got, bare, out)
	}
	t.Logf("%s; %s", got, w.books(t, out))
}

// serveShop starts a shop, puts it under load, stops it, and returns what it
// printed and its books.
func serveShop(t *testing.T, j jvmtest.JDK, tomcat, base string, flags, cp []string) (out, books string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") // a free port
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	cp = append(cp, filepath.Join(tomcat, "bin", "bootstrap.jar"), filepath.Join(tomcat, "bin", "tomcat-juli.jar"))
	args := append(flags, "-Xms512m", "-Xmx1g", "-Djava.awt.headless=true", "-Dcatalina.home="+tomcat, "-Dcatalina.base="+base,
		"-Djava.io.tmpdir="+t.TempDir(), fmt.Sprint("-Dwl.port=", port), "-Dwl.threads=8", "-Dwl.home="+classtest.Bench(),
		"-Djava.util.logging.config.file="+filepath.Join(base, "conf", "logging.properties"),
		"-cp", strings.Join(cp, ":"), "org.apache.catalina.startup.Bootstrap", "start")
	cmd := exec.Command(j.Java(), args...)
	var printed bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = base, &printed, &printed
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	stop := sync.OnceFunc(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(jvmtest.Patience):
			cmd.Process.Kill()
			t.Error("the shop does not stop")
			<-ended
		}
	})
	defer stop()
	url := fmt.Sprintf("http://127.0.0.1:%d/shop/do/", port)
	for start := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		if _, err := fetch(url + "stat"); err == nil {
			break
		} else if time.Since(start) > 5*time.Minute {
			stop()
			t.Fatalf("the shop does not start: %v\n%.3000s", err, printed.String())
		}
	}
	before := readBooks(t, url)
	placed, total := loadShop(t, url)
	after := readBooks(t, url)
	const requests = shopClients * shopOrders * shopRound
	switch {
	case placed != shopClients*shopOrders || after[1]-before[1] != placed:
		t.Errorf("%d orders answered, %d in the books", placed, after[1]-before[1])
	case after[2]-before[2] != total || after[3]-before[3] != total:
		t.Errorf("orders of %d answered, %d in the books, lines of %d", total, after[2]-before[2], after[3]-before[3])
	case after[0]-before[0] != requests+1: // and the second look at the books
		t.Errorf("%d requests, %d in the books", requests+1, after[0]-before[0])
	}
	stop()
	return printed.String(), fmt.Sprintf("orders %d total %d", placed, total)
}

// shopRound is how many requests a client makes for an order.
const shopRound = 5

// loadShop returns how many orders were answered, and their sum.
func loadShop(t *testing.T, url string) (placed, total int) {
	t.Helper()
	var mu sync.Mutex
	var clients sync.WaitGroup
	for user := range shopClients {
		clients.Go(func() {
			for i := range shopOrders {
				item := (user*shopOrders + i) * 7 % 4000
				for _, path := range [shopRound]string{
					fmt.Sprintf("browse?c=%d&p=%d", item%40, i%5), fmt.Sprint("item?id=", item),
					fmt.Sprintf("cart?u=%d&id=%d", user, item), fmt.Sprint("order?u=", user), fmt.Sprint("history?u=", user),
				} {
					page, err := fetch(url + path)
					if err != nil {
						t.Error(err)
						return
					}
					if m := shopPlaced.FindStringSubmatch(page); m != nil {
						var sum int
						fmt.Sscan(m[1], &sum)
						mu.Lock()
						placed, total = placed+1, total+sum
						mu.Unlock()
					}
				}
			}
		})
	}
	clients.Wait()
	return placed, total
}

// readBooks returns requests, orders, their sum and that of their lines.
func readBooks(t *testing.T, url string) (n [4]int) {
	t.Helper()
	page, err := fetch(url + "stat")
	m := shopStat.FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("the shop has no books: %v %s", err, page)
	}
	for i := range n {
		fmt.Sscan(m[i+1], &n[i])
	}
	return n
}

func fetch(url string) (string, error) {
	r, err := http.Get(url)
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.300s", url, r.Status, b)
	}
	return string(b), err
}
