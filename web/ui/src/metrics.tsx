// Columns of the metrics that a recording has beside calls and time: they are
// rows of the server's table, which the views send along.

import { bytes, count, time } from "./format";
import type { Metric } from "./model";
import type { Column } from "./table";

/** withMetrics puts the metrics' columns before the last one, the name. */
export function withMetrics(columns: Column[], metrics: Metric[] = []): Column[] {
  const more = metrics.flatMap((m) => [
    { key: m.self, label: capital(m.title), title: m.doc, sort: true, cls: "num calls" },
    ...(m.rate ? [{ key: m.rate, label: "Per ns", title: capital(m.title) + " by self time: few mean waiting, cache misses, or code that is not compiled", cls: "num opt1" }] : []),
    ...(m.total ? [{ key: m.total, label: "Total " + m.title, title: m.doc + ", with all that is called", sort: true, cls: "num calls opt1" }] : []),
  ]);
  return [...columns.slice(0, -1), ...more, columns[columns.length - 1]];
}

/** metricCells are a row's cells in these columns. self is its own time in ns, 0 if it has none, and off how far that may be off. */
export function metricCells(metrics: Metric[] = [], counts: number[] = [], self = 0, off = 0): string[] {
  return metrics.flatMap((m, i) => [figure(m, counts[2 * i] ?? 0), ...(m.rate ? [off < self ? ((counts[2 * i] ?? 0) / self).toFixed(2) : ""] : []), ...(m.total ? [figure(m, counts[2 * i + 1] ?? 0)] : [])]);
}

/** figure is a value of a metric. */
export function figure(m: Metric, v: number): string {
  return m.unit === "nanoseconds" ? time(v) : m.unit === "bytes" ? bytes(v) : count(v);
}

function capital(s: string): string {
  return s.slice(0, 1).toUpperCase() + s.slice(1);
}
