// What stands in a report where the live page has its connection to a server: the same
// store, answered from what is in the file. vite.report.config.js puts it there.

import type { Entry, Figures, Look, Sections, Snapshot, State } from "../model";
import { parse, type Name } from "../format";
import { read, type Data } from "./data";
import { inverted, sandwich } from "./inverted";
import { around, doubts, flatten, methods, skipped } from "./lists";
import { icicle, tree } from "./views";

/** offline: there is no JVM and no server, and one recording. */
export const offline = true;

/** wish is what the address asks to be shown. */
export const wish = new URLSearchParams(location.hash.replace(/^#&?/, ""));
if (wish.size > 0 && !wish.has("tab")) wish.set("tab", "tree");
export const secret = "report";

export const store = {
  link: "up" as "connecting" | "up" | "down" | "refused", state: null as State | null, log: [] as Entry[], frame: 1, source: 1, sections: {} as Sections, names: new Map<number, Name>(), refused: "",
};

const listeners = new Set<() => void>();
let scheduled = false;

export function subscribe(f: () => void): () => void {
  listeners.add(f);
  return () => listeners.delete(f);
}

export function changed(): void {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(() => {
    scheduled = false;
    for (const f of [...listeners]) f();
  });
}

export function nameOf(method: number): Name {
  return store.names.get(method) ?? parse(method === 0 ? "" : "…");
}

let data: Data | null = null;

const total = (values: Float64Array) => values.reduce((s, v) => s + v, 0);

/** load unpacks the file's data. */
export async function load(packed: string): Promise<Data> {
  const d = (data = await read(packed));
  store.names = d.names;
  const h = d.head;
  store.sections = { figures: figuresOf(d) };
  const recording = { roots: h.roots ?? [], scheme: h.scheme ?? "", clock: h.clock ?? "", follow: false } as unknown as State["recording"];
  const kept = { id: 1, name: "report", when: "", target: h.target.main, scheme: recording.scheme, clock: recording.clock, seconds: h.seconds } as unknown as Snapshot;
  store.state = {
    phase: "idle", paused: false, warming: false, target: h.target, recording, defaults: recording, methods: 0, actions: [], diagnosis: "", frame: 1, figures: null, snapshots: [kept], comparing: null, compared: 0,
  };
  return d;
}

function figuresOf(d: Data): Figures {
  const h = d.head, t = d.tree, r = h.redefinition, open = h.open_invocations ?? 0;
  return {
    scheme: h.scheme ?? "", seconds: h.seconds, calls: total(t.calls), rate: 0, invocations: h.root_invocations ?? total(Float64Array.from(d.threads, (x) => x.entries)), open, nodes: t.n,
    instrumented: h.methods?.instrumented ?? 0, called: flatten(d, "").filter((e) => e.calls > 0 || h.sampling).length, skipped: h.methods?.skipped.length ?? 0,
    batches: r?.batches ?? 0, classes: r?.classes ?? 0, redefining: (r?.ms ?? 0) * 1e6, pause: r?.longest_pause_ms === null || !r ? null : r.longest_pause_ms * 1e6,
    measured: total(h.calibration ? t.raw : t.self), charged: total(t.self), subtracted: h.time?.subtracted_ns ?? null, clamped: h.time?.clamped_ns ?? null,
    suspended: h.time?.suspended_ns ?? 0, exact: d.exact, used: h.room?.used ?? 0, most: h.room?.most ?? 0, governor: h.governor ?? undefined, sampling: h.sampling,
  };
}

/** answer is what a server would send for a query. */
export function answer(d: Data, q: Omit<Look, "seq">): Sections {
  const s: Sections = {}, slow = d.slowest, shown = q.slow > 0 ? slow?.trees[q.slow - 1] : d.tree, h = d.head.history;
  if (q.tree && shown) s.tree = tree(d, shown, q.tree);
  if (q.icicle && shown) s.icicle = q.icicle.inverted ? inverted(d.tree, q.icicle) : icicle(d, shown, q.icicle);
  if (q.methods) s.methods = methods(d, q.methods);
  if (q.around) (s.around = around(d, q.around.method)), (s.sandwich = sandwich(d, d.tree, q.around.method, q.around.width));
  if (q.threads) s.threads = { count: d.threads.length, threads: [...d.threads].sort((a, b) => b.total - a.total).slice(0, 400) };
  if (q.doubts) s.doubts = doubts(d);
  if (q.skipped) s.skipped = skipped(d, q.skipped);
  if (q.brief) s.brief = d.brief;
  if (q.history) {
    const heat = d.head.sampling?.over_time, piece = (heat?.piece_ms ?? 0) * 1e6;
    s.history = {
      at: heat ? piece * heat.samples.length : h?.at ?? 0, times: h?.root_times, why: h?.why, known: [], shown: [0, 0], ...(heat ? { heat: { piece, samples: heat.samples, known: false } } : {}),
      steps: (h?.steps ?? []).map((x) => [x.from, x.took, x.calls, x.root_calls, x.ended, x.mean, x.p99, x.cpu, x.gc, x.gcs, x.classes, x.batches]),
    };
  }
  if (q.slowest) {
    s.slowest = slow ? { recorded: true, times_only: slow.times_only, asked: slow.asked, over: slow.over, of: slow.of, count: slow.lines.length, lines: slow.lines.slice(0, 400), path: slow.paths[q.slow - 1] }
      : { recorded: false, times_only: false, asked: 0, over: 0, of: 0, count: 0, lines: [] };
  }
  return s;
}

let asked: Omit<Look, "seq"> | null = null, waiting = false;

/** show answers at the next frame; the last wish counts. */
export function show(q: Omit<Look, "seq">): void {
  asked = q;
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    if (data && asked) Object.assign(store.sections, answer(data, asked));
    changed();
  });
}

export function settled(): boolean { return !waiting; }
export function connect(): void {}
/** Refusal is what the live page has; a file refuses nothing. */
export class Refusal extends Error { readonly option = ""; }
export async function api<T>(_path: string, _body?: unknown): Promise<T> { throw new Error("This is a saved report: there is no JVM behind it."); }
export async function download(): Promise<void> { await api(""); }
export async function openFile(_file: File): Promise<Snapshot> { return api(""); }
