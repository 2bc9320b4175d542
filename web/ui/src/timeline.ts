// Draws the timeline on a canvas: an axis, a row for each kind of marks, and a
// lane for each thread with a row for each depth.

import { clean, fillOf, fit, type Palette } from "./icicle";
import { time, type Name } from "./format";

/** What GET /api/timeline answers; docs/formats-web.md describes it. Times are ns. */
export interface TimelinePage {
  end: number; threads: { id: number; name: string; virtual?: boolean }[]; methods: [string, string][]; slices: number[][];
  left: number; least: number; missing: number; missing_below: number; marks: Mark[]; marks_left: number; note: string;
  hops: number[][]; hops_left: number; spans?: { slice: number; trace_id: string; span_id: string }[];
}
export interface Mark { kind: string; name: string; start: number; took: number; count: number; pause: number; off: number; cause?: string }

/** The places of a slice's figures, and its flags. */
export const S = { lane: 0, depth: 1, method: 2, start: 3, took: 4, flags: 5 } as const;
export const sliceOpen = 2, sliceTask = 4;

/** The places of a hop's figures: a task from where it was handed over to its execution. */
export const H = { lane: 0, depth: 1, method: 2, at: 3, toLane: 4, toDepth: 5, toMethod: 6, began: 7, took: 8 } as const;

export const kinds = ["gc", "redefinition", "reveal", "load", "agent"] as const;
export const kindNames: Record<string, string> = { gc: "GC", redefinition: "instrumenting", reveal: "waiting for instrumentation", load: "class loads", agent: "agents" };

export const rowHeight = 16;
const axisHeight = 20, markHeight = 13, laneGap = 8, titleHeight = 16;
const mostRows = 64;

export interface Lane { index: number; y: number; rows: number }
export interface Plan { from: number; to: number; left: number; width: number; height: number; lanes: Lane[]; marksTop: number }
export interface Ink extends Palette { marks: Record<string, string>; text: string; faint: string; line: string }

/** plan says where everything lies: lanes of the threads that have slices here, or of one. */
export function plan(page: TimelinePage, from: number, to: number, width: number): Plan {
  const depth = new Map<number, number>();
  for (const s of page.slices) depth.set(s[S.lane], Math.max(depth.get(s[S.lane]) ?? 0, s[S.depth] + 1));
  let y = axisHeight + kinds.length * markHeight + laneGap;
  const lanes: Lane[] = [];
  for (const index of [...depth.keys()].sort((a, b) => a - b)) {
    const rows = Math.min(depth.get(index)!, mostRows);
    lanes.push({ index, y: y + titleHeight, rows });
    y += titleHeight + rows * rowHeight + laneGap;
  }
  const left = width > 600 ? 92 : 0;
  return { from, to: Math.max(to, from + 1), left, width: Math.max(width - left, 1), height: y, lanes, marksTop: axisHeight };
}

export const xOf = (p: Plan, ns: number): number => p.left + ((ns - p.from) / (p.to - p.from)) * p.width;
export const nsAt = (p: Plan, x: number): number => p.from + ((x - p.left) / p.width) * (p.to - p.from);

/** step is a round distance between lines of the axis. */
export function step(span: number, width: number): number {
  const rough = (span * 110) / Math.max(width, 1);
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  return [1, 2, 5, 10].map((m) => m * power).find((v) => v >= rough) ?? 10 * power;
}

