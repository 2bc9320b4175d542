package browser

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A wire is another way to a server, on another address of this machine, which can
// be cut.
type wire struct {
	listener net.Listener
	mu       sync.Mutex
	down     bool
	conns    []net.Conn
}

// wired is the address of a page by way of a wire.
func wired(t *testing.T, url string) (string, *wire) {
	t.Helper()
	to, rest, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	_, port, err := net.SplitHostPort(to)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{}
	if w.listener, err = net.Listen("tcp", "127.0.0.2:"+port); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.listener.Close(); w.set(true) })
	go func() {
		for {
			in, err := w.listener.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil || !w.take(in, out) {
				in.Close()
				continue
			}
			for _, c := range [][2]net.Conn{{in, out}, {out, in}} {
				go func() {
					_, _ = io.Copy(c[0], c[1]) // until it is cut
					c[0].Close()
					c[1].Close()
				}()
			}
		}
	}()
	return fmt.Sprintf("http://%s/%s", w.listener.Addr(), rest), w
}

// take keeps connections so that they can be cut; false if the wire is down.
func (w *wire) take(conns ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns = append(w.conns, conns...)
	if w.down {
		for _, c := range conns {
			c.Close()
		}
	}
	return !w.down
}

// set cuts the wire, or mends it.
func (w *wire) set(down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = down
	for _, c := range w.conns {
		c.Close()
	}
	w.conns = nil
}

// TestReconnect cuts the connection while a recording is on, and wants the page to say
// so, to come back by itself, and to show what was open, selected and zoomed, with what
// was counted meanwhile. With the server gone it says what to do.
func TestReconnect(t *testing.T) {
	t.Parallel()
	program := program(t, "Counted")
	url, server := servedBy(t)
	url, wire := wired(t, url)
	p := open(t, url, 1280, 800)
	p.root(program, "counted root")
	p.click("#start")
	p.wait(".phase.recording")
	want := program.counts(t, 100)
	p.openUntil(fmt.Sprintf(`document.querySelectorAll(".table .space .tr").length > 8 && document.querySelector(".table .space .tr .calls").textContent === "%d"`, want["root"]))
	p.press(kb.Home, kb.ArrowDown, kb.Enter)
	p.until(`document.querySelector(".crumbs b") && document.querySelector(".table .tr.selected .name b")`)
	const looked = `[document.querySelector(".crumbs b")?.textContent, document.querySelector(".table .tr.selected .name b")?.textContent,
		[...document.querySelectorAll(".table .space .tr .name b")].map((b) => b.textContent).sort().join()].join(" ")`
	before := value[string](p, looked)

	wire.set(true)
	p.until(`document.querySelector("[role=alert]")?.textContent.includes("trying again")`)
	p.shot("cut")
	if now := value[string](p, looked); now != before {
		t.Errorf("cut, it shows %q, before %q", now, before)
	}
	want = program.counts(t, 50)
	wire.set(false)
	p.until(`!document.querySelector("[role=alert]")`)
	p.until(fmt.Sprintf(`document.querySelector(".table .space .tr .calls")?.textContent === "%d"`, want["root"]))
	p.until(fmt.Sprintf("%s === %q", looked, before))
	same(t, "connected again", p.calls(), want)
	p.do("reload", chromedp.Reload())
	p.until(fmt.Sprintf("%s === %q", looked, before))

	if err := server.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-server.ended
	p.until(`document.querySelector("[role=alert]")?.textContent.includes("start it anew")`)
	if got := program.counts(t, 1); got["root"] != want["root"]+1 {
		t.Errorf("without the server the program counts %v", got)
	}
}
