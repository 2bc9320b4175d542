package browser

import (
	"fmt"
	"strings"
	"testing"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// TestStateWithPage has the page told that a recording has stopped, and its last figures a moment later: it shows both at once.
func TestStateWithPage(t *testing.T) {
	t.Parallel()
	file, err := build()
	if err != nil {
		t.Fatal(err)
	}
	program := program(t, "Busy")
	l := start(t, file, "sample", fmt.Sprint(program.cmd.Process.Pid), "--ui", "--wall").line(t, "http://")
	p := open(t, l[strings.Index(l, "http://"):], 1280, 800)
	// Messages come by way of window.told, so that those of the server can be kept from the page.
	p.do("listen", call(cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: `
		const onmessage = Object.getOwnPropertyDescriptor(WebSocket.prototype, "onmessage");
		Object.defineProperty(WebSocket.prototype, "onmessage", { set(f) {
			window.told = (m) => f({ data: JSON.stringify(m) });
			onmessage.set.call(this, (m) => {
				if (window.mute) return;
				const read = JSON.parse(m.data);
				if (read.t === "state") window.state = read.state; else window.page = read;
				f(m);
			});
		} });`}), chromedp.Reload())
	p.until(`document.querySelector(".phase.recording") && Number(document.querySelector(".icicle")?.dataset.total) > 0`)
	phase := `new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => shown(document.querySelector(".phase").className)))))`
	before := value[string](p, `(() => {
		window.mute = true;
		window.told({ t: "state", state: { ...window.state, phase: "stopped" }, log: [], page: true });
		return `+phase+`;
	})()`)
	if strings.Contains(before, "stopped") {
		t.Error("the page says that the recording has stopped before it has the last figures")
	}
	after := value[string](p, `(() => {
		window.told({ t: "page", seq: window.page.seq, source: 0, frame: window.page.frame + 1 });
		return `+phase+`;
	})()`)
	if !strings.Contains(after, "stopped") {
		t.Errorf("with the last figures the page shows %q", after)
	}
	if problems := p.console(); len(problems) > 0 {
		t.Errorf("console: %q", problems)
	}
}