export function draw(canvas: HTMLCanvasElement, page: TimelinePage, p: Plan, height: number, selected: number[] | null, hover: number[] | null, name: (m: number) => Name, c: Ink): void {
  const width = p.left + p.width, g = clean(canvas, width, height);
  if (!g) return;
  axis(g, p, height, c);
  marks(g, page, p, height, c);
  g.save();
  g.beginPath();
  g.rect(p.left, 0, p.width, height);
  g.clip();
  const lanes = new Map(p.lanes.map((l) => [l.index, l]));
  for (const s of page.slices) {
    const lane = lanes.get(s[S.lane]);
    if (!lane || s[S.depth] >= mostRows) continue;
    const x = Math.max(xOf(p, s[S.start]), p.left - 2), end = Math.min(xOf(p, s[S.start] + s[S.took]), width + 2);
    const w = Math.max(end - x, 0.75), y = lane.y + s[S.depth] * rowHeight;
    if (end < p.left || x > width) continue;
    const n = name(s[S.method]);
    g.fillStyle = s[S.method] < 0 ? c.marks.reveal : c.fills[fillOf(n.pkg)];
    g.globalAlpha = s[S.method] < 0 ? 0.55 : 1;
    g.fillRect(x, y, Math.max(w - 0.5, 0.6), rowHeight - 1);
    g.globalAlpha = 1;
    if (s === selected || s === hover) {
      g.strokeStyle = c.text;
      g.lineWidth = s === selected ? 2 : 1;
      g.strokeRect(x + 1, y + 1, Math.max(w - 2.5, 1), rowHeight - 3);
    }
    if (w < 28) continue;
    g.fillStyle = c.ink;
    const label = s[S.method] < 0 ? "waits for Rivulet" : fit(g, n.cls + "." + n.method, n.method, w - 8);
    if (label) g.fillText(s[S.method] < 0 ? fit(g, label, "waits", w - 8) : label, x + 4, y + rowHeight / 2);
  }
  hops(g, page, p, lanes, hover ?? selected, c);
  g.restore();
  g.fillStyle = c.text;
  for (const l of p.lanes) {
    const t = page.threads[l.index];
    g.fillText((t?.name || (t?.virtual ? "virtual thread " : "thread ") + t?.id) + (t?.name && t.virtual ? " (virtual)" : ""), 6, l.y - titleHeight / 2);
  }
}

/** queued is how long a task waited; the clocks of two threads may differ by a tick. */
export const queued = (h: number[]): number => Math.max(h[H.began] - h[H.at], 0);

/** hopsOf are the hops that lead to a slice, if it is an execution, and from it. */
export function hopsOf(page: TimelinePage, s: number[]): { to?: number[]; from: number[][] } {
  const to = s[S.flags] & sliceTask ? page.hops.find((h) => h[H.toLane] === s[S.lane] && h[H.toDepth] === s[S.depth] && h[H.began] === s[S.start]) : undefined;
  const from = page.hops.filter((h) => h[H.lane] === s[S.lane] && h[H.depth] === s[S.depth] && h[H.method] === s[S.method] && s[S.start] <= h[H.at] && h[H.at] <= s[S.start] + s[S.took]);
  return { to, from };
}

/** handingOver is the slice that handed a task over. */
export const handingOver = (page: TimelinePage, h: number[]): number[] | null =>
  page.slices.find((s) => s[S.lane] === h[H.lane] && s[S.depth] === h[H.depth] && s[S.method] === h[H.method] && s[S.start] <= h[H.at] && h[H.at] <= s[S.start] + s[S.took]) ?? null;

/** executing is the slice of a task's execution. */
export const executing = (page: TimelinePage, h: number[]): number[] | null =>
  page.slices.find((s) => s[S.lane] === h[H.toLane] && s[S.depth] === h[H.toDepth] && s[S.start] === h[H.began] && s[S.flags] & sliceTask) ?? null;

/** mostFaint is how many hops are drawn at most while none of them is looked at. */
const mostFaint = 300;

/** hops are lines from where tasks were handed over to where they were executed: faint ones, and those of the slice that is looked at. */
function hops(g: CanvasRenderingContext2D, page: TimelinePage, p: Plan, lanes: Map<number, Lane>, at: number[] | null, c: Ink): void {
  const line = (h: number[], strong: boolean) => {
    const from = lanes.get(h[H.lane]), to = lanes.get(h[H.toLane]);
    if (!from || !to || h[H.began] < p.from || h[H.at] > p.to) return;
    const x = xOf(p, h[H.at]), end = xOf(p, h[H.began]);
    const y = from.y + (Math.min(h[H.depth], mostRows - 1) + 0.5) * rowHeight, down = to.y + (Math.min(h[H.toDepth], mostRows - 1) + 0.5) * rowHeight;
    const bend = Math.max(Math.min((end - x) / 2, 60), 8);
    g.globalAlpha = strong ? 1 : 0.35;
    g.strokeStyle = g.fillStyle = strong ? c.text : c.marks.reveal;
    g.lineWidth = strong ? 1.5 : 1;
    g.beginPath();
    g.moveTo(x, y);
    g.bezierCurveTo(x + bend, y, end - bend, down, end, down);
    g.stroke();
    g.beginPath(); // its head
    g.moveTo(end, down);
    g.lineTo(end - 5, down - 3);
    g.lineTo(end - 5, down + 3);
    g.fill();
    g.globalAlpha = 1;
  };
  for (const h of page.hops.slice(0, mostFaint)) line(h, false);
  if (!at) return;
  const near = hopsOf(page, at);
  if (near.to) line(near.to, true);
  for (const h of near.from.slice(0, mostFaint)) line(h, true);
}

