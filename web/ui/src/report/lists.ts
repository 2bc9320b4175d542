// Lists of methods, of callers and callees, and of what is uncertain, as package live makes them.

import type { Name } from "../format";
import { flagCounted, type AroundPage, type DoubtsPage, type Line, type Look, type MethodsPage, type SkippedPage } from "../model";
import type { Data, Forest } from "./data";
import { metricKey, order, whole } from "./views";

const mostRows = 400, mostList = 400, mostUncertain = 100;

/** A Flat is a method, class or package over all the paths to it. */
interface Flat {
  key: string; method: number; contexts: number; calls: number; thrown: number; self: number; raw: number; error: number; total: number; tasks: number; waited: number; longest: number; counts: number[];
}

const flat = (key: string, method: number, metrics: number): Flat => ({
  key, method, contexts: 0, calls: 0, thrown: 0, self: 0, raw: 0, error: 0, total: 0, tasks: 0, waited: 0, longest: 0, counts: new Array<number>(metrics).fill(0),
});

function add(e: Flat, f: Forest, i: number): void {
  e.contexts++;
  e.calls += f.calls[i];
  e.thrown += f.thrown[i];
  e.self += f.self[i];
  e.raw += f.raw[i];
  e.error = Math.hypot(e.error, f.error[i]);
  if ((f.flags[i] & 8) === 0) return;
  e.tasks += f.calls[i];
  e.waited += f.waited[i];
  e.longest = Math.max(e.longest, f.longest[i]);
}

function line(d: Data, e: Flat): Line {
  return {
    ...(e.method ? {} : { name: e.key }),
    f: [e.method, e.contexts, e.calls, e.thrown, e.self, e.raw, Math.round(e.error), e.total, e.tasks, e.waited, e.longest, d.counted.has(e.method) ? flagCounted : 0],
    ...(d.metrics.length > 0 ? { c: e.counts } : {}),
  };
}

const classOf = (n: Name) => (n.pkg ? n.pkg + "." : "") + n.cls;

const flats = new Map<string, Flat[]>();

/** flatten is the list of a tree; kept, since a report does not change. */
export function flatten(d: Data, group: string): Flat[] {
  const kept = flats.get(group);
  if (kept) return kept;
  const f = d.tree, of = new Map<string, Flat>(), lines: Flat[] = [], open = new Map<Flat, number>();
  const find = (method: number): Flat => {
    const e = lines[method];
    if (e) return e;
    const n = d.names.get(method)!, key = group === "class" ? classOf(n) : group === "package" ? n.pkg : n.whole;
    const at = group ? key : String(method); // methods of different loaders may have one name
    if (!of.has(at)) of.set(at, flat(key, group ? 0 : method, f.counts.length));
    return (lines[method] = of.get(at)!);
  };
  const path: Flat[] = [];
  for (let i = 0; i < f.n; i++) {
    while (path.length > f.depth[i]) { const e = path.pop()!; open.set(e, open.get(e)! - 1); }
    const e = find(f.method[i]), inside = open.get(e) ?? 0;
    path.push(e);
    open.set(e, inside + 1);
    if (d.names.get(f.method[i])!.whole.startsWith("(no room")) continue;
    add(e, f, i);
    f.counts.forEach((c, k) => { if (k % 2 === 0 || inside === 0) e.counts[k] += c[i]; });
    if (inside === 0) e.total += f.total[i];
  }
  const out = [...of.values()].filter((e) => e.contexts > 0);
  flats.set(group, out);
  return out;
}

/** sorted orders lines by a key, the most first. */
function sorted(d: Data, list: Flat[], by: string, up: boolean): Flat[] {
  const at = metricKey(d.metrics, by), known: Record<string, (e: Flat) => number> = { total: (e) => e.total, self: (e) => e.self, calls: (e) => e.calls, thrown: (e) => e.thrown, error: (e) => e.error, contexts: (e) => e.contexts };
  const value = at >= 0 ? (e: Flat) => e.counts[at] : known[by] ?? known.self;
  const compare = order((i) => value(list[i]), up, (i) => list[i].self, (i) => list[i].calls, (a, b) => (list[a].key < list[b].key ? -1 : list[a].key > list[b].key ? 1 : 0) || list[a].tasks - list[b].tasks, by === "name" ? (i) => list[i].key : undefined);
  return list.map((_, i) => i).sort(compare).map((i) => list[i]);
}

/** matcher finds names that have all words, or whose humps have them ("OSp"), as package search does. */
export function matcher(words: string): (name: string) => boolean {
  const all = words.split(/\s+/).filter((w) => w !== "");
  return (name) => all.every((w) => name.toLowerCase().includes(w.toLowerCase()) || humps(w, name.split("(")[0].split(".").slice(-2).join(".")));
}

function humps(w: string, name: string): boolean {
  if (w.length < 2) return false;
  let i = 0, begin = true, running = false;
  for (let k = 0; k < name.length && i < w.length; k++) {
    const c = name[k], start = begin || (c >= "A" && c <= "Z");
    begin = c === "." || c === "$" || c === "_";
    if (c.toLowerCase() === w[i].toLowerCase() && (start || running)) (i++, (running = true));
    else running = false;
  }
  return i === w.length;
}

