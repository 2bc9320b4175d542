// What is uncertain about a recording, or missing from it.

import type { ComponentChildren } from "preact";
import { nameOf, store } from "./conn";
import { useStore } from "./hooks";
import type { DoubtsPage } from "./model";
import { count, parse, percent, plural, time } from "./format";
import { Empty, MethodName } from "./parts";
import { Agents } from "./agents";
import { Listing } from "./listing";
import { SampledDoubts } from "./sampled";
import { focusMain, go, sampling, ui } from "./ui";
import { SourceBar } from "./sourcebar";

export function Doubts() {
  useStore();
  const d = store.sections.doubts;
  if (!store.state?.figures && ui.source === 0) return <Empty title="Nothing is recorded yet." />;
  if (!d) return <Empty title="Looking…" />;
  return (
    <div class="split scroll" id="doubts" data-main tabIndex={0} ref={focusMain} role="region" aria-label="Accuracy">
      <SourceBar />
      <Agents />
      {sampling() ? <SampledDoubts s={sampling()!} /> : <div class="columns"><Counts d={d} /><Times d={d} /></div>}
      <Processes d={d} />
      {d.pauses?.length > 0 && <section id="pauses"><h3>Garbage collection and safepoints <span class="muted">of the whole JVM while it was recorded</span></h3><ul>{d.pauses.map((n) => <li key={n}>{n}</li>)}</ul></section>}
      {d.notes.length > 0 && <section><h3>Notes</h3><ul>{d.notes.map((n) => <li key={n}>{n}</li>)}</ul></section>}
      <Dark d={d} />
      {!sampling() && <WithoutProbes d={d} />}
    </div>
  );
}

function Row({ n, label, plain, children }: { n: number; label: string; plain?: boolean; children: ComponentChildren }) {
  return <tr class={n > 0 && !plain ? "warn" : ""}><td class={"num" + (n === 0 ? " muted" : "")}>{count(n)}</td><td><b class={n === 0 ? "muted" : ""}>{label}</b> <span class="muted">{children}</span></td></tr>;
}

/** Processes are those whose reports were put together. */
function Processes({ d }: { d: DoubtsPage }) {
  const all = d.processes ?? [];
  if (all.length === 0) return null;
  const samples = !!sampling();
  const whole = all.reduce((sum, p) => sum + p.self_ns, 0);
  return (
    <section>
      <h3>Processes</h3>
      {(d.odd ?? []).map((o) => <p class="warn" key={o}>{o}</p>)}
      <Listing id="processes" label="Processes" rows={all} by={2} columns={[
        { label: "Host", of: (p) => p.host ?? "" },
        { label: "pid", cls: "num", of: (p) => p.pid, show: (p) => p.pid || "" },
        { label: "Self", cls: "num", of: (p) => p.self_ns, show: (p) => `${time(p.self_ns)}, ${percent(p.self_ns, whole)} %` },
        { label: samples ? "Samples" : "Calls", cls: "num", of: (p) => samples ? p.samples : p.calls, show: (p) => count(samples ? p.samples : p.calls) },
        { label: "Java", of: (p) => p.java },
        { label: "Program", of: (p) => p.main, show: (p) => <>{p.main} {p.error && <span class="worse">failed: {p.error}</span>}</> },
      ]} />
    </section>
  );
}

function Counts({ d }: { d: DoubtsPage }) {
  const e = d.events;
  return (
    <section>
      <h3>Counts</h3>
      <p>{d.exact ? "Exact: every call below the root is counted." : "Not exact: calls may be missing, or lack a call path of their own, for the reasons below."}</p>
      {d.gaps.length > 0 && <ul class="warn" id="gaps">{d.gaps.map((g) => <Gap key={g.reason} g={g} />)}</ul>}
      <table class="plain-table"><tbody>
        <Row n={d.incomplete} label="incomplete">waits for instrumentation that timed out; callees may be missing there</Row>
        <Row n={d.overflow} label="overflowed">calls without a call path of their own: record with a higher memory limit</Row>
        <Row n={d.uncounted} label="uncounted">of these, calls that are in no count at all</Row>
        <Row n={d.lost} label="lost">root calls without a record: too many were under way at one time</Row>
        {d.unfollowed > 0 && <Row n={d.unfollowed} label="not followed">async tasks that are missing for lack of memory: record with a higher memory limit</Row>}
        <Row n={d.damaged} label="damaged">links of the tree that lead nowhere: the target's memory can't be trusted</Row>
        <Row n={d.refused} label="beyond limit" plain>root calls after the number asked for</Row>
        <Row n={d.open} label="still running" plain>root calls that have not ended: counted, with their time up to now</Row>
        {e && <Row n={e.dropped} label="events dropped">not read in time; the tree has these calls, but trees of the slowest root calls may lack them</Row>}
        {e && <Row n={e.muted} label="without events">root calls without events for lack of memory: record with a higher memory limit</Row>}
        {e && e.bad > 0 && <Row n={e.bad} label="damaged events">words that make no sense: the target's memory can't be trusted</Row>}
        {e && e.differ !== null && <Row n={e.differ} label="differ">call paths on which the tree made from events differs from the recorded one</Row>}
      </tbody></table>
    </section>
  );
}

function Gap({ g }: { g: { reason: string; count: number; where: string[] } }) {
  const rest = g.count - g.where.length;
  return (
    <li>
      {g.reason}
      {g.where.length > 0 && <details><summary>{count(g.count)}</summary>{g.where.map((w) => <div key={w}>{w}</div>)}{rest > 0 && <div class="muted">and {count(rest)} more</div>}</details>}
    </li>
  );
}

