package browser

import (
	"fmt"
	"testing"
)

// TestClick clicks a button that is moved away at the moment of the first click, onto one that must not be clicked: the click is
// kept from that, and made again.
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

// TestAimed wants no row of a JVM added above what somebody is about to click: while the pointer moves below the rows, and for
// some time after.
func TestAimed(t *testing.T) {
	t.Parallel()
	p := open(t, served(t), 1280, 800)
	p.until(`document.querySelector("#several")`)
	// The pointer moves each time that the page has a new list.
	value[bool](p, `(() => {
		const real = window.fetch;
		window.lists = [];
		window.aims = true;
		window.fetch = async (...of) => {
			const r = await real(...of);
			if (!String(of[0]).endsWith("/targets")) return r;
			const text = await r.text();
			if (window.aims) document.querySelector("#several").dispatchEvent(new PointerEvent("pointermove", { bubbles: true }));
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
		t.Error("a row was added while the pointer moved below")
	}
	value[bool](p, `!(window.aims = false)`)
	p.until(row)
}
