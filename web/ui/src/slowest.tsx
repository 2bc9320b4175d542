// The slowest root calls, and the tree of the chosen one.

import { useEffect, useRef } from "preact/hooks";
import { nameOf, offline, store } from "./conn";
import { RecordAgain } from "./bar";
import { useStore } from "./hooks";
import type { SlowLine } from "./model";
import { count, time } from "./format";
import { Empty, MethodName, arrow } from "./parts";
import { RootTimes } from "./roottimes";
import { step } from "./table";
import { copy } from "./menu";
import { Detail, Icicle, TreeTable } from "./treeview";
import { showInTimeline } from "./timelineview";
import { focusMain, focusView, go, opened, ui } from "./ui";
import { CriticalPath } from "./path";
import { Splitter } from "./splitter";
import { SourceBar } from "./sourcebar";

const keyOf = (l: SlowLine) => l.id + " " + l.start;

/** Parts is a bar of what an invocation's time was; below it how much of that was a pause of the collector. */
function Parts({ l, whole }: { l: SlowLine; whole: number }) {
  const all = l.took + l.suspended, wait = l.way ? Math.min(l.way[1] + l.way[2], l.took) : l.took - Math.min(l.ran ?? 0, l.took);
  const parts: [string, string, number][] = l.way || l.ran !== undefined
    ? [["ran", "computing", l.took - wait], ["waited", "waiting", wait], ["paused", "paused by Rivulet", l.suspended]]
    : [["either", "computing or waiting", l.took], ["paused", "paused by Rivulet", l.suspended]];
  const [least, most] = l.gc_pause ?? [0, 0], part = (ns: number, of: number) => (of > 0 ? Math.min(100, (100 * ns) / of) : 0) + "%";
  const gc = !l.gc_pause ? "pauses of the collector not known" : most > 0 ? `of that ${least < most ? time(least) + " – " : ""}${time(most)} paused by the collector` : "no pause of the collector";
  const text = [...parts.filter((p) => p[2] > 0).map((p) => `${p[1]} ${time(p[2])}`), gc].join(", ");
  return (
    <span class="parts" role="img" aria-label={text} title={text}>
      <span class="all" style={{ width: part(all, whole) }}>
        {parts.map(([cls, , ns]) => ns > 0 && <i key={cls} class={cls} style={{ width: part(ns, all) }} />)}
        {most > 0 && <i class="gc" style={{ width: part(most, all) }} />}
      </span>
    </span>
  );
}

