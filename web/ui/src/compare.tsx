// Compare: the difference between two recordings.

import { useEffect } from "preact/hooks";
import { nameOf, store } from "./conn";
import { DiffFlame } from "./diffflame";
import { useStore } from "./hooks";
import { D, flagAsync, flagOpen } from "./model";
import { count, percent, time } from "./format";
import { Empty, MethodName, arrow } from "./parts";
import { Table, step, type Column } from "./table";
import { compareWith, distinct, go, opened, recordings, sampling, suggestPair, toggled, ui } from "./ui";
import { Schemed, TryAll } from "./schemes";

const columns: Column[] = [
  { key: "delta", label: "Δ total", title: "Total after less total before; grey where it is within the noise", cls: "num" },
  { key: "noise", label: "± noise", title: "How much the two may differ although the program is unchanged", cls: "num opt1" },
  { key: "rel", label: "%", title: "Change as a share of the total before", cls: "num opt1" },
  { key: "a", label: "Before", cls: "num" },
  { key: "b", label: "After", cls: "num" },
  { key: "self", label: "Δ self", title: "Self after less self before; grey where it is within the noise", cls: "num opt2" },
  { key: "callsA", label: "Calls", title: "Calls before", cls: "num calls opt1" },
  { key: "callsB", label: "→", title: "Calls after", cls: "num calls opt1" },
  { key: "name", label: "Method", cls: "wide" },
];

export function Compare() {
  useStore();
  const snaps = recordings();
  const schemes = (store.state?.snapshots ?? []).filter((s) => s.kind);
  const c = store.sections.compare;
  // What is compared are two different recordings from the start on.
  const pair = suggestPair();
  useEffect(() => {
    if (pair) compareWith(pair[0], pair[1]);
  }, [pair?.join()]);
  const pick = (label: string, id: number, set: (id: number) => void) => (
    <label><span>{label}</span>
      <select value={id} onChange={(e) => set(Number(e.currentTarget.value))}>
        {!distinct(id) && <option value={id}>choose…</option>}
        {distinct(0) && <option value={0}>live recording</option>}
        {snaps.map((s) => <option value={s.id} key={s.id}>{s.name}</option>)}
      </select>
    </label>
  );
  const what = schemes.length > 0 && (
    <label><span>Compare</span>
      <select id="compared" value={ui.compared} onChange={(e) => go({ compared: Number(e.currentTarget.value) })}>
        <option value={0}>two recordings</option>
        {schemes.map((s) => <option value={s.id} key={s.id}>schemes: {s.name}</option>)}
      </select>
    </label>
  );
  if (schemes.some((s) => s.id === ui.compared)) return <Schemed id={ui.compared} what={what} key={ui.compared} />;
  if (snaps.length + (distinct(0) ? 1 : 0) < 2) {
    return (
      <div class="split">
        <div class="sourcebar">{what}<TryAll /></div>
        <Empty title="There is nothing to compare with yet."><p>Stop a recording, or save a snapshot while one goes on; then compare it with another. Schemes can be compared where roots are chosen.</p></Empty>
      </div>
    );
  }
  return (
    <div class="split comparison">
      <div class="sourcebar">
        {what}
        {pick("Before", ui.against, (against) => compareWith(against, against === ui.after ? ui.against : ui.after))}
        {pick("After", ui.after, (after) => compareWith(after === ui.against ? ui.after : ui.against, after))}
        <label class="check" title={sampling() ? "Scale the later one to the earlier one's length" : "Scale the later one to the earlier one's number of root calls"}><input type="checkbox" checked={ui.each} onChange={(e) => go({ each: e.currentTarget.checked })} /> {sampling() ? "for the same time" : "for the same number of root calls"}</label>
        <button onClick={() => compareWith(ui.after, ui.against)}>Swap</button>
        {c && <span class="muted">{time(c.before)} → {time(c.after)}{!sampling() && <>; root calls {count(c.roots[0])} → {count(c.roots[1])}</>}</span>}
        <TryAll />
      </div>
      {ui.against === ui.after ? <Empty title="Choose two different recordings." /> : !c ? <Empty title="Looking…"><p>If nothing appears, one of the two is gone: choose another.</p></Empty> : <Difference />}
    </div>
  );
}