function Times({ d }: { d: DoubtsPage }) {
  const c = d.calibration;
  return (
    <section>
      <h3>Times</h3>
      {c ? (
        <table class="plain-table"><tbody>
          <tr><td class="num">{time(d.subtracted)}</td><td><b>overhead removed</b> <span class="muted">the probes' own cost, {percent(d.subtracted, d.measured)} % of what was measured</span></td></tr>
          <tr class={d.clamped > d.measured / 100 ? "warn" : ""}><td class="num">{time(d.clamped)}</td><td><b>overhead not removable</b> <span class="muted">methods took less than their probes cost</span></td></tr>
          <tr><td class="num">{c.inner_ns.toFixed(1)} + {c.outer_ns.toFixed(1)} ns</td><td><b>a probe pair</b> <span class="muted">in the callee + the caller, ± {c.spread_ns.toFixed(1)} ns, of {c.batches} batches</span></td></tr>
          {c.tick && <tr><td class="num">{time(c.tick.period_ns)}</td><td><b>a tick</b> <span class="muted">on the average; {percent(c.tick.core_share, 1)} % of a core; longest gap {time(c.tick.longest_gap_ns)}, {count(c.tick.gaps_over_1ms)} over 1 ms</span></td></tr>}
          {d.events && d.events.waits > 0 && <tr><td class="num">{time(d.events.waited)}</td><td><b>waited for the reader</b> <span class="muted">of events, {count(d.events.waits)} times; in no method's time</span></td></tr>}
        </tbody></table>
      ) : <p class="warn">Not corrected: the probes' cost could not be measured in this target. The machine was too busy for an undisturbed batch, or the compiler did not get to the sample. Times are as measured, the probes' own cost is in them.</p>}
    </section>
  );
}

function Dark({ d }: { d: DoubtsPage }) {
  const rows = d.dark;
  return (
    <section>
      <h3>Methods to be careful with <span class="muted">incomplete ones, those that have the time of what a filter hides, and the least certain times</span></h3>
      {rows.length === 0 ? <p class="muted">None.</p> : (
        <div class="tall">
          <table class="plain-table" id="dark">
            <thead><tr><th class="num">Self</th><th class="num">±</th><th class="num">Incomplete</th><th class="num">Hidden callees</th><th>Method</th></tr></thead>
            <tbody>
              {rows.map((r) => (
                <tr key={r.method}>
                  <td class="num">{time(r.self)}</td><td class="num">{r.error > 0 ? time(r.error) : ""}</td><td class={"num" + (r.incomplete > 0 ? " warn" : "")}>{r.incomplete || ""}</td>
                  <td class="num">{r.hidden || ""}</td><td><button class="plain" onClick={() => go({ tab: "around", method: r.method })}><MethodName name={nameOf(r.method)} /></button></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function WithoutProbes({ d }: { d: DoubtsPage }) {
  const s = store.sections.skipped;
  const set = (change: Partial<typeof ui.skipped>) => go({ skipped: { ...ui.skipped, from: 0, ...change } });
  const live = store.state?.phase === "recording" && ui.source === 0;
  const rules = d.filter?.rules ?? (live ? store.state?.recording.filter : undefined) ?? [];
  return (
    <section>
      <h3>Without probes <span class="muted">{d.skipped_count === 0 ? "no methods within reach" : plural(d.skipped_count, "method within reach, or call site that can't be followed", "methods within reach, and call sites that can't be followed")}{live ? "; call sites are looked for at the end" : ""}</span></h3>
      {rules.length > 0 && <p id="hidden">The filter <code>{rules.join(" ")}</code> {d.filter ? `hides ${count(d.filter.hidden)} of them: ` : "hides some of them: "}their time belongs to their callers.</p>}
      {d.natives > 0 && <p class="muted">{count(d.natives)} native methods are recorded where they are called.</p>}
      {d.skipped_count > 0 && (
        <div class="sourcebar inner">
          <label><span>Reason</span>
            <select id="reason" value={ui.skipped.reason} onChange={(e) => set({ reason: e.currentTarget.value })}>
              <option value="">all {count(d.skipped_count)}</option>
              {d.reasons.map((r) => <option value={r.reason} key={r.reason}>{r.reason}: {count(r.count)}</option>)}
            </select>
          </label>
          <label class="grow"><span>Filter</span>
            <input id="filter" type="search" value={ui.skipped.filter} placeholder="words of a name  ( / )" onInput={(e) => set({ filter: e.currentTarget.value })} />
          </label>
          {s && <span class="muted">{count(s.count)}</span>}
        </div>
      )}
      {s && s.lines.length > 0 && (
        <table class="plain-table" id="skipped"><thead><tr><th>Method</th><th>Reason</th></tr></thead><tbody>
          {s.lines.map((k, i) => <tr key={s.from + i}><td>{k.method.includes(" ") ? k.method : <MethodName name={parse(k.method)} />}</td><td>{k.reason}</td></tr>)}
        </tbody></table>
      )}
      {s && s.count > ui.skipped.rows && (
        <p class="line">
          <button disabled={s.from === 0} onClick={() => set({ from: Math.max(0, s.from - ui.skipped.rows) })}>Earlier</button>
          <span class="muted">{count(s.from + 1)} to {count(s.from + s.lines.length)} of {count(s.count)}</span>
          <button disabled={s.from + s.lines.length >= s.count} onClick={() => set({ from: s.from + ui.skipped.rows })}>Further</button>
        </p>
      )}
    </section>
  );
}
