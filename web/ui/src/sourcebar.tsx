// What is looked at: the live recording or a snapshot, all threads or one.

import type { ComponentChildren } from "preact";
import { store } from "./conn";
import { useStore } from "./hooks";
import { forget, go, openHot, recordings, ui } from "./ui";

export function SourceBar({ threads, fold, search, children }: { threads?: boolean; fold?: boolean; search?: boolean; children?: ComponentChildren }) {
  useStore();
  const snaps = recordings();
  const list = store.sections.threads?.threads ?? [];
  return (
    <div class="sourcebar">
      <label>
        <span>Show</span>
        <select value={ui.source} onChange={(e) => { const source = Number(e.currentTarget.value); forget(); go({ source }); }}>
          <option value={0}>{store.state?.phase === "recording" ? "live recording" : "last recording"}</option>
          {snaps.map((s) => <option value={s.id} key={s.id}>{s.name}</option>)}
        </select>
      </label>
      {threads && (
        <label>
          <span>Thread</span>
          <select value={ui.thread} onChange={(e) => go({ thread: Number(e.currentTarget.value), focus: 0 })}>
            <option value={0}>all {list.length || ""}</option>
            {ui.thread > 0 && store.sections.threads && !list.some((t) => t.place === ui.thread) && <option value={ui.thread}>one that is not among these</option>}
            {list.map((t) => <option value={t.place} key={t.place}>{t.name || "unnamed"}{t.virtual ? " (virtual)" : ""}</option>)}
          </select>
        </label>
      )}
      {fold && (
        <label class="check" title="Put a method that calls itself into one row">
          <input type="checkbox" checked={ui.fold} onChange={(e) => go({ fold: e.currentTarget.checked, focus: 0 })} /> fold recursion
        </label>
      )}
      {fold && (
        <label class="check" title="Put levels of frameworks that lead to the application into one row">
          <input type="checkbox" checked={ui.frameworks} onChange={(e) => go({ frameworks: e.currentTarget.checked, unfold: [], focus: 0 })} /> fold frameworks
        </label>
      )}
      {fold && <button onClick={openHot} title="Open the path along which the most time goes (h)">Hot path</button>}
      {fold && <button onClick={() => go({ open: [], touched: true })}>Close all</button>}
      {fold && <button onClick={() => go({ hidden: !ui.hidden })} aria-pressed={!ui.hidden}>Flame graph</button>}
      {search && (
        <label class="grow">
          <span>Highlight</span>
          <input type="search" id="filter" placeholder="words of a name  ( / )" value={ui.highlight} onInput={(e) => go({ highlight: e.currentTarget.value })} />
        </label>
      )}
      {children}
    </div>
  );
}
