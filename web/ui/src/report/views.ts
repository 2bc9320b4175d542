// The tree's table and the flame graph of a forest, cut to what is on the screen: what
// package live does for the live page. A path's number is the node's place and one.

import { flagCounted, flagHot, flagOpen, type IciclePage, type Look, type Metric, type TreePage } from "../model";
import type { Data, Forest } from "./data";

const mostDepth = 200, mostBoxes = 4000, mostRows = 400;

/** below are the places of a node's callees; of -1 the roots. */
export function below(f: Forest, i: number): number[] {
  const out = [];
  for (let c = i + 1, end = i < 0 ? f.n : f.next[i]; c < end; c = f.next[c]) out.push(c);
  return out;
}

/** whole is the sum of the roots' values. */
export function whole(f: Forest, values: Float64Array): number {
  return below(f, -1).reduce((sum, i) => sum + values[i], 0);
}

export type Key = "total" | "self" | "calls" | "thrown" | "error" | "contexts";

/** order compares places by a key, the largest first; what is equal by another key, by calls, and by what is given last. */
export function order(by: (i: number) => number, up: boolean, other: (i: number) => number, calls: (i: number) => number, last: (a: number, b: number) => number, name?: (i: number) => string) {
  return (a: number, b: number) => {
    const x = name ? name(a) : "", y = name ? name(b) : "";
    const c = name ? (x < y ? -1 : x > y ? 1 : 0) : by(b) - by(a);
    return (up ? -c : c) || other(b) - other(a) || calls(b) - calls(a) || last(a, b);
  };
}

/** metricKey is the column of counts that a sort key or a weight names; -1 if none. */
export function metricKey(metrics: Metric[], key: string): number {
  return key === "" ? -1 : metrics.findIndex((m) => m.self === key) >= 0 ? 2 * metrics.findIndex((m) => m.self === key) : metrics.findIndex((m) => m.total === key) >= 0 ? 2 * metrics.findIndex((m) => m.total === key) + 1 : -1;
}

/** hot is the path along which most time goes, as paths. */
function hot(f: Forest): number[] {
  const out: number[] = [];
  for (let at = -1; out.length < mostDepth; ) {
    let best = -1;
    for (const c of below(f, at)) if (best < 0 || f.total[c] > f.total[best]) best = c;
    if (best < 0 || f.total[best] <= 0 || (at >= 0 && f.total[best] < f.self[at])) break;
    out.push(best + 1);
    at = best;
  }
  return out;
}

const flagsOf = (d: Data, f: Forest, i: number) => f.flags[i] | (d.counted.has(f.method[i]) ? flagCounted : 0);

export function tree(d: Data, f: Forest, q: NonNullable<Look["tree"]>): TreePage {
  const page: TreePage = { total: whole(f, f.total), count: 0, from: q.from, found: -1, rows: [], hot: hot(f), ...(d.metrics.length > 0 ? { metrics: d.metrics, counts: [] } : {}), ...(f.parts.length > 0 ? { processes: d.processes, parts: [] } : {}) };
  const open = new Set(q.open), onHot = new Set(page.hot), most = Math.min(q.rows, mostRows);
  const known: Record<string, Float64Array> = { total: f.total, self: f.self, calls: f.calls, thrown: f.thrown, error: f.error };
  const at = metricKey(d.metrics, q.sort), values = at >= 0 ? f.counts[at] : known[q.sort] ?? f.total;
  const compare = order((i) => values[i], q.up, (i) => f.total[i], (i) => f.calls[i], (a, b) => f.method[a] - f.method[b], q.sort === "name" ? (i) => d.names.get(f.method[i])?.whole ?? "" : undefined);
  const stack = [below(f, -1).sort(compare).reverse()];
  while (stack.length > 0) {
    const level = stack[stack.length - 1], i = level.pop();
    if (i === undefined) {
      stack.pop();
      continue;
    }
    const path = i + 1, kids = f.next[i] > i + 1 ? below(f, i) : [], isOpen = open.has(path) && kids.length > 0;
    if (path === q.find) page.found = page.count;
    if (page.count >= q.from && page.rows.length < most) {
      page.rows.push([path, stack.length - 1, f.method[i], flagsOf(d, f, i) | (isOpen ? flagOpen : 0) | (onHot.has(path) ? flagHot : 0), f.calls[i], f.thrown[i], f.self[i], f.raw[i], f.error[i], f.total[i],
        kids.length, 0, f.waited[i], f.longest[i]]);
      page.counts?.push(f.counts.map((c) => c[i]));
      page.parts?.push(f.parts.map((c) => c[i]));
    }
    page.count++;
    if (isOpen && stack.length <= mostDepth) stack.push(kids.sort(compare).reverse());
  }
  return page;
}

export function icicle(d: Data, f: Forest, q: NonNullable<Look["icicle"]>): IciclePage {
  const named = d.metrics.findIndex((m) => q.weight && m.total === q.weight), metric = named >= 0 ? d.metrics[named] : undefined;
  const total = metric ? f.counts[2 * named + 1] : f.total, own = metric ? f.counts[2 * named] : f.self;
  const all = whole(f, total), focus = q.focus > 0 && q.focus <= f.n && total[q.focus - 1] > 0 ? q.focus - 1 : -1;
  const page: IciclePage = { focus: focus + 1, above: [], total: focus < 0 ? all : total[focus], whole: all, boxes: [], ...(metric ? { metric } : {}) };
  for (let a = focus < 0 ? -1 : f.above[focus]; a >= 0; a = f.above[a]) page.above.unshift([a + 1, f.method[a]]);
  const least = Math.floor(page.total / Math.max(1, q.width));
  const start = new Float64Array(f.n);
  const place = (nodes: number[], from: number): [number[], number] => {
    const shown = nodes.filter((i) => total[i] > 0 && total[i] >= least).sort((a, b) => total[b] - total[a] || f.method[a] - f.method[b]);
    for (const i of shown) (start[i] = from), (from += total[i]);
    return [shown, nodes.length - shown.length];
  };
  let level = focus < 0 ? place(below(f, -1), 0)[0] : [focus];
  for (let depth = 0; level.length > 0 && depth < q.depth; depth++) {
    const next: number[] = [];
    for (const i of level) {
      if (page.boxes.length >= mostBoxes) return page;
      const kids = below(f, i), [shown, cut] = depth + 1 < q.depth ? place(kids, start[i]) : [[], kids.length];
      for (const k of shown) next.push(k);
      page.boxes.push([i + 1, depth, f.method[i], start[i], total[i], own[i], f.calls[i], f.thrown[i], metric ? 0 : f.raw[i], metric ? 0 : f.error[i], cut, f.above[i] + 1, flagsOf(d, f, i), f.waited[i], f.longest[i]]);
    }
    level = next;
  }
  return page;
}