function axis(g: CanvasRenderingContext2D, p: Plan, height: number, c: Ink): void {
  const d = step(p.to - p.from, p.width);
  for (let t = Math.ceil(p.from / d) * d; t <= p.to; t += d) {
    const x = Math.round(xOf(p, t)) + 0.5;
    g.strokeStyle = c.faint;
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(x, axisHeight - 4);
    g.lineTo(x, height);
    g.stroke();
    g.fillStyle = c.text;
    const label = t === 0 ? "0" : time(t);
    if (x + g.measureText(label).width < p.left + p.width) g.fillText(label, x + 3, 8);
  }
}

/** marks are points and bars in their rows; what stopped all threads is a band over all lanes. */
function marks(g: CanvasRenderingContext2D, page: TimelinePage, p: Plan, height: number, c: Ink): void {
  kinds.forEach((kind, i) => {
    const y = p.marksTop + i * markHeight;
    for (const m of page.marks) {
      if (m.kind !== kind) continue;
      const x = xOf(p, m.start), w = Math.max((m.took / (p.to - p.from)) * p.width, 2);
      if (x + w < p.left || x > p.left + p.width) continue;
      const from = Math.max(x, p.left);
      g.fillStyle = c.marks[kind];
      g.fillRect(from, y + 1, Math.max(x + w - from, 1), markHeight - 3);
      if (kind === "gc" || kind === "redefinition") {
        g.globalAlpha = 0.16;
        g.fillRect(from, y + markHeight, Math.max(x + w - from, 1), height);
        g.globalAlpha = 1;
      }
    }
    if (p.left > 0) {
      g.fillStyle = c.marks[kind];
      g.fillRect(6, y + 2, 7, markHeight - 5);
      g.fillStyle = c.text;
      g.fillText(kindNames[kind], 17, y + markHeight / 2);
    }
  });
}

/** sliceAt finds the slice under a point: the shortest, so that narrow ones can be hit. */
export function sliceAt(page: TimelinePage, p: Plan, x: number, y: number): number[] | null {
  const lane = p.lanes.find((l) => y >= l.y && y < l.y + l.rows * rowHeight);
  if (!lane) return null;
  const depth = Math.floor((y - lane.y) / rowHeight), slack = (p.to - p.from) / p.width;
  const ns = nsAt(p, x);
  let best: number[] | null = null;
  for (const s of page.slices) {
    if (s[S.lane] === lane.index && s[S.depth] === depth && s[S.start] - slack <= ns && ns <= s[S.start] + s[S.took] + slack && (!best || s[S.took] < best[S.took])) best = s;
  }
  return best;
}

/** markAt finds the mark under a point. */
export function markAt(page: TimelinePage, p: Plan, x: number, y: number): Mark | null {
  const kind = kinds[Math.floor((y - p.marksTop) / markHeight)];
  const near = (3 / p.width) * (p.to - p.from), ns = nsAt(p, x);
  return (y >= p.marksTop && page.marks.find((m) => m.kind === kind && m.start - near <= ns && ns <= m.start + m.took + near)) || null;
}

/** beside is the slice that an arrow key leads to. */
export function beside(page: TimelinePage, here: number[] | null, key: string): number[] | null {
  const all = page.slices;
  if (!here) return all.find((s) => s[S.depth] === 0) ?? all[0] ?? null;
  const end = (s: number[]) => s[S.start] + s[S.took];
  const level = (d: number) => all.filter((s) => s[S.lane] === here[S.lane] && s[S.depth] === d);
  const lane = (d: number) => all.find((s) => s[S.lane] === here[S.lane] + d && s[S.depth] === 0) ?? here;
  switch (key) {
    case "ArrowUp": return here[S.depth] === 0 ? lane(-1) : level(here[S.depth] - 1).find((s) => s[S.start] <= here[S.start] && end(here) <= end(s)) ?? here;
    case "ArrowDown": return level(here[S.depth] + 1).find((s) => here[S.start] <= s[S.start] && end(s) <= end(here)) ?? lane(1);
    case "ArrowLeft": return level(here[S.depth]).filter((s) => s[S.start] < here[S.start]).pop() ?? here;
    case "ArrowRight": return level(here[S.depth]).find((s) => s[S.start] > here[S.start]) ?? here;
  }
  return null;
}
