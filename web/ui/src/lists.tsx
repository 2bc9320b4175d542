// Threads, what is uncertain, and the log.

import { store } from "./conn";
import { useStore } from "./hooks";
import { clock, count, parse, percent, time } from "./format";
import { Empty, MethodName, Share } from "./parts";
import { go, ui } from "./ui";
import { SourceBar } from "./sourcebar";

export function Threads() {
  useStore();
  const t = store.sections.threads;
  if (!store.state?.figures && ui.source === 0) return <Empty title="Nothing is recorded yet." />;
  const list = t?.threads ?? [];
  const whole = list.reduce((s, x) => s + x.total, 0);
  return (
    <div class="split scroll">
      <SourceBar />
      {list.length === 0 ? <Empty title="No thread was inside the subgraph." /> : (
        <table class="plain-table">
          <thead><tr><th class="num">Time</th><th class="num sharecol">%</th><th class="num">Root calls</th><th class="num opt1">Suspended</th><th>Thread</th><th /></tr></thead>
          <tbody>
            {list.map((x) => (
              <tr key={x.place}>
                <td class="num">{time(x.total)}</td><td class="num sharecol"><Share part={x.total} own={0} whole={whole} />{percent(x.total, whole)}</td>
                <td class="num">{count(x.entries)}</td><td class="num opt1">{time(x.suspended)}</td>
                <td><b>{x.name || "unnamed"}</b> <span class="muted">{x.virtual ? "virtual threads in turn" : x.shared ? "several threads in turn" : "id " + x.id}{x.inside ? ", inside now" : ""}</span></td>
                <td><button onClick={() => go({ tab: "tree", thread: x.place, focus: 0 })}>Its tree</button></td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {t && t.count > list.length && <p class="muted">{count(t.count - list.length)} more threads with less time</p>}
    </div>
  );
}

export function Doubts() {
  useStore();
  const d = store.sections.doubts;
  if (!store.state?.figures && ui.source === 0) return <Empty title="Nothing is recorded yet." />;
  if (!d) return <Empty title="Looking…" />;
  const row = (n: number, label: string, text: string, plain = false) => (
    <tr class={n > 0 && !plain ? "warn" : ""}><td class="num">{count(n)}</td><td><b>{label}</b> <span class="muted">{text}</span></td></tr>
  );
  const c = d.calibration;
  return (
    <div class="split scroll">
      <SourceBar />
      <div class="columns">
        <section>
          <h3>Counts</h3>
          <p>{d.incomplete + d.overflow + d.lost + d.damaged === 0 ? "All counts are exact." : "Counts are exact but for what is marked here."}</p>
          <table class="plain-table"><tbody>
            {row(d.incomplete, "incomplete", "waits for instrumentation that timed out; callees may be missing there")}
            {row(d.overflow, "overflowed", "calls without room in the tree: record with more memory")}
            {row(d.lost, "lost", "root calls without a record: too many were under way at one time")}
            {row(d.damaged, "damaged", "links of the tree that lead nowhere")}
            {row(d.refused, "left out", "root calls after the number asked for", true)}
            {row(d.open, "open", "root calls that have not ended: counted, with their time up to now", true)}
          </tbody></table>
        </section>
        <section>
          <h3>Times</h3>
          {c ? (
            <table class="plain-table"><tbody>
              <tr><td class="num">{time(d.subtracted)}</td><td><b>subtracted</b> <span class="muted">for the probes' own cost, {percent(d.subtracted, d.measured)} % of what was measured</span></td></tr>
              <tr class={d.clamped > d.measured / 100 ? "warn" : ""}><td class="num">{time(d.clamped)}</td><td><b>clamped</b> <span class="muted">could not be subtracted: methods were charged less than their probes cost</span></td></tr>
              <tr><td class="num">{c.inner_ns.toFixed(1)} + {c.outer_ns.toFixed(1)} ns</td><td><b>a probe pair</b> <span class="muted">charged to callee + caller, ± {c.spread_ns.toFixed(1)} ns, of {c.batches} batches</span></td></tr>
              {c.tick && <tr><td class="num">{time(c.tick.period_ns)}</td><td><b>a tick</b> <span class="muted">on the average; {percent(c.tick.core_share, 1)} % of a core; longest gap {time(c.tick.longest_gap_ns)}, {count(c.tick.gaps_over_1ms)} over 1 ms</span></td></tr>}
            </tbody></table>
          ) : <p class="warn">The probes' cost could not be measured in this target (a busy machine?): times are as measured, nothing is subtracted.</p>}
        </section>
      </div>
      {d.notes.length > 0 && <section><h3>Notes</h3><ul>{d.notes.map((n) => <li key={n}>{n}</li>)}</ul></section>}
      <section>
        <h3>Not instrumented <span class="muted">{count(d.skipped_count)} methods within reach and call sites that can't be followed{store.state?.phase === "recording" && ui.source === 0 ? "; call sites are looked for at the end" : ""}</span></h3>
        {d.reasons.length > 0 && <p>{d.reasons.map((r) => `${r.reason}: ${count(r.count)}`).join(" · ")}</p>}
        {d.skipped.length > 0 && (
          <table class="plain-table"><thead><tr><th>Method</th><th>Reason</th></tr></thead><tbody>
            {d.skipped.map((s, i) => <tr key={i}><td>{s.method.includes(" by ") ? s.method : <MethodName name={parse(s.method)} />}</td><td>{s.reason}</td></tr>)}
          </tbody></table>
        )}
        {d.skipped_count > d.skipped.length && <p class="muted">{count(d.skipped_count - d.skipped.length)} more; the JSON export has all.</p>}
      </section>
    </div>
  );
}

export function Log() {
  useStore();
  return (
    <div class="split scroll">
      {store.log.length === 0 ? <Empty title="Nothing has happened yet." /> : (
        <table class="plain-table log"><tbody>
          {store.log.slice().reverse().map((e) => <tr key={e.seq} class={e.level}><td class="num">{clock(e.time)}</td><td>{e.level === "info" ? "" : e.level}</td><td>{e.text}</td></tr>)}
        </tbody></table>
      )}
    </div>
  );
}
