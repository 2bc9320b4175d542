// Package browser tests the live page in a real Chromium, on real JVMs.
package browser

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// patience is what a test waits before it takes something for stuck.
const patience = jvmtest.Patience

// rivulet is the program built for all tests.
var (
	buildDir string
	build    = sync.OnceValues(func() (string, error) {
		file := filepath.Join(buildDir, "rivulet")
		cmd := exec.Command("go", "build", "-o", file, ".")
		cmd.Dir = filepath.Join("..", "..")
		out, err := cmd.CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("%w: %s", err, out)
		}
		return file, nil
	})
)

func TestMain(m *testing.M) {
	var err error
	if buildDir, err = os.MkdirTemp("", "rivulet-browser-"); err != nil {
		panic(err)
	}
	code := m.Run()
	endBrowser()
	os.RemoveAll(buildDir)
	os.Exit(code)
}

// A child is a process whose output is read line by line.
type child struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string
	ended chan struct{} // closed when it has ended
}

func start(t *testing.T, name string, args ...string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(name, args...), lines: make(chan string, 1000)}
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	c.cmd.Stdout, c.cmd.Stderr = w, w
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for s := bufio.NewScanner(r); s.Scan(); {
			c.lines <- s.Text()
		}
	}()
	c.ended = make(chan struct{})
	go func() {
		defer close(c.ended)
		_ = c.cmd.Wait()
		w.Close()
	}()
	t.Cleanup(func() {
		_ = c.cmd.Process.Signal(os.Interrupt)
		c.in.Close()
		select {
		case <-c.ended:
		case <-time.After(patience):
			t.Errorf("%s did not end", name)
			c.cmd.Process.Kill()
			<-c.ended
		}
	})
	return c
}

// line waits for a line with a text in it.
func (c *child) line(t *testing.T, with string) string {
	t.Helper()
	for over := time.After(patience); ; {
		select {
		case l := <-c.lines:
			if strings.Contains(l, with) {
				return l
			}
		case <-over:
			t.Fatalf("no line with %q", with)
		}
	}
}

func (c *child) tell(t *testing.T, line string) {
	t.Helper()
	if _, err := fmt.Fprintln(c.in, line); err != nil {
		t.Fatal(err)
	}
}

// A page is a tab of a headless Chromium.
type page struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	problems []string // of the console: errors, exceptions, violations of the policy
}

var browserNames = []string{"chromium", "chromium-browser", "google-chrome", "chrome"}

// chromium is the browser, "" if there is none.
func chromium() string {
	path := os.Getenv("CHROMIUM")
	for _, name := range browserNames {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	return path
}

// browser is the one Chromium of all tests, which each have tabs of their own: starting
// one takes seconds on a machine that has other work. TestMain ends it.
var browser = sync.OnceValues(func() (context.Context, error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium()), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WindowSize(1280, 800),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("force-color-profile", "srgb"))
	alloc, end := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(alloc)
	endBrowser = func() { cancel(); end() }
	return ctx, chromedp.Do(ctx)
})

var endBrowser = func() {}

