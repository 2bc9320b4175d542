// What a report's file holds, unpacked: one recording. Package export writes it.

import { parse, type Name } from "../format";
import type { DoubtsPage, Governor, Metric, Sampling, Skipped, SlowLine, SlowPath, ThreadLine } from "../model";
import type { Times } from "../past";

/** Head is what is used of JSON of schema 1; a report of samples has less. */
export interface Head {
  kind?: string; target: { pid: number; java: string; vm: string; main: string }; scheme?: string; clock?: string; roots?: string[]; seconds: number; ended: string;
  root_invocations?: number; open_invocations?: number; incomplete?: number; overflow?: number; uncounted?: number; lost?: number; refused?: number; damaged?: number; unfollowed?: number; processes?: DoubtsPage["processes"];
  governor?: Governor | null; gaps?: DoubtsPage["gaps"]; filter?: DoubtsPage["filter"]; notes: string[]; calibration?: DoubtsPage["calibration"]; sampling?: Sampling & { over_time?: { piece_ms: number; samples: number[] } };
  methods?: { instrumented: number; natives?: number; skipped: Skipped[] };
  redefinition?: { batches: number; classes: number; ms: number; longest_pause_ms: number | null };
  room?: { used: number; most: number };
  time?: { subtracted_ns: number | null; clamped_ns: number | null; suspended_ns: number };
  events?: { dropped: number; muted_invocations: number; bad: number; waits: number; waited_ns: number; contexts_that_differ: number | null };
  history?: { at: number; steps: { from: number; took: number; calls: number; root_calls: number; ended: number; mean: number; p99: number; cpu: number; gc: number; gcs: number; classes: number; batches: number }[]; root_times?: Times; why?: string };
}

interface Packed {
  head: Head; exact: boolean; pauses: string[]; odd: string[]; metrics: Metric[]; processes: { name: string; total: number }[];
  methods: { name: string[]; loader: string[]; place: string[]; hidden: number[]; counted: number[] };
  brief: { lines: string[]; self: number[]; allocated: number[]; waiting: number[] };
  threads: Omit<ThreadLine, "place">[];
  slowest: { times_only: boolean; asked: number; over: number; of: number; lines: (Omit<SlowLine, "place"> & { nodes: number; path?: SlowPath })[] } | null;
  tree: number[][]; slow_trees: number[][];
}

/** Places of a packed node's figures; those of the metrics follow, and what each process has of its self time. */
const depthAt = 0, methodAt = 1, callsAt = 2, thrownAt = 3, selfAt = 4, beyondAt = 5, errorAt = 6, moreAt = 7, flagsAt = 8, waitedAt = 9, longestAt = 10, fixed = 11;

/** A Forest is a tree as lists, callers before callees. Methods have the numbers that the views know. */
export interface Forest {
  n: number; depth: Float64Array; method: Float64Array; calls: Float64Array; thrown: Float64Array; self: Float64Array; total: Float64Array; error: Float64Array; raw: Float64Array;
  flags: Float64Array; waited: Float64Array; longest: Float64Array;
  above: Int32Array; // place of the caller; -1 of a root
  next: Int32Array; // place behind the last node below
  counts: Float64Array[]; // own and total of each metric in turn
  parts: Float64Array[]; // total of each process
}

/** number is what the views call the method at a place of the file. */
const number = (place: number) => place + 1;

/** forest makes one of columns, of the nodes from one place to another. */
function forest(columns: number[][], from: number, to: number, corrected: boolean, metrics: number): Forest {
  const n = to - from;
  const column = (k: number) => (columns[k].length > 0 ? Float64Array.from(columns[k].slice(from, to)) : new Float64Array(n));
  const f: Forest = {
    n, depth: column(depthAt), method: column(methodAt).map(number), calls: column(callsAt), thrown: column(thrownAt), self: column(selfAt), total: column(beyondAt), error: column(errorAt), raw: column(moreAt),
    flags: column(flagsAt), waited: column(waitedAt), longest: column(longestAt), above: new Int32Array(n), next: new Int32Array(n), counts: columns.slice(fixed, fixed + 2 * metrics).map((_, k) => column(fixed + k)), parts: columns.slice(fixed + 2 * metrics).map((_, k) => column(fixed + 2 * metrics + k)),
  };
  const path: number[] = [];
  for (let i = 0; i < n; i++) {
    while (path.length > f.depth[i]) f.next[path.pop()!] = i;
    f.above[i] = path.length > 0 ? path[path.length - 1] : -1;
    path.push(i);
    f.raw[i] = corrected ? f.self[i] + f.raw[i] : 0;
  }
  while (path.length > 0) f.next[path.pop()!] = n;
  for (let i = n - 1; i >= 0; i--) { // totals are in the file as what they have beyond self and the callees' totals
    f.total[i] += f.self[i];
    if (f.above[i] >= 0) f.total[f.above[i]] += f.total[i];
    if (f.above[i] >= 0) for (const part of f.parts) part[f.above[i]] += part[i];
  }
  return f;
}

export interface Data {
  head: Head; exact: boolean; pauses: string[]; odd: string[]; metrics: Metric[]; processes: Packed["processes"]; brief: { lines: string[]; self: number[]; allocated: number[]; waiting: number[] }; threads: ThreadLine[];
  names: Map<number, Name>; hidden: number[]; counted: Set<number>; // by methods' numbers
  tree: Forest;
  slowest: { times_only: boolean; asked: number; over: number; of: number; lines: SlowLine[]; paths: (SlowPath | undefined)[]; trees: Forest[] } | null;
}

/** read unpacks the text of the file's data. */
export async function read(packed: string): Promise<Data> {
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const p = (await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json()) as Packed;
  const corrected = !!p.head.calibration;
  let at = 0;
  const way = (path: SlowPath | undefined) => path && {
    ...path, segments: path.segments.map((s) => s.map((v, k) => (k === 2 ? number(v) : v))), methods: path.methods.map((m) => m.map((v, k) => (k === 0 ? number(v) : v))),
  };
  return {
    head: p.head, exact: p.exact, pauses: p.pauses, odd: p.odd, metrics: p.metrics, processes: p.processes,
    brief: { lines: p.brief.lines, self: p.brief.self.map(number), allocated: p.brief.allocated.map(number), waiting: p.brief.waiting.map(number) },
    threads: p.threads.map((t, k) => ({ ...t, place: k + 1 })),
    names: new Map(p.methods.name.map((name, k) => [number(k), parse(name, p.methods.loader[k], p.methods.place[k])])),
    hidden: [0, ...p.methods.hidden], counted: new Set(p.methods.counted.map(number)),
    tree: forest(p.tree, 0, p.tree[0].length, corrected, p.metrics.length),
    slowest: p.slowest && {
      times_only: p.slowest.times_only, asked: p.slowest.asked, over: p.slowest.over, of: p.slowest.of,
      lines: p.slowest.lines.map(({ nodes: _n, path: _p, ...l }, k) => ({ ...l, method: number(l.method), place: k + 1 })),
      paths: p.slowest.lines.map((l) => way(l.path)),
      trees: p.slowest.lines.map((l) => forest(p.slow_trees, at, (at += l.nodes), false, p.metrics.length)),
    },
  };
}
