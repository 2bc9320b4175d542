// Snapshots: kept recordings; and the difference between two.

import { useEffect, useRef, useState } from "preact/hooks";
import { api, nameOf, openFile, store } from "./conn";
import { useAction, useStore } from "./hooks";
import { D, flagAsync, flagOpen, type Snapshot } from "./model";
import { count, day, percent, time } from "./format";
import { Empty, ErrorLine, MethodName, arrow } from "./parts";
import { Table, step, type Column } from "./table";
import { focusMain, go, open, opened, recordings, sampling, toggled, ui } from "./ui";
import { Export, type Act } from "./export";
import { Schemed, TryAll } from "./schemes";

export function Snapshots() {
  useStore();
  const act = useAction();
  const list = store.state?.snapshots ?? [];
  const live = store.state?.figures ? store.state : null;
  return (
    <div class="split scroll" data-main tabIndex={-1} ref={focusMain} role="region" aria-label="Snapshots">
      <div class="sourcebar">
        <OpenFile opened={open} />
        {live && <Export source={0} label={live.phase === "recording" ? "Export the recording" : "Export the last recording"} act={act} timeline={live.recording?.timeline} />}
        <span class="muted">Every recording is kept when it is stopped; Save snapshot (s) keeps the state of one that goes on.</span>
      </div>
      <ErrorLine text={act.error} close={act.clear} />
      {list.length === 0 ? <Empty title="No snapshots yet."><p>Stop a recording, save its state, or open a file that rivulet or this page has written.</p></Empty> : (
        <table class="plain-table" id="snapshots">
          <thead><tr><th>Name</th><th class="opt1">Target</th><th class="opt1">Scheme, clock</th><th class="num">Taken</th><th class="num opt1">Recorded</th><th class="num">Calls</th><th class="num">Time</th><th class="num opt2">Contexts</th><th><span class="unseen">Actions</span></th></tr></thead>
          <tbody>{list.slice().reverse().map((s) => <SnapshotRow s={s} act={act} key={s.id} />)}</tbody>
        </table>
      )}
    </div>
  );
}

