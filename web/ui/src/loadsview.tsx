// Which classes were loaded, and which context needed each: of a recording, or of a look into a JVM.

import { useEffect, useState } from "preact/hooks";
import { api, store } from "./conn";
import { RecordAgain } from "./bar";
import { useStore } from "./hooks";
import { percent, time } from "./format";
import { Listing, Stack } from "./listing";
import type { LoadsAnswer } from "./look";
import { Empty } from "./parts";
import { SourceBar } from "./sourcebar";
import { focusMain, ui } from "./ui";

const known = (ns: number | null) => ns ?? -1;
const shown = (ns: number | null) => ns === null ? "?" : time(ns);

interface Cause { cause: string; own: number; timed: boolean; loads: number; first: string }

/** causes are the methods that needed classes, summed up. */
function causes(a: LoadsAnswer): Cause[] {
  const by = new Map<string, Cause>();
  for (const l of a.loads) {
    const c = by.get(l.cause) ?? { cause: l.cause, own: 0, timed: false, loads: 0, first: l.class };
    by.set(l.cause, { ...c, own: c.own + (l.self_ns ?? 0), timed: c.timed || l.self_ns !== null, loads: c.loads + 1 });
  }
  return [...by.values()];
}

/** Loads are the lists. */
export function Loads({ answer: a }: { answer: LoadsAnswer }) {
  if (a.loads.length === 0) return <p id="no-loads">No class was loaded.</p>;
  return (
    <>
      <p id="loads-summary">{a.summary}.</p>
      <h2>By the method that needed them</h2>
      <Listing id="causes" label="Causes of class loads" rows={causes(a)} by={0} columns={[
        { label: "Loading", title: "Without the loads of other classes that it needed", cls: "num", of: (c) => c.own, show: (c) => c.timed ? time(c.own) : "?" },
        ...(a.total_ns ? [{ label: "%", title: "Of the time of the roots", cls: "num", of: (c: Cause) => c.own, show: (c: Cause) => c.timed ? percent(c.own, a.total_ns!) : "" }] : []),
        { label: "Loads", cls: "num", of: (c) => c.loads }, { label: "The first", of: (c) => c.first }, { label: "Needed by", of: (c) => c.cause || "(the JVM)" },
      ]} />
      <h2>Classes</h2>
      <Listing id="loads" label="Class loads" rows={a.loads} by={1} columns={[
        { label: "At", cls: "num", of: (l) => l.at_ns, show: (l) => time(l.at_ns) },
        { label: "Took", cls: "num", of: (l) => known(l.took_ns), show: (l) => shown(l.took_ns) },
        { label: "Loader", of: (l) => l.loader }, { label: "From", of: (l) => l.from ?? "" }, { label: "Needed by", of: (l) => l.cause || "(the JVM)" },
        { label: "Class", of: (l) => l.class, show: (l) => <b>{l.class}</b> },
      ]} detail={(l) => <><p class="muted">thread {l.thread || "unknown"}{l.self_ns !== null ? `, ${time(l.self_ns)} without other loads` : ""}</p><Stack frames={l.context.slice().reverse()} empty="No method: the JVM itself needed it." /></>} />
      {a.notes.map((n) => <p class="hint" key={n}>{n}</p>)}
    </>
  );
}

/** ClassLoads are those of the recording that is looked at. */
export function ClassLoads() {
  useStore();
  const s = store.state!;
  const [got, setGot] = useState<{ of: string; answer?: LoadsAnswer; error?: string } | null>(null);
  const live = ui.source === 0;
  const of = `${ui.source} ${live ? s.phase + " " + Math.floor((s.figures?.seconds ?? 0) / 2) : ""}`; // a recording that goes on is asked every two seconds
  useEffect(() => {
    let here = true;
    if (live && !s.figures) return;
    api<LoadsAnswer>("loads?source=" + ui.source).then((answer) => here && setGot({ of, answer }), (e: Error) => here && setGot({ of, error: e.message }));
    return () => void (here = false);
  }, [of]);
  if (live && !s.figures) return <Empty title="Nothing is recorded yet." />;
  const a = got?.answer;
  const timed = live && (s.recording.count ?? []).includes("classes");
  return (
    <div class="split scroll" data-main tabIndex={0} ref={focusMain} role="region" aria-label="Class loads">
      <SourceBar />
      <div class="loads">
        {got?.error ? <Empty title={got.error} /> : !a ? <Empty title="Looking…" /> : <Loads answer={a} />}
        {live && a && !timed && <RecordAgain change={{ count: [...(s.recording.count ?? []), "classes"] }} tab="loads" label="Record again with the times of class loads" />}
      </div>
    </div>
  );
}