function Difference() {
  const c = store.sections.compare!;
  // Where most of the difference is opens by itself until somebody selects, opens or closes something.
  useEffect(() => {
    const last = c.hot[c.hot.length - 1];
    if (!ui.compare.touched && last) go({ compare: { ...ui.compare, open: opened([], c.hot.length > 1 ? c.hot.slice(0, -1) : c.hot) }, selected: last });
  }, [c.hot.join()]);
  const select = (selected: number) => go({ compare: { ...ui.compare, touched: true }, selected });
  const toggle = (path: number, to: boolean) => go({ compare: { ...ui.compare, touched: true, open: toggled(ui.compare.open, path, to) } });
  const sign = (v: number) => (v > 0 ? "+" : "") + time(v);
  const tint = (v: number, noise: number) => (grave || Math.abs(v) <= noise ? "muted" : v > 0 ? "worse" : "better");
  const grave = c.unlike.some((u) => u.grave);
  return (
    <>
      <Verdict />
      {!grave && <DiffFlame select={select} />}
      <Table
        label="Difference tree" tree columns={columns} count={c.count} from={c.from} onWindow={(from, rows) => go({ compare: { ...ui.compare, from, rows } })}
        rows={c.rows.map((r) => {
          const d = r[D.totalB] - r[D.totalA], s = r[D.selfB] - r[D.selfA];
          return [
            <span class={tint(d, r[D.boundTotal])}>{sign(d)}</span>, grave ? "" : <span class="muted">{time(r[D.boundTotal])}</span>, r[D.totalA] === 0 ? (r[D.totalB] > 0 ? "new" : "") : r[D.totalB] === 0 && r[D.callsB] === 0 ? "gone" : (d > 0 ? "+" : "") + ((100 * d) / r[D.totalA]).toFixed(0).replace("-", "−"),
            time(r[D.totalA]), time(r[D.totalB]), <span class={tint(s, r[D.boundSelf])}>{sign(s)}</span>, count(r[D.callsA]), count(r[D.callsB]),
            <span class="treename" style={{ paddingLeft: Math.min(r[D.depth], 60) * 14 + "px" }}>
              <span class="twist" aria-hidden="true" onClick={(e) => { e.stopPropagation(); toggle(r[D.path], (r[D.flags] & flagOpen) === 0); }}>{r[D.children] === 0 ? "" : r[D.flags] & flagOpen ? "▾" : "▸"}</span>
              {(r[D.flags] & flagAsync) > 0 && <span class="arrow" title="Executed as an async task of the caller">{arrow}</span>}
              <MethodName name={nameOf(r[D.method])} pkg={false} />
              {(r[D.flags] & flagAsync) > 0 && <span class="tag async">asynchronous</span>}
            </span>,
          ];
        })}
        attrs={(i) => ({ selected: c.rows[i][D.path] === ui.selected, level: c.rows[i][D.depth] + 1, open: c.rows[i][D.children] > 0 ? (c.rows[i][D.flags] & flagOpen) > 0 : undefined })}
        onPick={(i, twice) => (twice ? toggle(c.rows[i][D.path], (c.rows[i][D.flags] & flagOpen) === 0) : select(c.rows[i][D.path]))}
        onKey={(e) => {
          const at = c.rows.findIndex((r) => r[D.path] === ui.selected);
          const move = step(e, 20);
          const next = move === undefined ? undefined : c.rows[at < 0 ? 0 : Math.max(0, Math.min(c.rows.length - 1, at + move))];
          if (next) select(next[D.path]);
          else if (at >= 0 && (e.key === "ArrowRight" || e.key === "ArrowLeft")) toggle(c.rows[at][D.path], e.key === "ArrowRight");
          else return;
          e.preventDefault();
          e.stopPropagation();
        }}
      />
      {!grave && <Changes />}
    </>
  );
}

/** Verdict says what the two recordings show, and what makes them unlike. */
function Verdict() {
  const c = store.sections.compare!;
  return (
    <div class="verdict" id="verdict">
      {c.unlike.map((u) => <p key={u.text} class={"unlike " + (u.grave ? "grave" : "")} data-kind={u.kind} role={u.grave ? "alert" : undefined}>{u.text}</p>)}
      <p><b>{c.verdict}</b>{!c.unlike.some((u) => u.grave) && <span class="muted"> Counts of calls are exact; a difference of times within the noise is grey.</span>}</p>
    </div>
  );
}

/** Changes are the methods whose own time differs beyond noise. */
function Changes() {
  const c = store.sections.compare!;
  if (c.changes.length === 0) return <section class="changes"><h2>No method's self time differs beyond noise.</h2></section>;
  return (
    <section class="changes scroll" tabIndex={0} aria-label="Largest changes">
      <h2>Largest changes of self time, by method</h2>
      <table class="plain-table">
        <thead><tr><th class="num">Change</th><th class="num opt1">± noise</th><th class="num">Self before</th><th class="num">Self after</th><th class="num opt1">Calls before</th><th class="num opt1">Calls after</th><th class="num opt1">%</th><th>Method</th></tr></thead>
        <tbody>
          {c.changes.slice(0, 30).map((x) => (
            <tr key={x[0]}>
              <td class={"num " + (x[4] > x[3] ? "worse" : "better")}>{x[4] > x[3] ? "+" : ""}{time(x[4] - x[3])}</td><td class="num opt1 muted">{time(x[7])}</td><td class="num">{time(x[3])}</td><td class="num">{time(x[4])}</td>
              <td class="num opt1">{count(x[1])}</td><td class="num opt1">{count(x[2])}</td>
              <td class="num opt1">{percent(Math.abs(x[4] - x[3]), c.before)}</td><td><button class="plain" title="Callers and callees" onClick={() => go({ tab: "around", method: x[0] })}><MethodName name={nameOf(x[0])} /></button></td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