function SnapshotRow({ s, act }: { s: Snapshot; act: Act }) {
  const [name, setName] = useState<string | null>(null);
  const [sure, setSure] = useState(false);
  const rename = () => act.run("rename", async () => { if (name !== null && name !== s.name) await api("rename", { id: s.id, name }); setName(null); });
  const others = recordings().filter((o) => o.id !== s.id);
  const before = s.kind ? undefined : (others.filter((o) => o.id < s.id).pop() ?? others[0])?.id;
  return (
    <tr>
      <td>
        <input class="quiet" aria-label={"Name of snapshot " + s.name} value={name ?? s.name} onInput={(e) => setName(e.currentTarget.value)} onBlur={rename}
          onKeyDown={(e) => { if (e.key === "Enter") e.currentTarget.blur(); if (e.key === "Escape") setName(null); }} />
        {s.kind && <span class="tag">schemes compared</span>}
        {s.broken ? <span class="tag worse" title={s.broken}>can't be read</span> : !s.file && <span class="tag" title="It ends with Rivulet, unless it is exported">in memory</span>}
      </td>
      <td class="opt1" title={s.target}>{s.target.replace(/^.*\//, "")}</td><td class="opt1">{s.scheme}, {s.clock}</td><td class="num" title={new Date(s.when).toLocaleString()}>{day(s.when)}</td><td class="num opt1">{s.seconds.toFixed(1)} s</td>
      <td class="num">{count(s.calls)}</td><td class="num">{s.kind ? "" : time(s.total)}</td><td class="num opt2">{s.kind ? "" : count(s.nodes)}</td>
      <td class="acts">
        <button onClick={() => open(s)}>Open</button>
        {before !== undefined && <button onClick={() => go({ tab: "compare", source: s.id, against: before, compared: 0, compare: afresh() })}>Compare</button>}
        <Export source={s.id} label="Export" act={act} comparison={!!s.kind} timeline={s.timeline} />
        <button class={sure ? "danger" : ""} onBlur={() => setSure(false)} onClick={() => (sure
          ? act.run("delete", async () => { await api("delete", { id: s.id }); left(s.id, others); })
          : setSure(true))}>{sure ? "Really?" : "Delete"}</button>
      </td>
    </tr>
  );
}

/** left looks at something else than a snapshot that is gone. */
function left(gone: number, others: Snapshot[]): void {
  const other = store.state?.phase === "idle" ? others[others.length - 1]?.id ?? 0 : 0;
  if (ui.compared === gone) go({ compared: 0 });
  go({ ...(ui.source === gone ? { source: other } : {}), ...(ui.against === gone ? { against: 0 } : {}) });
}

/** OpenFile takes a saved report from this machine's disk. */
export function OpenFile({ opened }: { opened: (s: Snapshot) => void }) {
  const act = useAction();
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input ref={input} class="unseen" id="file" type="file" aria-label="Saved report" tabIndex={-1} accept=".json,.gz,.rivulet" onChange={(e) => {
        const file = e.currentTarget.files?.[0];
        e.currentTarget.value = "";
        if (file) void act.run("open", async () => opened(await openFile(file)));
      }} />
      <button id="open-file" disabled={!!act.busy} onClick={() => input.current?.click()}>{act.busy ? "Opening…" : "Open a file…"}</button>
      <ErrorLine text={act.error} close={act.clear} />
    </>
  );
}

const columns: Column[] = [
  { key: "delta", label: "Δ total", title: "Total after less total before", cls: "num" },
  { key: "rel", label: "%", title: "Change as a share of the total before", cls: "num opt1" },
  { key: "a", label: "Before", cls: "num" },
  { key: "b", label: "After", cls: "num" },
  { key: "self", label: "Δ self", title: "Self after less self before", cls: "num opt2" },
  { key: "callsA", label: "Calls", title: "Calls before", cls: "num calls opt1" },
  { key: "callsB", label: "→", title: "Calls after", cls: "num calls opt1" },
  { key: "name", label: "Method", cls: "wide" },
];

/** afresh is what is looked at of another comparison. */
const afresh = () => ({ ...ui.compare, open: [], touched: false, from: 0 });

export function Compare() {
  useStore();
  const snaps = recordings();
  const schemes = (store.state?.snapshots ?? []).filter((s) => s.kind);
  const c = store.sections.compare;
  const pick = (label: string, id: number, set: (id: number) => void) => (
    <label><span>{label}</span>
      <select value={id} onChange={(e) => set(Number(e.currentTarget.value))}>
        {store.state?.figures && <option value={0}>{store.state.phase === "recording" ? "live recording" : "last recording"}</option>}
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
  if (snaps.length === 0) {
    return (
      <div class="split">
        <div class="sourcebar">{what}<TryAll /></div>
        <Empty title="There is nothing to compare with yet."><p>Stop a recording, or save a snapshot while one goes on; then compare it with another. Schemes can be compared where roots are chosen.</p></Empty>
      </div>
    );
  }
  return (
    <div class="split">
      <div class="sourcebar">
        {what}
        {pick("Before", ui.against, (against) => go({ against, compare: afresh() }))}
        {pick("After", ui.source, (source) => go({ source, compare: afresh() }))}
        <label class="check" title={sampling() ? "Scale the later one to the earlier one's length" : "Scale the later one to the earlier one's number of root calls"}><input type="checkbox" checked={ui.each} onChange={(e) => go({ each: e.currentTarget.checked })} /> {sampling() ? "for the same time" : "for the same number of root calls"}</label>
        <button onClick={() => go({ against: ui.source, source: ui.against, compare: afresh() })}>Swap</button>
        {c && <span class="muted">{time(c.before)} → {time(c.after)}{!sampling() && <>; root calls {count(c.roots[0])} → {count(c.roots[1])}</>}</span>}
        <TryAll />
      </div>
      {ui.against === ui.source ? <Empty title="Choose two different recordings." /> : !c ? <Empty title="Looking…"><p>If nothing comes, one of both is gone: choose another.</p></Empty> : <Difference />}
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
  const tint = (v: number) => (v > 0 ? "worse" : v < 0 ? "better" : "");
  return (
    <>
      <Table
        label="Difference tree" tree columns={columns} count={c.count} from={c.from} onWindow={(from, rows) => go({ compare: { ...ui.compare, from, rows } })}
        rows={c.rows.map((r) => {
          const d = r[D.totalB] - r[D.totalA], s = r[D.selfB] - r[D.selfA];
          return [
            <span class={tint(d)}>{sign(d)}</span>, r[D.totalA] === 0 ? (r[D.totalB] > 0 ? "new" : "") : r[D.totalB] === 0 && r[D.callsB] === 0 ? "gone" : (d > 0 ? "+" : "") + ((100 * d) / r[D.totalA]).toFixed(0).replace("-", "−"),
            time(r[D.totalA]), time(r[D.totalB]), sign(s), count(r[D.callsA]), count(r[D.callsB]),
            <span class="treename" style={{ paddingLeft: Math.min(r[D.depth], 60) * 14 + "px" }}>
              <span class="twist" aria-hidden="true" onClick={(e) => { e.stopPropagation(); toggle(r[D.path], (r[D.flags] & flagOpen) === 0); }}>{r[D.children] === 0 ? "" : r[D.flags] & flagOpen ? "▾" : "▸"}</span>
              {(r[D.flags] & flagAsync) > 0 && <span class="arrow" title="Executed as a task that the caller handed over">{arrow}</span>}
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
      <section class="changes scroll">
        <h3>Largest changes of self time, by method</h3>
        <table class="plain-table">
          <thead><tr><th class="num">Change</th><th class="num">Self before</th><th class="num">Self after</th><th class="num">Calls before</th><th class="num">Calls after</th><th class="num opt1">%</th><th>Method</th></tr></thead>
          <tbody>
            {c.changes.slice(0, 30).map((x) => (
              <tr key={x[0]}>
                <td class={"num " + tint(x[4] - x[3])}>{sign(x[4] - x[3])}</td><td class="num">{time(x[3])}</td><td class="num">{time(x[4])}</td><td class="num">{count(x[1])}</td><td class="num">{count(x[2])}</td>
                <td class="num opt1">{percent(Math.abs(x[4] - x[3]), c.before)}</td><td><button class="plain" title="Callers and callees" onClick={() => go({ tab: "around", method: x[0] })}><MethodName name={nameOf(x[0])} /></button></td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}