// open opens an address in a tab of its own.
func open(t *testing.T, url string, width, height int64) *page {
	t.Helper()
	if chromium() == "" {
		t.Skip("Chromium not installed")
	}
	parent, err := browser()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(parent)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 4*patience)
	t.Cleanup(cancel)
	p := &page{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, func(ev any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch e := ev.(type) {
		case *runtime.EventExceptionThrown:
			p.problems = append(p.problems, e.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			if e.Entry.Level == log.EntryLevelError {
				p.problems = append(p.problems, e.Entry.Text+" "+e.Entry.URL)
			}
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.ConsoleAPICalledTypeError {
				p.problems = append(p.problems, fmt.Sprint("console.error ", len(e.Args)))
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	p.do("open", call(log.Enable, cdp.Empty{}), call(emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}), chromedp.EmulateViewport(width, height), chromedp.Navigate(url))
	return p
}

// do carries out actions; what names them in a failure. An action that looks for an element
// begins anew where the page has drawn another in its place meanwhile.
func (p *page) do(what string, actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	for _, action := range actions {
		err := chromedp.Do(ctx, action)
		for ; goneMeanwhile(err) && ctx.Err() == nil; err = chromedp.Do(ctx, action) {
			time.Sleep(20 * time.Millisecond)
		}
		if err != nil {
			p.fail(what, err)
		}
	}
}

// goneMeanwhile tells whether an action has failed since its element was not in the page any more, or hidden at that moment.
func goneMeanwhile(err error) bool {
	var e *cdproto.Error
	return errors.As(err, &e) && e.Code == -32000 && (strings.Contains(e.Message, "node with given id") || strings.Contains(e.Message, "not focusable"))
}

func (p *page) fail(what string, err error) {
	p.t.Helper()
	text, _ := chromedp.Run(p.ctx, chromedp.Evaluate[string](`document.body.innerText.slice(0, 1500)`))
	p.t.Fatalf("%s: %v\nthe page says:\n%s\nconsole: %q", what, err, text, p.console())
}

// call makes an action of a command of the protocol.
func call[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, command, params)
		return chromedp.Void{}, err
	}
}

// click clicks where an element is once it stays there, with nothing before it: what is drawn above it, or comes over
// it, would get the click else. Rows of JVMs that begin and end can move it all the same before the click comes: one that
// reaches something else is kept from it, and made again.
func (p *page) click(selector string) {
	p.t.Helper()
	p.do("click "+selector, chromedp.WaitEnabled(selector))
	ready := fmt.Sprintf(`new Promise((then) => {
		const box = () => { const r = document.querySelector(%[1]q)?.getBoundingClientRect(); return r ? [r.x, r.y, r.width, r.height].join() : ""; };
		document.querySelector(%[1]q)?.scrollIntoView({ block: "nearest", inline: "nearest" });
		const before = box();
		requestAnimationFrame(() => requestAnimationFrame(() => {
			const e = document.querySelector(%[1]q), r = e?.getBoundingClientRect();
			const there = r && document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2);
			const still = before !== "" && before === box() && !e.disabled && (e.contains(there) || there?.contains(e) || false);
			removeEventListener("click", window.aim, true);
			window.clicked = "nothing";
			window.aim = (c) => {
				removeEventListener("click", window.aim, true);
				const hit = document.querySelector(%[1]q)?.contains(c.target) || c.target === there;
				window.clicked = hit ? "it" : "something else";
				if (!hit) (c.stopImmediatePropagation(), c.preventDefault());
			};
			if (still) addEventListener("click", window.aim, true);
			then(still);
		}));
	})`, selector)
	for over := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if value[bool](p, ready) {
			p.do("click "+selector, chromedp.Click(selector))
			reached, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](`window.clicked ?? "it"`))
			switch {
			case err != nil && strings.Contains(err.Error(), "navigated"), err == nil && reached == "it": // a click may lead to another page
				return
			case err != nil:
				p.fail("click "+selector, err)
			}
		}
		if time.Now().After(over) {
			p.fail("click "+selector, errors.New("it does not stay in one place, is covered or disabled"))
		}
	}
}

// focus gives an element the focus, and waits until it has kept it for a moment: a view that has just come takes
// it for its main part.
func (p *page) focus(selector string) {
	p.t.Helper()
	const looks = 3
	p.patiently(fmt.Sprintf(`((e) => { const had = e === document.activeElement; e.focus(); window.kept = had ? (window.kept ?? 0) + 1 : 0; return window.kept >= %d; })(document.querySelector(%q))`, looks, selector), func() {})
}

func (p *page) wait(selector string) {
	p.t.Helper()
	p.do("wait for "+selector, chromedp.WaitVisible(selector))
}

// value evaluates JavaScript.
func value[T any](p *page, script string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		p.fail(script, err)
	}
	return v
}

// until waits for a condition in JavaScript.
func (p *page) until(condition string) {
	p.t.Helper()
	p.patiently(condition, func() {})
}

// patiently does something again and again until a condition in JavaScript holds. A
// condition that throws does not hold yet: what it looks at may come and go while the
// page is drawn anew, and the page itself while it is loaded anew.
func (p *page) patiently(condition string, act func()) {
	p.t.Helper()
	look := "(() => { try { return (" + condition + `) ? "" : "it does not hold"; } catch (e) { return String(e); } })()`
	for over := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		why, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](look, chromedp.EvalAwaitPromise))
		switch {
		case err != nil && p.ctx.Err() == nil && strings.Contains(err.Error(), "navigated"):
			why = err.Error()
		case err != nil:
			p.fail(condition, err)
		case why == "":
			return
		}
		if time.Now().After(over) {
			p.fail("until "+condition, fmt.Errorf("%s: %w", why, context.DeadlineExceeded))
		}
		act()
	}
}

func (p *page) console() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.problems...)
}

// shot saves a picture where RIVULET_SHOTS says.
func (p *page) shot(name string) {
	p.t.Helper()
	dir := os.Getenv("RIVULET_SHOTS")
	if dir == "" {
		return
	}
	time.Sleep(300 * time.Millisecond)
	png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.fail("picture", err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// scheme sets light or dark, and the size.
func (p *page) scheme(colors string, width, height int64) {
	p.t.Helper()
	p.do("emulate", call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: colors}}}),
		chromedp.EmulateViewport(width, height))
}

// served starts "rivulet serve" and returns the page's address.
func served(t *testing.T) string {
	t.Helper()
	url, _ := servedBy(t)
	return url
}

func servedBy(t *testing.T) (url string, server *child) {
	t.Helper()
	return servedWith(t, t.TempDir())
}

// servedWith has a folder for snapshots.
func servedWith(t *testing.T, snapshots string) (url string, server *child) {
	t.Helper()
	file, err := build()
	if err != nil {
		t.Fatal(err)
	}
	server = start(t, file, "serve", "--snapshots", snapshots)
	l := server.line(t, "http://")
	return l[strings.Index(l, "http://"):], server
}
