// What the flame graph says of the box under the pointer. Keys select instead, and
// the line below the graph says the same of what is selected.

import { useLayoutEffect, useRef } from "preact/hooks";
import { nameOf } from "./conn";
import { count, mean, percent, time } from "./format";
import { figure } from "./metrics";
import { B, flagAsync, flagCounted, flagType, type Metric } from "./model";
import { arrow } from "./parts";
import { sampling, upsideDown } from "./ui";

export function Tip({ box, whole, metric, x, y }: { box: number[]; whole: number; metric?: Metric; x: number; y: number }) {
  const ref = useRef<HTMLDivElement>(null);
  // Beside the pointer, and inside of the window.
  useLayoutEffect(() => {
    const el = ref.current!, r = el.getBoundingClientRect();
    el.style.left = Math.max(4, x + 16 + r.width > innerWidth ? x - 12 - r.width : x + 16) + "px";
    el.style.top = Math.max(4, y + 18 + r.height > innerHeight ? y - 22 - r.height : y + 18) + "px";
  });
  const name = nameOf(box[B.method]);
  const calls = box[B.calls], raw = box[B.raw], error = box[B.error];
  const rows: [string, string][] = metric ? [
    [box[B.flags] & flagType ? "objects" : "calls", count(calls)],
    ["total " + metric.title, `${figure(metric, box[B.total])}, ${percent(box[B.total], whole)} %`],
    ["its own", `${figure(metric, box[B.self])}, ${percent(box[B.self], whole)} %`],
  ] : upsideDown() ? [
    [box[B.self] > 0 ? "self" : "of that, called from here", `${time(box[B.total])}, ${percent(box[B.total], whole)} %`],
  ] : sampling() ? [
    ["entries", "≥ " + count(calls)],
    ["total", `${time(box[B.total])}, ${percent(box[B.total], whole)} %`],
    ["self", `${time(box[B.self])}, ${percent(box[B.self], whole)} %`],
    ["may be off by", error > 0 ? "± " + time(error) : "–"],
  ] : [
    ["calls", count(calls)],
    ["thrown", count(box[B.thrown])],
    ["total", `${time(box[B.total])}, ${percent(box[B.total], whole)} %`],
    ["self", box[B.flags] & flagCounted ? "its caller's: only counted" : `${time(box[B.self])}, ${percent(box[B.self], whole)} %`],
    ["may be off by", error > 0 ? "± " + time(error) : "not known"],
    ["measured self", raw > 0 ? time(raw) : "not corrected"],
    ["mean total", mean(box[B.total], calls) || "–"],
  ];
  if (box[B.flags] & flagAsync) rows.push(["queued", `${mean(box[B.waited], calls) || 0} each, ${time(box[B.longest])} at the longest`]);
  return (
    <div class="tip" ref={ref} aria-hidden="true">
      <p>{(box[B.flags] & flagAsync) > 0 && arrow + " "}{name.pkg && <span class="muted">{name.pkg}.</span>}{name.cls}{name.cls && "."}<b>{name.method}</b><span class="muted">{name.args}</span></p>
      {name.place && <p class="muted">{name.place}</p>}
      <dl>{rows.map(([what, value]) => <div key={what}><dt>{what}</dt><dd>{value}</dd></div>)}</dl>
    </div>
  );
}
