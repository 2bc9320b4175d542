// What the strip of a recording's history draws: pieces of time with their figures.

import type { Heat } from "./heat";

/** Places of a step's figures, as the server sends them; -1 is unknown. Times are ns. */
export const H = { from: 0, took: 1, calls: 2, roots: 3, ended: 4, mean: 5, p99: 6, cpu: 7, gc: 8, gcs: 9, classes: 10, batches: 11 } as const;

export interface Times { count: number; of: number; mean_ns: number; p50_ns: number; p90_ns: number; p99_ns: number; p999_ns: number; buckets: [number, number, number][] }
export interface HistoryPage { at: number; steps: number[][]; times?: Times; why?: string; known: number[]; shown: [number, number]; heat?: Heat }

/** A row of the strip: its lines, as functions of a step; NaN is unknown. */
export interface Row { label: string; title: string; lines: ((s: number[]) => number)[]; unit: "rate" | "time" | "cores" }

const known = (v: number) => (v < 0 ? NaN : v);

export const rows: Row[] = [
  { label: "calls/s", title: "Calls below the root, each second", lines: [(s) => known(s[H.calls]) / (s[H.took] / 1e9)], unit: "rate" },
  { label: "root calls/s", title: "Root calls that began, for each second", lines: [(s) => s[H.roots] / (s[H.took] / 1e9)], unit: "rate" },
  { label: "root: mean, p99", title: "Times of the root calls that ended then: mean (below), and 99th percentile, within 6 %", lines: [(s) => known(s[H.mean]), (s) => known(s[H.p99])], unit: "time" },
  { label: "CPU", title: "Cores that the program's threads used, the JVM's compilers left out", lines: [(s) => known(s[H.cpu]) / s[H.took]], unit: "cores" },
];

/** most is the highest value of a row, for its scale. */
export function most(page: HistoryPage, row: Row): number {
  let m = 0;
  for (const s of page.steps) for (const f of row.lines) {
    const v = f(s);
    if (v > m) m = v;
  }
  return m;
}

/** stepAt is the step at a time; undefined beside all. */
export function stepAt(page: HistoryPage, ns: number): number[] | undefined {
  return page.steps.find((s) => s[H.from] <= ns && ns < s[H.from] + s[H.took]);
}

/** spanOf orders two ends of a brush and keeps them within the recording; undefined for less than a hundredth of it. */
export function spanOf(page: HistoryPage, a: number, b: number): [number, number] | undefined {
  const from = Math.max(0, Math.min(a, b)), to = Math.min(page.at, Math.max(a, b));
  return to - from < page.at / 100 ? undefined : [Math.round(from), Math.round(to)];
}

/** moved is the next known moment beside one, the beginning and the end included. */
export function moved(page: HistoryPage, from: number, by: number): number {
  const all = [0, ...page.known, page.at];
  let at = 0;
  while (at + 1 < all.length && all[at + 1] <= from) at++;
  return all[Math.max(0, Math.min(all.length - 1, at + by))];
}

/** whole is all steps as one. */
export function whole(page: HistoryPage): number[] {
  const sum = (k: number) => (page.steps.some((s) => s[k] < 0) ? -1 : page.steps.reduce((n, s) => n + s[k], 0));
  return [0, sum(H.took), sum(H.calls), sum(H.roots), page.times?.count ?? 0, page.times?.mean_ns ?? -1, page.times?.p99_ns ?? -1, sum(H.cpu), sum(H.gc), sum(H.gcs), sum(H.classes), sum(H.batches)];
}
