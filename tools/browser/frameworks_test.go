package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestFrameworksPage opens samples of a program whose levels of Spring are one row of the
// tree and one box of the flame graph, until somebody wants to see them.
func TestFrameworksPage(t *testing.T) {
	t.Parallel()
	file, err := build()
	if err != nil {
		t.Fatal(err)
	}
	spring := "org/springframework/web/Filter.doFilter;org/springframework/web/Chain.next;org/springframework/aop/Proxy.invoke;"
	stacks := "app/Server.run;" + spring + "app/Orders.order;app/Price.of 60\napp/Server.run;" + spring + "app/Orders.order 40\n"
	saved := filepath.Join(t.TempDir(), "stacks.collapsed")
	if err := os.WriteFile(saved, []byte(stacks), 0o600); err != nil {
		t.Fatal(err)
	}
	l := start(t, file, "view", saved, "--ui").line(t, "http://")
	p := open(t, l[strings.Index(l, "http://"):], 1280, 800)
	rows := `[...document.querySelectorAll(".table .space .tr .name")].map((e) => e.textContent).join("|")`
	const folded = `"Server.run|Filter.doFilter|… 2 levels of org.springframework.aop, org.springframework.web|Orders.order|Price.of"`
	const whole = `"Server.run|Filter.doFilter|Chain.next|Proxy.invoke|Orders.order|Price.of"`
	p.until(rows + " === " + folded)
	p.shot("frameworks")
	p.fair("a tree with frameworks folded")
	p.do("show", chromedp.Click("button.unfold"))
	p.until(rows + ".startsWith(" + `"Server.run|Filter.doFilter|Chain.next"` + ")")
	value[bool](p, `(() => { [...document.querySelectorAll(".sourcebar button")].find((b) => b.textContent === "Hot path").click(); return true; })()`)
	p.until(rows + " === " + whole)
	value[bool](p, `(() => { (() => { const box = [...document.querySelectorAll(".sourcebar .check")].find((e) => e.textContent.includes("frameworks")).querySelector("input"); box.click(); })(); return true; })()`)
	p.until(`[...document.querySelectorAll(".sourcebar .check")].some((e) => e.textContent.includes("frameworks") && !e.querySelector("input").checked)`)
	value[bool](p, `(() => { [...document.querySelectorAll(".sourcebar .check")].find((e) => e.textContent.includes("frameworks")).querySelector("input").click(); return true; })()`)
	value[bool](p, `(() => { [...document.querySelectorAll(".sourcebar button")].find((b) => b.textContent === "Hot path").click(); return true; })()`)
	p.until(rows + " === " + folded)
	if found := p.console(); len(found) > 0 {
		t.Error("console:", found)
	}
}
