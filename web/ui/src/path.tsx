// The critical path of a root invocation: what its end waited for, a lane for
// each thread, and the same as a table.

import { useState } from "preact/hooks";
import { nameOf } from "./conn";
import { plural, time } from "./format";
import type { SlowPath } from "./model";
import { MethodName } from "./parts";

const kinds = ["ran", "queued", "waited"];
const says = ["", "until the thread above let it go on", "until the thread above ended", "until the task above ended"];

/** G names the places in a segment. */
const G = { kind: 0, thread: 1, method: 2, from: 3, to: 4, cause: 5 };

const lanes = 8;
const rows = 12;

export function CriticalPath({ path, whole }: { path: SlowPath; whole: number }) {
  const [open, setOpen] = useState(false);
  const [hover, setHover] = useState(-1);
  const end = path.segments.reduce((m, s) => Math.max(m, s[G.to]), whole) || 1;
  const thread = (k: number) => path.threads[k]?.name || "thread " + path.threads[k]?.id;
  const shown = Math.min(path.threads.length, lanes);
  const s = path.segments[hover];
  const method = (m: number) => (m === 0 ? <span class="muted">unknown</span> : <MethodName name={nameOf(m)} pkg={false} />);
  const longest = [...path.segments].sort((a, b) => b[G.to] - b[G.from] - (a[G.to] - a[G.from])).slice(0, rows).sort((a, b) => a[G.from] - b[G.from]);
  const others = path.left + path.segments.length - longest.length;
  return (
    <section class="path" id="path" aria-label="Critical path">
      <p>
        <button class="plain" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? "▾" : "▸"} <b>Critical path</b></button>{" "}
        <span title="What the end of this invocation waited for, through its async tasks: to make it faster, one of these must take less">
          ran <b>{time(path.run)}</b>, queued <b>{time(path.queue)}</b>, waited <b>{time(path.wait)}</b>
        </span>
        {path.profiler > 0 && <span class="muted">, and {time(path.profiler)} of the profiler's</span>}
        {path.lacking > 0 && <span class="tag warn" title={plural(path.lacking, "wait is", "waits are") + " not known, for want of memory"}>may be another</span>}
        <span class="muted at">
          {s && <>{kinds[s[G.kind]]} {time(s[G.to] - s[G.from])} from {time(s[G.from])} on, {thread(s[G.thread])}, {s[G.method] ? nameOf(s[G.method]).cls + "." + nameOf(s[G.method]).method : "unknown"}</>}
        </span>
      </p>
      <div class="lanes" aria-hidden="true" style={{ height: shown * 12 + "px" }} onMouseLeave={() => setHover(-1)}>
        {path.segments.map((g, k) => (
          <span key={k} class={"seg " + kinds[g[G.kind]]} onMouseEnter={() => setHover(k)}
            style={{ left: (100 * g[G.from]) / end + "%", width: `max(1px, ${(100 * (g[G.to] - g[G.from])) / end}%)`, top: Math.min(g[G.thread], lanes - 1) * 12 + "px" }} />
        ))}
      </div>
      {open && (
        <div class="pathtables scroll" tabIndex={0} role="group" aria-label="Segments and methods of the critical path">
          <table class="plain-table">
            <thead><tr><th class="num">From</th><th class="num">Took</th><th>Kind</th><th>Method</th><th>Thread</th></tr></thead>
            <tbody>
              {longest.map((g, k) => (
                <tr key={k}>
                  <td class="num">{time(g[G.from])}</td><td class="num">{time(g[G.to] - g[G.from])}</td>
                  <td><span class={"swatch " + kinds[g[G.kind]]} aria-hidden="true" /> {kinds[g[G.kind]]}</td>
                  <td>{method(g[G.method])}</td><td>{thread(g[G.thread])}{says[g[G.cause]] && <span class="muted">, {says[g[G.cause]]}</span>}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {others > 0 && <p class="muted">{plural(others, "shorter segment", "shorter segments")}.</p>}
          <table class="plain-table">
            <thead><tr><th class="num">Ran</th><th class="num">Queued</th><th class="num">Waited</th><th>On the path</th></tr></thead>
            <tbody>
              {path.methods.map((m) => (
                <tr key={m[0]}>{[1, 2, 3].map((k) => <td key={k} class="num">{m[k] > 0 ? time(m[k]) : ""}</td>)}<td>{method(m[0])}</td></tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