export function Slowest() {
  useStore();
  const s = store.sections.slowest;
  const wanted = ui.span.trim().toLowerCase(), traced = (s?.lines ?? []).some((l) => l.span_id);
  const lines = (s?.lines ?? []).filter((l) => !wanted || l.trace_id?.startsWith(wanted) || l.span_id?.startsWith(wanted));
  const tasks = lines.some((l) => l.tasks > 0);
  const tree = store.sections.tree;
  // Slower ones come meanwhile: the chosen one stays chosen.
  const at = lines.findIndex((l) => keyOf(l) === ui.slowest), place = lines[at]?.place ?? 0;
  useEffect(() => {
    if (place > 0 && place !== ui.slow) go({ slow: place });
    else if (place === 0 && lines.length > 0) go({ slow: lines[0].place, slowest: keyOf(lines[0]), focus: 0 });
  }, [place, lines[0] && keyOf(lines[0])]);
  // Its hot path opens when it is chosen.
  const chosen = useRef("");
  useEffect(() => {
    if (!tree || tree.hot.length === 0 || chosen.current === ui.slowest) return;
    chosen.current = ui.slowest;
    go({ open: opened(ui.open, tree.hot.slice(0, -1)) });
  }, [ui.slowest, tree?.hot.join()]);
  if (!store.state?.figures && ui.source === 0) return <Empty title="Nothing is recorded yet." />;
  if (!s) return <Empty title="Looking…" />;
  if (!s.recorded) {
    return (
      <div class="split">
        <SourceBar />
        <Empty title="Single invocations were not recorded.">
          <p>They are kept if root calls are timed. This recording had too many of them, or timing was switched off.</p>
          <RecordAgain change={{ slowest: 20, recursion: "expand" }} tab="slowest" label="Record again and keep the slowest" />
        </Empty>
        <RootTimes />
      </div>
    );
  }
  const past = s.times_only && !offline && (store.sections.history?.known.length ?? 0) > 1;
  const there = (ui.source === 0 ? store.state?.recording : store.state?.snapshots.find((k) => k.id === ui.source))?.timeline;
  const choose = (l: SlowLine) => go({ slow: l.place, slowest: keyOf(l), focus: 0, selected: 0, find: 0 });
  const key = (e: KeyboardEvent) => {
    const move = step(e, 10);
    if (move === undefined || lines.length === 0) return;
    choose(lines[Math.max(0, Math.min(lines.length - 1, at + move))]);
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <div class="split">
      <SourceBar>
        <span class="muted">{count(s.count)} of {count(s.of)} root calls{s.over > 0 ? " that took longer than " + time(s.over) : ""}</span>
        {(traced || wanted) && <input id="span" type="search" value={ui.span} spellcheck={false} aria-label="Trace or span id" placeholder="trace or span id" title="Only the slowest invocations of one trace: paste its id, or that of a span" onInput={(e) => go({ span: e.currentTarget.value })} />}
        {there && place > 0 && <button id="in-timeline" title="When it ran, on its thread; with async tasks, on all threads" onClick={() => { showInTimeline(lines[at]); go({ tab: "timeline" }); focusView(); }}>Show in timeline</button>}
        {past && at >= 0 && <button id="in-history" title="The tree of all threads for the time in which it ran" onClick={() => { const l = lines[at]; go({ tab: "tree", thread: 0, focus: 0, range: [l.start, l.start + l.took + l.suspended] }); focusView(); }}>Show in history</button>}
      </SourceBar>
      <RootTimes />
      {lines.length === 0 ? <Empty title={wanted ? "None of the kept invocations belongs to that trace or span." : s.over > 0 ? "No root call took that long." : "No root call has ended yet."} /> : (
        <>
          <div class={"slowlist scroll" + (s.times_only ? " alone" : "")} tabIndex={0} data-main ref={focusMain} role="group" aria-label="Slowest invocations; arrow keys choose" onKeyDown={key}>
            <table class="plain-table" id="slowest">
              <thead><tr><th class="num">Took</th><th class="sharecol opt1" title="Computing, waiting (told apart where async tasks are followed, or computing is told from waiting), paused by Rivulet; below: paused by the collector, at most">Spent</th><th class="num" title="From the beginning of the recording">Began at</th>{!s.times_only && <th class="num">Calls</th>}{tasks && <th class="num" title="Executed for it on any thread, and how long they waited for execution in all">{arrow} Tasks, queued</th>}<th class="num opt2" title="How much of it was a pause of the garbage collector: at least, and at most; without the time to reach the safepoint">GC pause</th><th class="num opt2" title="How long Rivulet made it wait; not part of Took">Paused by Rivulet</th><th>Thread</th>{traced && <th title="OpenTelemetry's span that the invocation was part of; a click copies the trace's id">Trace</th>}<th class="opt1">Root</th></tr></thead>
              <tbody>
                {lines.map((l) => (
                  <tr key={keyOf(l)} class={l.place === place ? "selected" : ""} aria-current={l.place === place ? "true" : undefined} onClick={() => choose(l)}
                    ref={(el) => { if (l.place === place && chosen.current !== ui.slowest) el?.scrollIntoView({ block: "nearest" }); }}>
                    <td class="num"><button class="plain" onClick={() => choose(l)}><b>{time(l.took)}</b></button></td>
                    <td class="sharecol opt1"><Parts l={l} whole={lines[0].took + lines[0].suspended} /></td>
                    <td class="num">{(l.start / 1e9).toFixed(3)} s</td>{!s.times_only && <td class="num">{count(l.calls)}</td>}{tasks && <td class="num" title={l.tasks > 0 ? "at the longest " + time(l.longest_wait) : undefined}>{l.tasks > 0 ? `${count(l.tasks)}, ${time(l.waited)}` : ""}</td>}<td class="num opt2">{!l.gc_pause ? "not known" : l.gc_pause[1] > 0 ? (l.gc_pause[0] === l.gc_pause[1] ? "" : time(l.gc_pause[0]) + " – ") + time(l.gc_pause[1]) : ""}</td><td class="num opt2">{l.suspended > 0 ? time(l.suspended) : ""}</td>
                    <td>{l.thread || "thread " + l.id}{l.thrown && <span class="tag warn">thrown</span>}{l.cut_contexts > 0 && <span class="tag warn" title="For lack of memory; their time counts for the callers">{count(l.cut_contexts)} call paths cut</span>}</td>
                    {traced && <td>{l.span_id && <button class="plain" title={`trace ${l.trace_id}\nspan ${l.span_id}${l.span_within ? ", begun during the invocation" : ""}\nA click copies the trace's id`} onClick={(e) => { e.stopPropagation(); copy(l.trace_id!); }}><code>{l.trace_id!.slice(0, 8)}…</code></button>}</td>}
                    <td class="opt1">{l.method > 0 && <MethodName name={nameOf(l.method)} />}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          {s.path && <CriticalPath path={s.path} whole={lines[at]?.took ?? 0} />}
          {s.times_only && <p class="muted slownote">When they were and how long they took is kept in every recording. The tree of each needs events for each call{offline ? ": rivulet profile --slowest N" : ""}.</p>}
          {s.times_only && <RecordAgain change={{ slowest: 20, recursion: "expand", timeline: true }} tab="slowest" label="Record again, with their trees and a timeline" />}
          {!s.times_only && offline && place > 0 && tree?.count === 0 && <p class="muted">Its tree is left out of the report for size; the trees of slower ones are there.</p>}
          {!s.times_only && tree && tree.count > 0 && <>{!ui.hidden && <><Icicle /><Splitter /></>}<Detail /><TreeTable /></>}
        </>
      )}
    </div>
  );
}
