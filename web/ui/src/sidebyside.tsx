// The table of a comparison: a column for each scheme, a line for each figure.

import { count, schemeName, short, time } from "./format";
import type { Comparison, SchemeRun } from "./model";
import { Share } from "./parts";

/** advised is the scheme that the advice names. */
export function advised(c: Comparison): string | undefined {
  return /^Use ([A-Z])\b/.exec(c.advice)?.[1];
}

type Value = number | null | undefined;

interface Figure {
  label: string;
  title?: string;
  of: (r: SchemeRun) => Value;
  bare?: (c: Comparison) => Value;
  text: (v: number) => string;
  less?: boolean; // less is better
}

const ms = (v: Value) => (v === null || v === undefined ? v : v * 1e6);
const most = (a: number | null, b: number | null) => (a === null ? b : b === null ? a : Math.max(a, b));
const known = (v: Value): v is number => v !== null && v !== undefined;

const groups: [string, Figure[]][] = [
  ["Effect on the program", [
    { label: "Time of the program", of: (r) => ms(r.total_ms), bare: (c) => ms(c.bare_ms), text: time, less: true },
    { label: "A root call, with probes and waits", title: "On average; bare: without probes below the root", of: (r) => r.root_mean_ns, bare: (c) => c.bare_root?.mean_ns, text: time, less: true },
    { label: "Longest stop of a thread", title: "In a pause of all threads, or waiting at its first call of a method", of: (r) => ms(most(r.redefinition.longest_pause_ms, r.redefinition.longest_wait_ms)), text: time, less: true },
    { label: "All pauses of all threads", of: (r) => ms(r.redefinition.total_pause_ms), text: time, less: true },
    { label: "Paused by Rivulet, all threads", of: (r) => r.suspended_ns, text: time, less: true },
  ]],
  ["What was recorded", [
    { label: "Root calls", of: (r) => r.root_invocations, bare: (c) => c.bare_root?.invocations, text: count },
    { label: "Calls", of: (r) => r.calls, text: count },
    { label: "Calls a second", of: (r) => r.calls_per_second, text: short },
    { label: "A root call, overhead removed", title: "The probes' cost, subtracted", of: (r) => r.root_charged_mean_ns, text: time },
    { label: "Overhead removed", of: (r) => r.subtracted_ns, text: time },
  ]],
  ["What it took", [
    { label: "Methods instrumented", of: (r) => r.methods.instrumented, text: count },
    { label: "of them never called", of: (r) => r.methods.instrumented - r.methods.called, text: count, less: true },
    { label: "Classes instrumented", of: (r) => r.redefinition.classes, text: count },
    { label: "in steps", of: (r) => r.redefinition.batches, text: count },
    { label: "Instrumenting", of: (r) => ms(r.redefinition.ms), text: time },
    { label: "Rivulet's analysis", of: (r) => ms(r.redefinition.analysis_ms), text: time },
    { label: "Time until recording", title: "From the command until the first call was recorded", of: (r) => ms(r.armed_ms), text: time },
  ]],
];

/** SideBySide has a column for each scheme, and marks the one to use except for a comparison that goes on. Ratios are to the bare figure where there is one, else to the least. */
export function SideBySide({ c, sofar }: { c: Comparison; sofar?: boolean }) {
  const best = sofar || c.schemes.length < 2 ? undefined : advised(c);
  const bare = groups.some(([, g]) => g.some((f) => known(f.bare?.(c))));
  return (
    <div class="sideways" role="region" aria-label="Schemes side by side">
      <table class="plain-table side" id="side">
        <thead>
          <tr>
            <th scope="col"><span class="unseen">Figure</span></th>
            {bare && <th scope="col" class="num">Bare</th>}
            {c.schemes.map((r) => (
              <th scope="col" class={"num" + (r.scheme === best ? " best" : "")} key={r.scheme}>
                {r.scheme === best && <span class="tag">recommended </span>}{!r.exact && <span class="tag warn">not every call </span>}{schemeName(r.scheme)}
              </th>
            ))}
          </tr>
        </thead>
        {groups.map(([title, figures]) => {
          const rows = figures.filter((f) => c.schemes.some((r) => known(f.of(r))));
          return rows.length > 0 && (
            <tbody key={title}>
              <tr class="group"><th scope="rowgroup" colSpan={1 + (bare ? 1 : 0) + c.schemes.length}>{title}</th></tr>
              {rows.map((f) => <FigureRow f={f} c={c} bare={bare} best={best} key={f.label} />)}
            </tbody>
          );
        })}
      </table>
    </div>
  );
}

function FigureRow({ f, c, bare, best }: { f: Figure; c: Comparison; bare: boolean; best?: string }) {
  const values = c.schemes.map(f.of), alone = f.bare?.(c);
  const there = values.filter(known);
  const least = Math.min(...there), top = Math.max(...there, known(alone) ? alone : 0);
  const base = f.less && known(alone) ? alone : there.length > 1 ? least : 0;
  return (
    <tr>
      <th scope="row" title={f.title}>{f.label}</th>
      {bare && <td class="num">{known(alone) ? f.text(alone) : ""}</td>}
      {values.map((v, i) => (
        <td class={"num" + (c.schemes[i].scheme === best ? " best" : "")} key={i}>
          {known(v) && (
            <>
              {f.less && <Share part={v} own={0} whole={top} />}
              <span class="figure">{f.less && v === least && there.length > 1 ? <b>{f.text(v)}</b> : f.text(v)}</span>
              <span class="ratio">{base > 0 ? (v / base).toFixed(v >= 10 * base ? 0 : v >= 3 * base ? 1 : 2) + "×" : ""}</span>
            </>
          )}
        </td>
      ))}
    </tr>
  );
}
