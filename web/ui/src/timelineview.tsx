// The timeline: threads' root invocations and their calls over time, with what
// happened to the JVM meanwhile. It asks for the range that is on the screen.

import { useEffect, useRef, useState } from "preact/hooks";
import { RecordAgain } from "./bar";
import { api, store } from "./conn";
import { count, parse, time, type Name } from "./format";
import { usePalette, useSize, useStore } from "./hooks";
import { copy } from "./menu";
import { Empty, MethodName } from "./parts";
import { SourceBar } from "./sourcebar";
import { beside, draw, executing, H, handingOver, hopsOf, kindNames, markAt, nsAt, plan, queued, S, sliceAt, sliceOpen, sliceTask, type Ink, type Mark, type TimelinePage } from "./timeline";
import { focusMain, ui } from "./ui";

/** What is looked at; to 0 is up to the end. It outlives the view. */
const at = { from: 0, to: 0, thread: 0, source: -1, frozen: false, phase: "" };

/** showInTimeline has the timeline begin with an invocation; with tasks of its own, which are other threads', all threads are shown. */
export function showInTimeline(l: { id: number; start: number; took: number; suspended: number; tasks: number }): void {
  const edge = Math.max(0.05 * l.took, 1000);
  Object.assign(at, { from: Math.max(0, l.start - edge), to: l.start + l.took + l.suspended + edge, thread: l.tasks > 0 ? 0 : l.id, source: ui.source, frozen: true, phase: store.state?.phase ?? "" });
}

const items = 6000;

/** With the tick clock, a length below this (ns) says no more than how much was called at one tick. */
const subtick = 10_000;

const waits: Name = parse("(waits for Rivulet)");

