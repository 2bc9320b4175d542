package browser

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestKeysFail wants keys to say what has failed, as buttons do.
func TestKeysFail(t *testing.T) {
	t.Parallel()
	program := program(t, "Counted")
	p := open(t, served(t), 1280, 800)
	p.root(program, "counted root")
	p.click("#start")
	p.wait(".phase.recording")
	p.until(`document.activeElement.matches(".table, [data-main], body")`)
	const said = `document.querySelector("header [role=alert]")?.textContent.includes("does not answer")`
	value[bool](p, `(window.asked = window.fetch, window.fetch = () => Promise.reject(new Error("cut")), true)`)
	for _, key := range []string{"s", "p", "r"} {
		p.press(key)
		p.until(said)
		value[bool](p, `document.querySelector("header [role=alert] button").click() ?? true`)
		p.until("!" + said)
	}
	value[bool](p, `(window.fetch = window.asked, true)`)
	p.press("r")
	p.wait(".phase.stopped")
	if problems := p.console(); len(problems) > 0 {
		t.Errorf("console: %q", problems)
	}
}

// TestFullHeapOnPage is refused a JVM whose heap is full, and attaches all the same.
func TestFullHeapOnPage(t *testing.T) {
	t.Parallel()
	j := jvmtest.Any(t)
	program := start(t, j.Java(), "-Xmx32m", "-XX:+UseSerialGC", "-cp", compiled(t, j, filepath.Join("..", "..", "controller", "session", "testdata", "FullHeap.java")), "t.FullHeap")
	program.line(t, "READY")
	program.tell(t, "hold")
	program.line(t, "HELD")
	p := open(t, served(t), 1280, 800)
	p.click(fmt.Sprintf(`button[data-pid="%d"]`, program.cmd.Process.Pid))
	p.until(`document.querySelector("[role=alert]")?.textContent.includes("its heap is full")`)
	p.shot("full-heap")
	program.tell(t, "drop") // there is room, which the JVM's counters don't know before a collection
	program.line(t, "DROPPED")
	p.click("#full-heap")
	p.wait(".phase.attached")
}

// TestManyOpen has more boxes open than the server takes, kept over a reload: the
// connection lasts.
func TestManyOpen(t *testing.T) {
	t.Parallel()
	p := open(t, served(t), 1280, 800)
	p.wait(".phase.idle")
	value[bool](p, `(() => {
		const many = Array.from({ length: 5000 }, (_, i) => i + 1);
		sessionStorage.setItem("rivulet.ui." + sessionStorage.getItem("rivulet.key").slice(0, 6), JSON.stringify({ open: many, compare: { open: many, from: 0, rows: 60 } }));
		return true;
	})()`)
	p.do("reload", chromedp.Reload())
	p.wait(".phase.idle")
	for range 20 {
		if text := value[string](p, `document.querySelector("[role=alert]")?.textContent ?? ""`); text != "" {
			t.Fatal("the page says: ", text)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// TestFiguresShown wants the bar to have the figures of what is looked at: of a snapshot
// while another recording is on, of that one, and of the snapshot when the JVM is left.
func TestFiguresShown(t *testing.T) {
	t.Parallel()
	program := program(t, "Counted")
	p := open(t, served(t), 1280, 800)
	p.root(program, "counted root")
	p.click("#start")
	p.wait(".phase.recording")
	program.counts(t, 30)
	shown := func(label, text string) {
		t.Helper()
		p.until(fmt.Sprintf(`[...document.querySelectorAll(".figures > div")].find((e) => e.querySelector("dt").textContent === %q)?.querySelector("dd").textContent === %q`, label, text))
	}
	shown("root calls", "30")
	p.click("#stop")
	p.wait("#again")
	methods := value[string](p, `[...document.querySelectorAll(".figures > div")].find((e) => e.querySelector("dt").textContent === "methods").querySelector("dd").textContent`)
	p.click("#again")
	p.wait(".phase.recording")
	program.counts(t, 2)
	shown("root calls", "2")
	p.press("9")
	p.button("#snapshots tbody tr:last-child", "Open")
	shown("root calls", "30")
	shown("methods", methods)
	shown("snapshot", "as called + look ahead (C), low overhead (tick)")
	program.counts(t, 2)
	shown("root calls", "30")
	value[bool](p, `(() => { const s = document.querySelector(".sourcebar select"); s.value = "0"; s.dispatchEvent(new Event("change", { bubbles: true })); return true; })()`)
	shown("root calls", "4")
	p.click("#stop")
	p.click("#detach")
	p.wait(".phase.idle")
	p.click("#reopen")
	shown("root calls", "4")
	shown("methods", methods)
	p.shot("figures")
	if problems := p.console(); len(problems) > 0 {
		t.Errorf("console: %q", problems)
	}
}
