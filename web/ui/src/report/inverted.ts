// Flame graphs from methods up to the roots, as package live draws them: self times of all
// methods, or one method's total times.

import type { IciclePage, Look } from "../model";
import type { Data, Forest } from "./data";
import { icicle } from "./views";

const mostBoxes = 4000, mostSandwich = 60;

/** A part of some node's time on its way up: where it is, and ns. */
interface Climb { at: number; ns: number }
interface Bunch { method: number; total: number; climbs: Climb[] }

/** bunches puts climbs together by the methods that they are at, the most time first. */
function bunches(f: Forest, climbs: Climb[]): Bunch[] {
  const of = new Map<number, Bunch>();
  for (const c of climbs) {
    const m = f.method[c.at];
    let b = of.get(m);
    if (!b) of.set(m, (b = { method: m, total: 0, climbs: [] }));
    b.total += c.ns;
    b.climbs.push(c);
  }
  return [...of.values()].sort((a, b) => b.total - a.total || a.method - b.method);
}

const up = (f: Forest, climbs: Climb[]): Climb[] => climbs.filter((c) => f.above[c.at] >= 0).map((c) => ({ at: f.above[c.at], ns: c.ns }));

/** Numbers of inverted paths, which are given when a path is first shown; they lie beyond those of the tree. */
const paths = new Map<string, number>(), edges = new Map<number, [number, number]>();

function pathOf(base: number, above: number, method: number): number {
  const key = above + " " + method;
  let p = paths.get(key);
  if (p === undefined) {
    paths.set(key, (p = base + paths.size));
    edges.set(p, [above, method]);
  }
  return p;
}

/** draw is a flame graph of climbs; top is a number of its own for each kind of them. Boxes have times alone. */
function draw(f: Forest, climbs: Climb[], top: number, leaves: boolean, q: NonNullable<Look["icicle"]>): IciclePage {
  const base = f.n + 10, whole = climbs.reduce((sum, c) => sum + c.ns, 0);
  const page: IciclePage = { focus: 0, above: [], total: whole, whole, boxes: [], ...(leaves ? { inverted: true } : {}) };
  let level = bunches(f, climbs), above = top;
  const steps: [number, number][] = []; // path and method from the top to the focus
  for (let p = q.focus; edges.has(p); p = edges.get(p)![0]) steps.unshift([p, edges.get(p)![1]]);
  if (steps.length > 0 && edges.get(steps[0][0])![0] === top) {
    let next = level, found: Bunch | undefined;
    for (const [k, [, method]] of steps.entries()) {
      found = next.find((b) => b.method === method);
      if (!found) break;
      if (k < steps.length - 1) next = bunches(f, up(f, found.climbs));
    }
    if (found) {
      page.above = steps.slice(0, -1);
      page.focus = q.focus;
      page.total = found.total;
      above = steps.length > 1 ? steps[steps.length - 2][0] : top;
      level = [found];
    }
  }
  const least = Math.max(Math.floor(page.total / Math.max(1, q.width)), 1);
  const wide = (list: Bunch[], above: number, start: number) => list.flatMap((b) => {
    const item = { ...b, above, start };
    start += b.total;
    return b.total >= least ? [item] : [];
  });
  let items = wide(level, above, 0);
  for (let depth = 0; items.length > 0 && depth < q.depth; depth++) {
    const next: typeof items = [];
    for (const it of items) {
      if (page.boxes.length === mostBoxes) return page;
      const path = pathOf(base, it.above, it.method);
      page.boxes.push([path, depth, it.method, it.start, it.total, leaves && it.above === top ? it.total : 0, 0, 0, 0, 0, 0, it.above, 0, 0, 0]);
      if (depth + 1 < q.depth) for (const b of wide(bunches(f, up(f, it.climbs)), path, it.start)) next.push(b);
    }
    items = next;
  }
  return page;
}

export function inverted(f: Forest, q: NonNullable<Look["icicle"]>): IciclePage {
  const climbs: Climb[] = [];
  for (let i = 0; i < f.n; i++) if (f.self[i] > 0) climbs.push({ at: i, ns: f.self[i] });
  return draw(f, climbs, -1, true, q);
}

/** outermost tells whether no caller of a node is of the same method. */
function outermost(f: Forest, i: number): boolean {
  for (let a = f.above[i]; a >= 0; a = f.above[a]) if (f.method[a] === f.method[i]) return false;
  return true;
}

/** sandwich is a method's callers up to the roots, and what it calls. */
export function sandwich(d: Data, f: Forest, method: number, width: number): { callers: IciclePage; callees: IciclePage } {
  const at: number[] = [];
  for (let i = 0; i < f.n; i++) if (f.method[i] === method && outermost(f, i)) at.push(i);
  const q = { focus: 0, width, depth: mostSandwich };
  return { callers: draw(f, at.filter((i) => f.total[i] > 0).map((i) => ({ at: i, ns: f.total[i] })), -2, false, q), callees: icicle(d, merged(f, at), q) };
}

/** merged is a forest of the subtrees at some places, put together. */
function merged(f: Forest, roots: number[]): Forest {
  interface Group { method: number; flags: number; from: number[] }
  const groups = (nodes: number[]): Group[] => {
    const of = new Map<string, Group>();
    for (const i of nodes) {
      const key = f.method[i] + " " + (f.flags[i] & 8);
      const g = of.get(key);
      if (g) (g.from.push(i), (g.flags |= f.flags[i]));
      else of.set(key, { method: f.method[i], flags: f.flags[i], from: [i] });
    }
    return [...of.values()].reverse();
  };
  const kids = (i: number) => { const out = []; for (let c = i + 1; c < f.next[i]; c = f.next[c]) out.push(c); return out; };
  const list: (Group & { above: number; depth: number })[] = [];
  const stack = groups(roots).map((g) => ({ ...g, above: -1, depth: 0 }));
  for (let g = stack.pop(); g; g = stack.pop()) {
    const at = list.push(g) - 1;
    for (const k of groups(g.from.flatMap(kids))) stack.push({ ...k, above: at, depth: g.depth + 1 });
  }
  const n = list.length, sum = (values: Float64Array) => Float64Array.from(list, (g) => g.from.reduce((s, i) => s + values[i], 0));
  const out: Forest = {
    n, depth: Float64Array.from(list, (g) => g.depth), method: Float64Array.from(list, (g) => g.method), calls: sum(f.calls), thrown: sum(f.thrown), self: sum(f.self), total: sum(f.total),
    error: Float64Array.from(list, (g) => Math.hypot(...g.from.map((i) => f.error[i]))), raw: sum(f.raw), flags: Float64Array.from(list, (g) => g.flags), waited: sum(f.waited),
    longest: Float64Array.from(list, (g) => Math.max(...g.from.map((i) => f.longest[i]))), above: Int32Array.from(list, (g) => g.above), next: new Int32Array(n).fill(n), counts: f.counts.map(sum), parts: f.parts.map(sum),
  };
  for (let i = n - 1, path: number[] = []; i >= 0; i--) { // from the end: the next node that is no deeper
    while (path.length > 0 && out.depth[path[path.length - 1]] > out.depth[i]) path.pop();
    out.next[i] = path.length > 0 ? path[path.length - 1] : n;
    path.push(i);
  }
  return out;
}
