// What is slow, in words, above everything else.

import { nameOf, store } from "./conn";
import { useStore } from "./hooks";
import { openMenu } from "./menu";
import { go, ui } from "./ui";

/** Brief says it in sentences; the methods with most lead to their callers. */
export function Brief() {
  useStore();
  const b = store.sections.brief;
  if (!b || b.lines.length === 0) return null;
  const list = (what: string, methods: number[]) => methods.length > 0 && (
    <span class="most"><span class="muted">{what}</span> {methods.map((m) => (
      <button class="plain" key={m} title={nameOf(m).whole} onClick={() => go({ tab: "around", method: m })} onContextMenu={(e) => (e.preventDefault(), openMenu(m, e.clientX, e.clientY))}>
        {nameOf(m).cls}.<b>{nameOf(m).method}</b>
      </button>
    ))}</span>
  );
  return (
    <section class="brief" id="brief" aria-label="What is slow">
      <details open={!ui.terse} onToggle={(e) => { const terse = !e.currentTarget.open; if (terse !== ui.terse) go({ terse }); }}>
        <summary>What is slow</summary>
        <p>{b.lines.join(" ")}</p>
        <p>{list("Most self time:", b.self)} {list("Most waiting:", b.waiting)} {list("Most allocated:", b.allocated)}</p>
      </details>
    </section>
  );
}
