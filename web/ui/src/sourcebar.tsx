// What is looked at: the live recording or a snapshot, all threads or one.

import type { ComponentChildren } from "preact";
import { offline, store } from "./conn";
import { count, percent } from "./format";
import { useStore } from "./hooks";
import { chain, found } from "./icicle";
import { B } from "./model";
import { select } from "./treeview";
import { forget, go, openHot, recordings, ui } from "./ui";

export function SourceBar({ threads, fold, search, children }: { threads?: boolean; fold?: boolean; search?: boolean; children?: ComponentChildren }) {
  useStore();
  const snaps = recordings();
  const metrics = (store.sections.tree?.metrics ?? []).filter((m) => m.total);
  const list = store.sections.threads?.threads ?? [];
  return (
    <div class="sourcebar">
      {!offline && <label>
        <span>Show</span>
        <select value={ui.source} onChange={(e) => { const source = Number(e.currentTarget.value); forget(); go({ source }); }}>
          <option value={0}>{store.state?.phase === "recording" ? "live recording" : "last recording"}</option>
          {snaps.map((s) => <option value={s.id} key={s.id}>{s.name}</option>)}
        </select>
      </label>}
      {threads && !offline && (
        <label>
          <span>Thread</span>
          <select value={ui.thread} onChange={(e) => go({ thread: Number(e.currentTarget.value), range: [0, 0], focus: 0 })}>
            <option value={0}>all {list.length || ""}</option>
            {ui.thread > 0 && store.sections.threads && !list.some((t) => t.place === ui.thread) && <option value={ui.thread}>one that is not among these</option>}
            {list.map((t) => <option value={t.place} key={t.place}>{t.name || "unnamed"}{t.virtual ? " (virtual)" : ""}</option>)}
          </select>
        </label>
      )}
      {fold && !offline && (
        <label class="check" title="Shows a method that calls itself as one row">
          <input type="checkbox" checked={ui.fold} onChange={(e) => go({ fold: e.currentTarget.checked, focus: 0 })} /> fold recursion
        </label>
      )}
      {fold && !offline && (
        <label class="check" title="Shows levels of frameworks that lead to the application as one row">
          <input type="checkbox" checked={ui.frameworks} onChange={(e) => go({ frameworks: e.currentTarget.checked, unfold: [], focus: 0 })} /> fold frameworks
        </label>
      )}
      {fold && store.sections.tree?.processes && (
        <label class="check" title="A column for each process: the share of its time">
          <input type="checkbox" id="divided" checked={ui.divided} onChange={(e) => go({ divided: e.currentTarget.checked })} /> by process
        </label>
      )}
      {fold && <button onClick={openHot} title="Opens the path with the most time (h)">Hot path</button>}
      {fold && <button onClick={() => go({ open: [], touched: true })}>Close all</button>}
      {fold && <button onClick={() => go({ hidden: !ui.hidden })} aria-pressed={!ui.hidden}>Flame graph</button>}
      {fold && !ui.hidden && metrics.length > 0 && (
        <label title="What the widths of the flame graph stand for">
          <span>by</span>
          <select id="weight" value={ui.weight} onChange={(e) => go({ weight: e.currentTarget.value, focus: 0 })}>
            <option value="">time</option>{metrics.map((m) => <option value={m.total} key={m.name}>{m.name === "allocated_bytes" ? "allocated bytes" : m.title}</option>)}
          </select>
        </label>
      )}
      {fold && <button id="invert" disabled={ui.hidden || ui.weight !== ""} onClick={() => go({ inverted: !ui.inverted, focus: 0, selected: 0 })} aria-pressed={ui.inverted} title="Self times on top, each method once; below it whoever calls it, up to the roots. Of a recording with more than 100,000 call paths only when it has ended">Inverted</button>}
      {search && (
        <label class="grow">
          <span>Highlight</span>
          <input type="search" id="filter" placeholder="words of a name  ( / )" value={ui.highlight} onInput={(e) => go({ highlight: e.currentTarget.value })}
            onKeyDown={(e) => { if (e.key === "Enter") (e.preventDefault(), next(e.shiftKey ? -1 : 1)); }} />
        </label>
      )}
      {search && ui.highlight.trim() !== "" && <Matches />}
      {children}
    </div>
  );
}

/** Matches says how much of the flame graph was found, and leads from one box to the next. */
function Matches() {
  const page = store.sections.icicle, f = found(page, ui.highlight);
  const at = f.boxes.findIndex((b) => b[B.path] === ui.selected);
  return (
    <span id="matches" role="status" title="Of the boxes that are wide enough to be seen; the share is that of the outermost matches with all below them">
      {f.boxes.length === 0 ? "none" : `${at >= 0 ? at + 1 + " of " : ""}${count(f.boxes.length)}, ${percent(f.time, page?.whole ?? 0)} %`}{" "}
      <button disabled={f.boxes.length === 0} onClick={() => next(-1)} aria-label="Previous match">‹</button> <button disabled={f.boxes.length === 0} onClick={() => next(1)} aria-label="Next match">›</button>
    </span>
  );
}

function next(by: number): void {
  const page = store.sections.icicle, boxes = found(page, ui.highlight).boxes;
  if (!page || boxes.length === 0) return;
  const at = boxes.findIndex((b) => b[B.path] === ui.selected);
  const b = boxes[at < 0 ? (by > 0 ? 0 : boxes.length - 1) : (at + by + boxes.length) % boxes.length];
  select(b[B.path], chain(page, b[B.path]));
}