export function methods(d: Data, q: NonNullable<Look["methods"]>): MethodsPage {
  const list = flatten(d, q.group === "type" ? "" : q.group), match = matcher(q.filter);
  const kept = sorted(d, list.filter((e) => match(e.key)), q.sort, q.up);
  return {
    total: whole(d.tree, d.tree.total), all: list.length, count: kept.length, from: q.from, lines: kept.slice(q.from, q.from + Math.min(q.rows, mostRows)).map((e) => line(d, e)),
    ...(d.metrics.length > 0 ? { metrics: d.metrics } : {}),
  };
}

/** around sums up who calls a method and whom it calls. A caller's total is the time that the method took on its behalf. */
export function around(d: Data, method: number): AroundPage {
  const f = d.tree, name = (m: number) => d.names.get(m)?.whole ?? "";
  const self = flat(name(method), method, 0), callers = new Map<string, Flat>(), callees = new Map<string, Flat>();
  const put = (side: Map<string, Flat>, m: number, i: number, total: number) => {
    const key = m + " " + (f.flags[i] & 8);
    if (!side.has(key)) side.set(key, flat(name(m), m, 0));
    const e = side.get(key)!;
    add(e, f, i);
    e.total += total;
  };
  const path: number[] = [];
  let inside = 0, beyond = 0; // levels of the method on the path, and others below its outermost
  const leave = () => { const m = f.method[path.pop()!]; if (m === method) inside--; else if (inside > 0) beyond--; };
  for (let i = 0; i < f.n; i++) {
    while (path.length > f.depth[i]) leave();
    if (f.method[i] === method) {
      const t = inside === 0 ? f.total[i] : 0;
      self.total += t;
      put(callers, f.above[i] < 0 ? 0 : f.method[f.above[i]], i, t);
      add(self, f, i);
      for (let c = i + 1; c < f.next[i]; c = f.next[c]) put(callees, f.method[c], c, f.method[c] === method || beyond > 0 ? 0 : f.total[c]);
      inside++;
    } else if (inside > 0) beyond++;
    path.push(i);
  }
  const side = (m: Map<string, Flat>): [Line[], number] => {
    const list = sorted(d, [...m.values()], "total", false);
    return [list.slice(0, mostList).map((e) => { const { c: _c, ...l } = line(d, e); return l; }), Math.max(0, list.length - mostList)];
  };
  const [above, moreAbove] = side(callers), [under, moreUnder] = side(callees), { c: _c, ...own } = line(d, self);
  return { total: whole(f, f.total), self: own, callers: above, callees: under, more: [moreAbove, moreUnder] };
}

const shortReason = (reason: string) => reason.split(":")[0];

export function doubts(d: Data): DoubtsPage {
  const h = d.head, e = h.events, sum = (v: Float64Array) => v.reduce((s, x) => s + x, 0);
  const reasons = new Map<string, number>(), skipped = h.methods?.skipped ?? [];
  for (const s of skipped) reasons.set(shortReason(s.reason), (reasons.get(shortReason(s.reason)) ?? 0) + 1);
  return {
    incomplete: h.incomplete ?? 0, overflow: h.overflow ?? 0, lost: h.lost ?? 0, unfollowed: h.unfollowed ?? 0, refused: h.refused ?? 0, damaged: h.damaged ?? 0, open: h.open_invocations ?? 0,
    clamped: h.time?.clamped_ns ?? 0, subtracted: h.time?.subtracted_ns ?? 0, measured: sum(h.calibration ? d.tree.raw : d.tree.self), calibration: h.calibration ?? null,
    uncounted: h.uncounted ?? 0, exact: d.exact, gaps: h.gaps ?? [], notes: h.notes, pauses: d.pauses, skipped_count: skipped.length,
    reasons: [...reasons].map(([reason, count]) => ({ reason, count })).sort((a, b) => b.count - a.count), filter: h.filter ?? null, natives: h.methods?.natives ?? 0,
    events: e ? { dropped: e.dropped, muted: e.muted_invocations, bad: e.bad, waits: e.waits, waited: e.waited_ns, differ: e.contexts_that_differ } : null,
    dark: dark(d), processes: h.processes ?? [], odd: d.odd,
  };
}

/** dark are the methods with incomplete contexts, with hidden callees, and those whose own times are the least certain. */
function dark(d: Data): DoubtsPage["dark"] {
  const incomplete = new Map<number, number>();
  for (let i = 0; i < d.tree.n; i++) if (d.tree.flags[i] & 2) incomplete.set(d.tree.method[i], (incomplete.get(d.tree.method[i]) ?? 0) + 1);
  const all = flatten(d, "").map((e) => ({ method: e.method, incomplete: incomplete.get(e.method) ?? 0, hidden: d.hidden[e.method], self: e.self, error: Math.round(e.error) }));
  const out: typeof all = [];
  for (const by of [(x: (typeof all)[0]) => x.incomplete, (x: (typeof all)[0]) => Math.min(x.hidden, 1) * Math.max(x.self, 1), (x: (typeof all)[0]) => x.error]) {
    for (const x of [...all].sort((a, b) => by(b) - by(a)).slice(0, mostUncertain)) if (by(x) > 0 && !out.includes(x)) out.push(x);
  }
  return out;
}

export function skipped(d: Data, q: NonNullable<Look["skipped"]>): SkippedPage {
  const match = matcher(q.filter);
  const all = (d.head.methods?.skipped ?? []).filter((s) => (!q.reason || shortReason(s.reason) === q.reason) && match(s.method));
  return { count: all.length, from: q.from, lines: all.slice(q.from, q.from + Math.min(q.rows, mostRows)) };
}
