// Snapshots: kept recordings.

import { useRef, useState } from "preact/hooks";
import { api, openFile, store } from "./conn";
import { useAction, useStore } from "./hooks";
import { type Snapshot } from "./model";
import { clockName, count, day, schemeName, time } from "./format";
import { Empty, ErrorLine } from "./parts";
import { compareWith, focusMain, go, open, recordings, ui } from "./ui";
import { Export, type Act } from "./export";

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
        <span class="muted">Every recording is kept when it is stopped. Save snapshot (s) keeps the present state of a recording that goes on.</span>
      </div>
      <ErrorLine text={act.error} close={act.clear} />
      {list.length === 0 ? <Empty title="No snapshots yet."><p>Stop a recording, save its state, or open a file that rivulet or this page has written.</p></Empty> : (
        <table class="plain-table" id="snapshots">
          <thead><tr><th>Name</th><th class="opt1">Target</th><th class="opt1">How</th><th class="num">Taken</th><th class="num opt1">Duration</th><th class="num">Calls</th><th class="num" title="Total time (all threads)">Total</th><th class="num opt2">Call paths</th><th><span class="unseen">Actions</span></th></tr></thead>
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
        {s.broken ? <span class="tag worse" title={s.broken}>can't be read</span> : !s.file && <span class="tag" title="It is lost when Rivulet ends, unless it is exported">in memory</span>}
      </td>
      <td class="opt1" title={s.target}>{s.target.replace(/^.*\//, "")}</td><td class="opt1">{s.kind ? s.scheme : `${schemeName(s.scheme)}, ${clockName(s.clock)}`}</td><td class="num" title={new Date(s.when).toLocaleString()}>{day(s.when)}</td><td class="num opt1">{s.seconds.toFixed(1)} s</td>
      <td class="num">{count(s.calls)}</td><td class="num">{s.kind ? "" : time(s.total)}</td><td class="num opt2">{s.kind ? "" : count(s.nodes)}</td>
      <td class="acts">
        <button onClick={() => open(s)}>Open</button>
        {before !== undefined && <button onClick={() => compareWith(before, s.id)}>Compare</button>}
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
  go({ ...(ui.source === gone ? { source: other } : {}), ...(ui.against === gone || ui.after === gone ? { against: 0, after: 0 } : {}) });
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
