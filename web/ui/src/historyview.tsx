// The strip of a recording's history: how much it did over time, and a brush by which the
// tree, the flame graph and the methods are those of a range of it.

import { useEffect, useRef, useState } from "preact/hooks";
import { offline, store } from "./conn";
import { count, plural, short, time } from "./format";
import { usePalette, useSize, useStore } from "./hooks";
import type { Heat } from "./heat";
import { HeatMap } from "./heatmap";
import { clean } from "./icicle";
import { H, most, moved, rows, spanOf, stepAt, whole, type HistoryPage, type Row } from "./past";
import { go, sampling, ui } from "./ui";

const rowHeight = 17, marks = 12;

function value(row: Row, v: number): string {
  if (!Number.isFinite(v)) return "–";
  return row.unit === "time" ? time(v) : row.unit === "cores" ? v.toFixed(2) : short(v);
}

/** rangeChosen tells whether what is shown is of a part of the time. */
export function rangeChosen(): boolean {
  const h = store.sections.history;
  return !!h && h.shown[1] > 0;
}

/** callsOf are a row's calls, or entries; how many entries there were in a range of samples is not known. */
export function callsOf(n: number): string {
  return sampling() && rangeChosen() ? "–" : count(n);
}

export function History() {
  useStore();
  const [over, setOver] = useState(-1);
  const h = store.sections.history;
  if (sampling() && h?.heat) return <Heats h={h} heat={h.heat} />;
  if (sampling() || !h || h.steps.length === 0) return null;
  const chosen = rangeChosen(), live = store.state?.phase === "recording" && ui.source === 0;
  const pointed = over >= 0 ? stepAt(h, over) : undefined;
  const step = pointed ?? (live ? h.steps[h.steps.length - 1] : whole(h));
  return (
    <section class="history" id="history" aria-label="History" data-known={h.known.join()} data-at={h.at}>
      <div class="historybar">
        <button class="plain" aria-expanded={!ui.past} onClick={() => go({ past: !ui.past })}>{ui.past ? "▸" : "▾"} <b>History</b></button>
        {chosen && <span id="shown-range" role="status">Tree, flame graph and methods: <b>{time(h.shown[0])} – {time(h.shown[1])}</b>, calls that began then <button onClick={() => brush(undefined)}>All the time</button></span>}
        {!chosen && ui.range[1] > 0 && <span class="muted">The tree of that range is not known. <button onClick={() => brush(undefined)}>All the time</button></span>}
        {!chosen && ui.range[1] === 0 && (
          <span class="muted">{pointed ? <Figures s={pointed} /> : h.known.length > 0 ? "Drag over a range to see its tree." : offline ? "The tree is of the whole recording." : "The tree of a range is known only for times at which a page showed the recording."}</span>
        )}
        {h.why && <span class="muted" title={h.why}>Root calls' times are not measured: too many.</span>}
      </div>
      {!ui.past && (
        <div class="strip">
          <dl>
            {rows.map((r) => <div key={r.label} title={r.title}><dt>{r.label}</dt><dd>{r.lines.map((f) => value(r, f(step))).join(", ")}</dd></div>)}
            <div title="Collections by the garbage collector, taller the longer they paused all threads, and redefinition of classes by Rivulet"><dt><span class="gcmark">GC</span>, <span class="redefmark">redefined</span></dt><dd /></div>
          </dl>
          <Lines h={h} setOver={setOver} />
        </div>
      )}
    </section>
  );
}

/** Heats is the history of samples. */
function Heats({ h, heat }: { h: HistoryPage; heat: Heat }) {
  return (
    <section class="history" id="history" aria-label="History" data-at={h.at}>
      <div class="historybar">
        <button class="plain" aria-expanded={!ui.past} onClick={() => go({ past: !ui.past })}>{ui.past ? "▸" : "▾"} <b>Samples over time</b></button>
        {h.shown[1] > 0 && <span id="shown-range" role="status">Tree, flame graph and methods: <b>{time(h.shown[0])} – {time(h.shown[1])}</b> <button onClick={() => brush(undefined)}>All the time</button></span>}
        {h.shown[1] === 0 && ui.range[1] > 0 && <span class="muted">The tree of that range is not known. <button onClick={() => brush(undefined)}>All the time</button></span>}
      </div>
      {!ui.past && <HeatMap heat={heat} shown={h.shown} brush={brush} />}
    </section>
  );
}

/** brush shows the tree of a range of time, or of all. */
function brush(to: [number, number] | undefined): void {
  go({ range: to ?? [0, 0], focus: 0, ...(to ? { thread: 0 } : {}) });
}

/** Lines is what can be brushed. */
function Lines({ h, setOver }: { h: HistoryPage; setOver: (ns: number) => void }) {
  const [ref, size] = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [drag, setDrag] = useState<[number, number] | null>(null);
  const theme = usePalette();
  const height = rows.length * rowHeight + marks;
  useEffect(() => {
    if (canvas.current && size.width > 0) draw(canvas.current, h, size.width, height, theme.selected, drag);
  }, [h, size.width, theme, drag]);
  const ns = (x: number) => (x / Math.max(1, size.width)) * h.at;
  const chosen = h.shown[1] > 0;
  const key = (e: KeyboardEvent) => {
    const [from, to] = chosen ? h.shown : [0, h.at];
    const by = e.key === "ArrowLeft" ? -1 : e.key === "ArrowRight" ? 1 : 0;
    if (e.key === "Escape") brush(undefined);
    else if (by && e.shiftKey) brush([Math.min(moved(h, from, by), moved(h, to, -1)), to]);
    else if (by) brush([from, Math.max(moved(h, to, by), moved(h, from, 1))]);
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <div class="lines" ref={ref} tabIndex={0} role="application" onKeyDown={key}
      aria-label={`History of ${time(h.at)}. Arrow keys move the end of the range whose tree is shown, Shift and arrow keys its beginning, Escape shows all the time. ${chosen ? `Shown: ${time(h.shown[0])} to ${time(h.shown[1])}` : "All is shown"}`}>
      <canvas ref={canvas} style={{ width: size.width + "px", height: height + "px" }}
        onPointerDown={(e) => { if (h.known.length === 0) return; e.currentTarget.setPointerCapture(e.pointerId); setDrag([ns(e.offsetX), ns(e.offsetX)]); }}
        onPointerMove={(e) => { setOver(ns(e.offsetX)); if (drag) setDrag([drag[0], ns(e.offsetX)]); }}
        onPointerUp={(e) => { if (drag) (setDrag(null), brush(spanOf(h, drag[0], ns(e.offsetX)))); }}
        onPointerCancel={() => setDrag(null)} onPointerLeave={() => setOver(-1)} />
    </div>
  );
}

/** Figures says what happened in a step. */
function Figures({ s }: { s: number[] }) {
  return (
    <>
      {time(s[H.from])} – {time(s[H.from] + s[H.took])}: {s[H.calls] >= 0 && <>{count(s[H.calls])} calls, </>}{plural(s[H.roots], "root call", "root calls")}
      {s[H.mean] >= 0 && <>, mean {time(s[H.mean])}, p99 {time(s[H.p99])}</>}
      {s[H.cpu] >= 0 && <>, {(s[H.cpu] / s[H.took]).toFixed(2)} cores</>}
      {s[H.gcs] > 0 && <>, {plural(s[H.gcs], "collection", "collections")} of {time(s[H.gc])}</>}
      {s[H.classes] > 0 && <>, {plural(s[H.classes], "class", "classes")} redefined</>}
    </>
  );
}

function draw(canvas: HTMLCanvasElement, h: HistoryPage, width: number, height: number, ink: string, drag: [number, number] | null): void {
  const g = clean(canvas, width, height);
  if (!g || h.at <= 0) return;
  const css = getComputedStyle(document.documentElement), v = (name: string) => css.getPropertyValue(name).trim();
  const x = (ns: number) => (ns / h.at) * width;
  const colours = [v("--accent"), v("--warn")];
  rows.forEach((row, k) => {
    const base = (k + 1) * rowHeight - 1, top = most(h, row);
    g.fillStyle = v("--line");
    g.fillRect(0, base, width, 1);
    // The highest first, so that a lower one stands before it.
    [...row.lines.keys()].reverse().forEach((l) => {
      g.fillStyle = colours[l];
      g.globalAlpha = 0.75;
      for (const s of h.steps) {
        const y = row.lines[l](s);
        if (!(y > 0) || top <= 0) continue;
        const tall = Math.max(1, (y / top) * (rowHeight - 4)), from = x(s[H.from]);
        g.fillRect(from, base - tall, Math.max(1, x(s[H.from] + s[H.took]) - from - 0.5), tall);
      }
      g.globalAlpha = 1;
    });
  });
  const base = rows.length * rowHeight;
  const mark = (place: number, colour: string, size: (s: number[]) => number) => {
    g.fillStyle = colour;
    for (const s of h.steps) if (s[place] > 0) g.fillRect(x(s[H.from] + s[H.took] / 2) - 1 + (place === H.gcs ? 0 : 2), base + 1, 2, size(s));
  };
  mark(H.gcs, v("--bad"), (s) => Math.min(marks - 2, 3 + (marks * 5 * s[H.gc]) / s[H.took]));
  mark(H.classes, v("--warn"), () => marks - 2);
  const shown = drag ? ([Math.min(...drag), Math.max(...drag)] as const) : h.shown[1] > 0 ? h.shown : undefined;
  if (!shown) return;
  g.fillStyle = v("--bg");
  g.globalAlpha = 0.65;
  g.fillRect(0, 0, x(shown[0]), height);
  g.fillRect(x(shown[1]), 0, width, height);
  g.globalAlpha = 1;
  g.fillStyle = ink;
  for (const at of shown) g.fillRect(Math.min(width - 1, x(at)), 0, 1, height);
}