export function Timeline() {
  useStore();
  const [page, setPage] = useState<TimelinePage | null>(null);
  const [error, setError] = useState("");
  const [, redraw] = useState(0);
  const [selected, setSelected] = useState<number[] | null>(null);
  const [hover, setHover] = useState<number[] | null>(null);
  const [mark, setMark] = useState<Mark | null>(null);
  const [ref, size] = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const asked = useRef(0);
  const drag = useRef<{ x: number; y: number; top: number; from: number; to: number; moved: boolean } | null>(null);
  const palette = usePalette();
  const phase = store.state?.phase ?? "";
  const live = phase === "recording" && ui.source === 0;
  if (at.source !== ui.source || at.phase !== "recording" && live) Object.assign(at, { from: 0, to: 0, thread: 0, source: ui.source, frozen: false });

  at.phase = phase;
  const source = ui.source === 0 ? store.state?.recording : store.state?.snapshots.find((s) => s.id === ui.source);
  const there = source?.timeline;
  const length = (s: number[]) => source?.clock === "tick" && s[S.took] < subtick ? "less than a tick" : time(s[S.took]);
  const load = async () => {
    if (!there || ui.source === 0 && phase !== "recording" && phase !== "stopped") return;
    const number = ++asked.current;
    try {
      const q = `timeline?source=${ui.source}&from=${Math.max(0, Math.floor(at.from))}&to=${Math.ceil(at.to)}&thread=${at.thread}&limit=${items}`;
      const got = await api<TimelinePage>(q);
      if (number !== asked.current) return; // a later wish is on its way
      setError("");
      setPage(got);
      setSelected((s) => (s && got.slices.find((o) => o[S.lane] === s[S.lane] && o[S.depth] === s[S.depth] && o[S.start] === s[S.start])) || null);
    } catch (e) {
      if (number === asked.current) (setPage(null), setError((e as Error).message));
    }
  };
  useEffect(() => {
    void load();
    if (!live) return;
    const timer = setInterval(() => { if (!at.frozen) void load(); }, 1000);
    return () => clearInterval(timer);
  }, [ui.source, live, phase, there]);

  useEffect(() => focusMain(ref.current));
  const end = Math.max(page?.end ?? 1, 1);
  const to = at.to || end;
  const width = size.width;
  const p = page && plan(page, at.from, to, width);
  const height = Math.max(size.height, p?.height ?? 0);
  const css = getComputedStyle(document.documentElement);
  const ink: Ink = {
    ...palette, text: css.getPropertyValue("--text").trim(), faint: css.getPropertyValue("--line").trim(),
    marks: { gc: css.getPropertyValue("--bad").trim(), redefinition: css.getPropertyValue("--warn").trim(), reveal: css.getPropertyValue("--accent").trim(), load: css.getPropertyValue("--good").trim(), agent: css.getPropertyValue("--accent").trim() },
  };
  const names = new Map<number, Name>();
  const name = (m: number): Name => {
    let n = m < 0 ? waits : names.get(m);
    if (!n) names.set(m, (n = parse(page?.methods[m]?.[0] ?? "…", page?.methods[m]?.[1])));
    return n;
  };
  useEffect(() => {
    if (canvas.current && page && p && width > 0) draw(canvas.current, page, p, height, selected, hover, name, ink);
  });

  const show = (from: number, upTo: number) => {
    const span = Math.min(Math.max(upTo - from, 1000), end);
    from = Math.min(Math.max(from, 0), Math.max(end - span, 0));
    const whole = span >= end;
    Object.assign(at, { from: whole ? 0 : from, to: whole ? 0 : from + span, frozen: !whole });
    redraw((n) => n + 1);
    void load();
  };
  const zoom = (by: number, around = at.from + (to - at.from) / 2) => show(around - (around - at.from) * by, around + (to - around) * by);
  const pan = (part: number) => show(at.from + (to - at.from) * part, to + (to - at.from) * part);
  const into = (s: number[]) => { const edge = Math.max(s[S.took] * 0.05, 50); show(s[S.start] - edge, s[S.start] + s[S.took] + edge); };
  const choose = (s: number[] | null) => {
    setSelected(s);
    if (s && (s[S.start] + s[S.took] < at.from || s[S.start] > to)) show(s[S.start] - (to - at.from) / 2, s[S.start] + (to - at.from) / 2);
    if (s && p) {
      const lane = p.lanes.find((l) => l.index === s[S.lane]);
      if (lane && ref.current && (lane.y < ref.current.scrollTop || lane.y > ref.current.scrollTop + size.height)) ref.current.scrollTop = lane.y - 20;
    }
  };
  const key = (e: KeyboardEvent) => {
    if (!page) return;
    if (e.key.startsWith("Arrow")) {
      if (e.shiftKey && e.key === "ArrowLeft") pan(-0.25);
      else if (e.shiftKey && e.key === "ArrowRight") pan(0.25);
      else choose(beside(page, selected, e.key));
    } else if (e.key === "h" && selected) choose(along(page, selected) ?? selected);
    else if (e.key === "+" || e.key === "=") zoom(0.5);
    else if (e.key === "-") zoom(2);
    else if (e.key === "0") show(0, end);
    else if (e.key === "Enter" && selected) into(selected);
    else if (e.key === "Escape") (at.to === 0 ? setSelected(null) : zoom(4));
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const info = hover ?? selected;
  const span = info && info[S.depth] === 0 ? page?.spans?.find((s) => page.slices[s.slice][S.lane] === info[S.lane] && page.slices[s.slice][S.start] === info[S.start]) : undefined;
  const words = (s: number[]) => hopText(page!, s, (m) => name(m).cls + "." + name(m).method);
  if (!there) return (
    <div class="split">
      <SourceBar />
      <Empty title="There is no timeline here."><p>Tick “Keep a timeline of single invocations” before the start.</p>
        <RecordAgain change={{ timeline: true, recursion: "expand" }} tab="timeline" label="Record again with a timeline" />
      </Empty>
    </div>
  );
  if (error) return <div class="split"><SourceBar /><Empty title="No timeline to see."><p>{error}</p></Empty></div>;
  return (
    <div class="split">
      <SourceBar>
        <label>
          <span>Thread</span>
          <select id="lane" value={at.thread} onChange={(e) => { at.thread = Number(e.currentTarget.value); setSelected(null); void load(); }}>
            <option value={0}>all {page?.threads.length || ""}</option>
            {page?.threads.map((t) => <option value={t.id} key={t.id}>{t.name || "thread " + t.id}</option>)}
          </select>
        </label>
        <button id="zoomall" onClick={() => show(0, end)} disabled={at.to === 0} title="Key 0">All</button>
        <button onClick={() => zoom(0.5)} aria-label="Zoom in" title="Key +">+</button>
        <button onClick={() => zoom(2)} disabled={at.to === 0} aria-label="Zoom out" title="Key −">−</button>
        <span class="muted" id="range">{time(at.from)} – {time(to)}{live && at.frozen ? ", live view frozen" : ""}</span>
        {page && page.left + page.missing + page.marks_left + page.hops_left > 0 && (
          <span class="muted" id="left">
            {page.left > 0 && <>{count(page.left)} shorter than {time(page.least)} appear when you zoom in. </>}
            {page.missing > 0 && <>{count(page.missing)} shorter than {time(page.missing_below)} were not kept. </>}
            {page.marks_left > 0 && <>{count(page.marks_left)} marks left out. </>}
            {page.hops_left > 0 && <>{count(page.hops_left)} shorter hand-overs left out.</>}
          </span>
        )}
      </SourceBar>
      {page?.note && <p class="warn timenote">{page.note}</p>}
      <div class="detail" aria-live="polite">
        {mark ? <MarkLine m={mark} /> : info ? (
          <>
            <MethodName name={name(info[S.method])} />
            <span><b>{length(info)}</b>{info[S.flags] & sliceOpen ? " so far" : ""}, from {time(info[S.start])} on</span>
            <span class="muted">{page && threadName(page, info[S.lane])}, depth {info[S.depth]}</span>
            {span && <button class="plain" title="A click copies the trace's id" onClick={() => copy(span.trace_id)}>trace <code>{span.trace_id}</code>, span <code>{span.span_id}</code></button>}
            {page && words(info) && <span class="async">{words(info)}</span>}
          </>
        ) : <span class="muted">Ctrl+wheel or + and − zoom, the wheel scrolls where threads don't fit, drag or Shift+arrows move, arrows go from call to call, Enter zooms to one, 0 shows all, h follows a task.</span>}
      </div>
      <div
        class="timeline" ref={ref} tabIndex={0} data-main role="application" onKeyDown={key}
        aria-label={"Timeline. " + (selected ? `${name(selected[S.method]).whole}, ${length(selected)}, from ${time(selected[S.start])}${page && words(selected) ? ", " + words(selected) : ""}` : `${page?.slices.length ?? 0} calls, ${page?.marks.length ?? 0} marks${page?.hops.length ? `, ${page.hops.length} async tasks` : ""}`)}
        onWheel={(e) => {
          const el = e.currentTarget, tall = el.scrollHeight > el.clientHeight + 1;
          if (!p || tall && !e.ctrlKey && !e.shiftKey && Math.abs(e.deltaX) <= Math.abs(e.deltaY)) return; // it scrolls
          if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) pan((e.deltaX || e.deltaY) / 1000);
          else if (e.offsetX > p.left) zoom(e.deltaY < 0 ? 0.8 : 1.25, nsAt(p, e.offsetX));
          e.preventDefault();
        }}
      >
        {page && page.slices.length + page.marks.length === 0 && <Empty title={live ? "Nothing yet." : "No slice lies here."} />}
        <canvas
          ref={canvas} style={{ width: width + "px", height: height + "px" }}
          onPointerDown={(e) => { drag.current = { x: e.offsetX, y: e.clientY, top: ref.current?.scrollTop ?? 0, from: at.from, to, moved: false }; e.currentTarget.setPointerCapture(e.pointerId); }}
          onPointerMove={(e) => {
            const d = drag.current;
            if (d && p && (d.moved || Math.max(Math.abs(e.offsetX - d.x), Math.abs(e.clientY - d.y)) > 3)) {
              if (ref.current) ref.current.scrollTop = d.top + d.y - e.clientY;
              d.moved = true;
              const by = ((d.x - e.offsetX) / p.width) * (d.to - d.from);
              show(d.from + by, d.to + by);
            } else if (page && p) (setHover(sliceAt(page, p, e.offsetX, e.offsetY)), setMark(markAt(page, p, e.offsetX, e.offsetY)));
          }}
          onPointerUp={(e) => { if (page && p && !drag.current?.moved) choose(sliceAt(page, p, e.offsetX, e.offsetY)); drag.current = null; }}
          onPointerLeave={() => (setHover(null), setMark(null))}
          onDblClick={(e) => { const s = page && p && sliceAt(page, p, e.offsetX, e.offsetY); if (s) into(s); }}
        />
      </div>
    </div>
  );
}

/** along leads from an execution to what handed it over, and else to the first execution of what was handed over. */
function along(page: TimelinePage, s: number[]): number[] | null {
  const { to, from } = hopsOf(page, s);
  return to ? handingOver(page, to) : from.length > 0 ? executing(page, from[0]) : null;
}

const threadName = (page: TimelinePage, lane: number): string => page.threads[lane]?.name || "thread " + page.threads[lane]?.id;

/** hopText says where an execution comes from, or what a call handed over. */
function hopText(page: TimelinePage, s: number[], name: (m: number) => string): string {
  const { to, from } = hopsOf(page, s);
  const parts = [];
  if (to) parts.push(`async task of ${name(to[H.method])} on ${threadName(page, to[H.lane])}, queued ${time(queued(to))}`);
  else if (s[S.flags] & sliceTask) parts.push("asynchronous");
  if (from.length > 0) parts.push(`submitted ${count(from.length)} async ${from.length > 1 ? "tasks" : "task"}, queued ${time(Math.max(...from.map(queued)))}${from.length > 1 ? " at the most" : ""}`);
  return parts.join("; ");
}

function MarkLine({ m }: { m: Mark }) {
  const of = { gc: "collections", redefinition: "classes", reveal: "threads waited", load: "", agent: "" }[m.kind];
  return (
    <>
      <span><b>{kindNames[m.kind]}</b> {m.name}{m.cause && <span class="muted"> ({m.cause})</span>}</span>
      <span>{m.took > 0 && <><b>{time(m.took)}</b>, </>}from {time(m.start)} on{m.off > 0 && <> ± {time(m.off)}</>}</span>
      {of && (m.count > 1 || m.kind !== "gc") && <span class="muted">{count(m.count)} {of}</span>}
      {m.pause >= 0 && m.kind === "redefinition" && <span class="muted">all threads stood {time(m.pause)} at the most</span>}
    </>
  );
}
