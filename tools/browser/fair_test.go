package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// fair checks what is on the screen for everybody: whatever can be used has a
// name for screen readers; in light and in dark, text has the contrast that WCAG
// 2.1 AA asks for (1.4.3), and the focus shows (2.4.7, 1.4.11).
func (p *page) fair(where string) {
	p.t.Helper()
	for _, problem := range p.nameless() {
		p.t.Errorf("%s: no name: %s", where, problem)
	}
	p.do("a key", chromedp.KeyEvent(kb.Shift)) // so that the focus shows as for who uses keys
	for _, colors := range []string{"dark", "light"} {
		p.do("colours", call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: colors}}}))
		for _, problem := range value[[]string](p, unfair) {
			p.t.Errorf("%s, %s: %s", where, colors, problem)
		}
	}
}

// unfairIsSeen wants the checks to find what is wrong on purpose.
func (p *page) unfairIsSeen() {
	p.t.Helper()
	value[bool](p, `(() => {
		const add = (tag, text, style) => {
			const e = document.createElement(tag);
			e.textContent = text;
			e.className = "wrong";
			Object.assign(e.style, style);
			document.querySelector("main").append(e);
		};
		add("p", "pale", { color: "#949494" });
		add("button", "", {});
		add("button", "ringless", { outline: "none" });
		return true;
	})()`)
	if n := len(p.nameless()); n != 1 {
		p.t.Errorf("%d elements without a name, one is on purpose", n)
	}
	all := strings.Join(value[[]string](p, unfair), "; ")
	if !strings.Contains(all, `of "pale"`) || !strings.Contains(all, `focus does not show: BUTTON#.wrong "ringless"`) {
		p.t.Errorf("what is wrong on purpose is not seen: %s", all)
	}
	value[bool](p, `(document.querySelectorAll(".wrong").forEach((e) => e.remove()), true)`)
}

// usable are roles of what a person can do something with.
var usable = []string{
	"button", "link", "textbox", "searchbox", "combobox", "checkbox", "radio", "spinbutton", "tab", "tabpanel", "option", "listbox", "grid", "treegrid",
	"application", "progressbar", "dialog", "DisclosureTriangle", "image",
}

// nameless are nodes of the accessibility tree that lack a name.
func (p *page) nameless() []string {
	p.t.Helper()
	tree, err := chromedp.Run(p.ctx, func(ctx context.Context, t *chromedp.Target) (*accessibility.GetFullAXTreeResult, error) {
		r, err := cdp.Call(ctx, t, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		return &r, err
	})
	if err != nil {
		p.fail("accessibility tree", err)
	}
	text := func(v *accessibility.Value) (s string) {
		if v != nil {
			_ = json.Unmarshal(v.Value, &s) // of another type it is no text
		}
		return s
	}
	var out []string
	seen := 0
	for _, n := range tree.Nodes {
		role := text(n.Role)
		if n.Ignored || role == "RootWebArea" {
			continue
		}
		focusable := slices.ContainsFunc(n.Properties, func(k *accessibility.Property) bool {
			return k.Name == accessibility.PropertyNameFocusable && string(k.Value.Value) == "true"
		})
		if !focusable && !slices.Contains(usable, role) {
			continue
		}
		seen++
		if strings.TrimSpace(text(n.Name)) == "" {
			out = append(out, fmt.Sprintf("%s (node %d)", role, n.BackendDOMNodeID))
		}
	}
	if seen < 2 {
		out = append(out, fmt.Sprintf("all but %d of %d nodes: nothing can be used here", seen, len(tree.Nodes)))
	}
	return out
}

// unfair lists texts of too little contrast, elements whose focus can't be seen, and
// what takes two lines where one is meant.
const unfair = `(() => {
	const parse = (c) => {
		const n = c.match(/[\d.]+/g).map(Number), unit = c.startsWith("color(") ? 255 : 1;
		return [n[0] * unit, n[1] * unit, n[2] * unit, n[3] ?? 1];
	};
	const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
	const light = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, w, i) => {
		const v = c[i] / 255;
		return sum + w * (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
	}, 0);
	const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
	const ground = (el) => {
		const layers = [];
		for (let e = el; e; e = e.parentElement) {
			const c = parse(getComputedStyle(e).backgroundColor);
			if (c[3] > 0) layers.push(c);
			if (c[3] === 1) break;
		}
		return layers.reverse().reduce((below, c) => over(c, below), [255, 255, 255, 1]);
	};
	const shown = (el) => el.checkVisibility({ visibilityProperty: true }) && el.getClientRects().length > 0 && !el.closest(".unseen, :disabled, [aria-hidden=true]");
	const out = new Set();
	const text = (el, color, size, weight, what) => {
		const below = ground(el), r = ratio(over(parse(color), below), below);
		const large = size >= 24 || size >= 18.66 && weight >= 700;
		if (r < (large ? 3 : 4.5)) out.add("contrast " + r.toFixed(2) + " of " + JSON.stringify(what.trim().slice(0, 40)) + " in " + el.tagName + "." + el.className);
	};
	const scope = document.querySelector("dialog[open]") ?? document.body;
	const walk = document.createTreeWalker(scope, NodeFilter.SHOW_TEXT);
	let texts = 0;
	while (walk.nextNode()) {
		const el = walk.currentNode.parentElement, what = walk.currentNode.textContent;
		if (!what.trim() || !shown(el)) continue;
		const s = getComputedStyle(el);
		texts++;
		text(el, s.color, parseFloat(s.fontSize), Number(s.fontWeight), what);
	}
	const before = document.activeElement;
	let rings = 0;
	for (const el of scope.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")) {
		if (!shown(el)) continue;
		if (el.matches("input, select")) {
			const s = getComputedStyle(el);
			text(el, s.color, parseFloat(s.fontSize), Number(s.fontWeight), el.value);
			if (el.placeholder) text(el, getComputedStyle(el, "::placeholder").color, parseFloat(s.fontSize), 400, el.placeholder);
		}
		el.focus({ preventScroll: true, focusVisible: true });
		if (document.activeElement !== el) continue;
		rings++;
		const s = getComputedStyle(el);
		const name = el.tagName + "#" + el.id + "." + el.className + " " + JSON.stringify((el.ariaLabel ?? el.textContent).trim().slice(0, 40));
		if (!el.matches(":focus-visible") || s.outlineStyle === "none" || parseFloat(s.outlineWidth) < 2) out.add("focus does not show: " + name);
		else {
			const beneath = parseFloat(s.outlineOffset) < 0 ? ground(el) : ground(el.parentElement);
			const r = ratio(over(parse(s.outlineColor), beneath), beneath);
			if (r < 3) out.add("focus shows by a contrast of " + r.toFixed(2) + ": " + name);
		}
	}
	for (const el of scope.querySelectorAll(".tr .name, td.num button")) {
		if (shown(el) && el.getBoundingClientRect().height > 34) out.add("two lines: " + JSON.stringify(el.textContent));
	}
	before?.focus?.({ preventScroll: true });
	if (before === document.body) document.activeElement.blur();
	if (texts < 3 || rings < 1) out.add("only " + texts + " texts and " + rings + " that take the focus");
	return [...out];
})()`
