package browser

import (
	"fmt"
	"testing"
)

// TestClick clicks a button that moves away while the mouse is pressed, so that it is let go over another one: that is no click of
// either, and it is made again.
func TestClick(t *testing.T) {
	t.Parallel()
	p := open(t, "data:text/html,<div id=above></div><button id=other>other</button><br><button id=meant>meant</button>", 800, 600)
	value[bool](p, `(() => {
		window.other = window.meant = window.moved = 0;
		document.querySelector("#other").onclick = () => window.other++;
		document.querySelector("#meant").onclick = () => window.meant++;
		addEventListener("mousedown", () => {
			if (window.moved++ > 0) return;
			document.querySelector("#above").style.height = document.querySelector("#meant").getBoundingClientRect().y - document.querySelector("#other").getBoundingClientRect().y + "px";
		}, true);
		return true;
	})()`)
	p.click("#meant")
	if got := value[string](p, `[window.meant, window.other, window.moved].join()`); got != "1,0,2" {
		t.Errorf("clicks of the button, of the other, presses: %s", got)
	}
}

// TestAimed wants no row of a JVM added above what somebody is about to click: for some time after the pointer has moved
// elsewhere than in the rows.
func TestAimed(t *testing.T) {
	t.Parallel()
	p := open(t, served(t), 1280, 800)
	p.until(`document.querySelector("#several")`)
	// The page's clock stands still after the pointer has moved.
	value[bool](p, `(() => {
		const real = window.fetch;
		window.lists = [];
		const clock = Date.now, moved = clock();
		window.aims = true;
		Date.now = () => window.aims ? moved : clock();
		document.querySelector("#several").dispatchEvent(new PointerEvent("pointermove", { bubbles: true }));
		window.fetch = async (...of) => {
			const r = await real(...of);
			if (!String(of[0]).endsWith("/targets")) return r;
			const text = await r.text();
			window.lists.push(text);
			return new Response(text, { status: r.status, headers: r.headers });
		};
		return true;
	})()`)
	p.until(`window.lists.length > 0`)
	pid := fmt.Sprint(program(t, "Counted").cmd.Process.Pid)
	p.until(`window.lists.filter((l) => l.includes('"pid":` + pid + `')).length > 1`)
	row := `document.querySelector('button[data-pid="` + pid + `"]')`
	if value[bool](p, row+" !== null") {
		t.Error("a row was added just after the pointer had moved below")
	}
	value[bool](p, `!(window.aims = false)`)
	p.until(row)
}
