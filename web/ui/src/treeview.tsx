// The tree: flame graph above, expandable table below, linked.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { nameOf, store } from "./conn";
import { usePalette, useSize, useStore } from "./hooks";
import { Brief } from "./brief";
import { at, beside, boxHeight, chain, draw } from "./icicle";
import { savePNG, saveSVG } from "./picture";
import { B, R, flagAsync, flagCounted, flagFold, flagType, flagHot, flagIncomplete, flagOpen } from "./model";
import { count, mean, percent, time } from "./format";
import { callsOf, History, rangeChosen } from "./historyview";
import { Async, Empty, MethodName, Place, Share, Trouble, arrow } from "./parts";
import { figure, metricCells, withMetrics } from "./metrics";
import { MenuButton, isMenuKey, menuUnder, openMenu } from "./menu";
import { Tip } from "./tip";
import { Table, step, type Column } from "./table";
import { entriesTitle, go, opened, openHot, sampling, toggled, ui, unfolded, upsideDown } from "./ui";
import { Splitter } from "./splitter";
import { SourceBar } from "./sourcebar";

const columns: Column[] = [
  { key: "total", label: "Total", title: "Time in the method and in all that it calls, along this path", sort: true, cls: "num" },
  { key: "share", label: "%", title: "Share of the whole tree's time; the darker part is the method's own", cls: "num sharecol" },
  { key: "self", label: "Self", title: "Time in the method itself, and in the JDK methods that it calls", sort: true, cls: "num", sampled: { title: "Time in the method itself" } },
  { key: "error", label: "±", title: "How far the self time may be off", sort: true, cls: "num opt1", sampled: { title: "The interval in which the self time lies with a probability of 95 %" } },
  { key: "calls", label: "Calls", title: "Exact number of calls", sort: true, cls: "num calls", sampled: { label: "Entries", title: entriesTitle } },
  { key: "mean", label: "Mean", title: "Total time divided by calls", cls: "num opt2", sampled: null },
  { key: "thrown", label: "Thrown", title: "Calls that ended by an exception", sort: true, cls: "num opt1", sampled: null },
  { key: "name", label: "Method", sort: true, cls: "wide" },
];

export function TreeView() {
  useStore();
  const t = store.sections.tree;
  // The hot path opens by itself until somebody opens or closes something.
  useEffect(() => {
    if (!ui.touched && t && t.hot.length > 0 && t.hot.some((p, i) => i < t.hot.length - 1 && !ui.open.includes(p))) {
      go({ open: opened([], t.hot.slice(0, -1)) });
    }
  }, [t?.hot.join()]);
  if (!store.state?.figures && ui.source === 0) return <Empty title="Nothing is recorded yet."><Trouble /></Empty>;
  return (
    <div class="split">
      <SourceBar threads fold search />
      <History />
      {!rangeChosen() && <Brief />}
      {!ui.hidden && <><Icicle /><Splitter /></>}
      <Detail />
      {t && t.count > 0 ? <TreeTable /> : <NoCalls />}
    </div>
  );
}

function NoCalls() {
  const s = store.state;
  if (sampling()) return <Empty title="There are no samples: no thread used a core during the sampling." />;
  if (s?.phase !== "recording" || ui.source) return <Empty title="The tree is empty: no invocation of a root began while it was recorded." />;
  return (
    <Empty title="Waiting for the root to be called.">
      {s.diagnosis ? <p>{s.diagnosis}</p> : <p>Only invocations that begin from now on are recorded.</p>}
    </Empty>
  );
}

/** select marks a path, and opens the table so that its row is there. */
export function select(path: number, above: number[] = []): void {
  if (upsideDown()) return go({ selected: path, find: 0 }); // the table has other paths
  go({ selected: path, find: path, touched: true, open: opened(ui.open, above.filter((p) => p !== path)) });
}

/** Icicle is the flame graph of what is looked at. With pick, a click and Enter take a box. */
export function Icicle({ pick }: { pick?: (path: number) => void }) {
  useStore();
  const [ref, size] = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [over, setOver] = useState({ path: 0, x: 0, y: 0 });
  const hover = over.path;
  const page = store.sections.icicle;
  const theme = usePalette();
  useEffect(() => {
    if (size.width > 0 && Math.abs(size.width - ui.width) > 1) go({ width: size.width });
  }, [size.width]);
  const levels = page ? Math.max(1, ...page.boxes.map((b) => b[B.depth] + 1)) : 1;
  const height = Math.max(size.height, levels * boxHeight);
  useEffect(() => {
    if (canvas.current && page && size.width > 0) draw(canvas.current, page, size.width, height, ui.selected, hover, ui.highlight, theme);
  }, [page, size.width, height, ui.selected, hover, ui.highlight, theme]); // not for each row that comes while the table is scrolled
  const under = (e: MouseEvent) => page && at(page, size.width, e.offsetX, e.offsetY);
  const zoom = (path: number) => go({ focus: path === ui.focus ? 0 : path });
  const box = page?.boxes.find((b) => b[B.path] === (hover || ui.selected));
  const name = box && nameOf(box[B.method]);
  return (
    <div class="iciclebox">
      <nav class="crumbs" aria-label="Zoom">
        <button class="plain" disabled={!page?.focus} onClick={() => go({ focus: 0 })}>All roots</button>
        {page?.above.map(([path, method]) => (
          <span key={path}>› <button class="plain" onClick={() => go({ focus: path })}>{nameOf(method).cls}.{nameOf(method).method}</button></span>
        ))}
        {page?.focus ? <span>› <b>{nameOf(page.boxes[0]?.[B.method] ?? 0).cls}.{nameOf(page.boxes[0]?.[B.method] ?? 0).method}</b> {percent(page.total, page.whole)} %</span> : null}
        {page && page.boxes.length > 0 && (
          <select class="picture" aria-label="Save the flame graph as a picture" value="" onChange={(e) => {
            const name = "flame-" + (nameOf(page.boxes[0][B.method]).method.replace(/[^\w.-]+/g, "_") || "graph");
            if (e.currentTarget.value === "png") savePNG(page, size.width, ui.highlight, name);
            else saveSVG(page, size.width, name);
            e.currentTarget.value = "";
          }}>
            <option value="">Picture</option><option value="svg">SVG</option><option value="png">PNG</option>
          </select>
        )}
      </nav>
      <div
        class="icicle" data-inverted={page?.inverted ?? false} data-weight={page?.metric?.total ?? ""} data-total={page?.total ?? 0} ref={ref} tabIndex={0} role="application" aria-label={"Flame graph. Arrow keys move, Enter zooms, Escape zooms out. " +
          (box && name ? `${name.cls}.${name.method}, ${percent(box[B.total], page?.whole ?? 0)} percent, ${upsideDown() ? "" : callsOf(box[B.calls])} ${sampling() ? "entries" : "calls"}${box[B.flags] & flagAsync ? ", asynchronous" : ""}` : "")}
        onWheel={(e) => {
          if (!e.ctrlKey || !page) return;
          e.preventDefault();
          const b = e.deltaY < 0 ? under(e) : undefined, way = b && chain(page, b[B.path]);
          if (e.deltaY > 0) go({ focus: page.above[page.above.length - 1]?.[0] ?? 0 });
          else if (way) go({ focus: way[way.indexOf(page.focus) + 1] ?? page.focus });
        }}
        onKeyDown={(e) => {
          if (!page) return;
          if (e.key === "Enter" && ui.selected) (pick ?? zoom)(ui.selected);
          else if (isMenuKey(e)) {
            const b = page.boxes.find((b) => b[B.path] === ui.selected);
            if (b && (b[B.flags] & (flagFold | flagType)) === 0) openMenu(b[B.method], ref.current!.getBoundingClientRect().left + (b[B.start] / page.total) * size.width, ref.current!.getBoundingClientRect().top + (b[B.depth] + 1) * boxHeight - ref.current!.scrollTop);
          } else if (e.key === "Escape" || e.key === "Backspace") go({ focus: page.above[page.above.length - 1]?.[0] ?? 0 });
          else {
            const b = beside(page, ui.selected, e.key);
            if (!b || !e.key.startsWith("Arrow")) return;
            select(b[B.path], chain(page, b[B.path]));
          }
          e.preventDefault();
          e.stopPropagation();
        }}
      >
        <canvas
          ref={canvas} style={{ width: size.width + "px", height: height + "px" }} onMouseMove={(e) => setOver({ path: under(e)?.[B.path] ?? 0, x: e.clientX, y: e.clientY })} onMouseLeave={() => setOver({ path: 0, x: 0, y: 0 })}
          onClick={(e) => { const b = under(e); if (b && page) pick ? pick(b[B.path]) : select(b[B.path], chain(page, b[B.path])); }}
          onDblClick={(e) => { const b = under(e); if (b) zoom(b[B.path]); }}
          onContextMenu={(e) => { const b = under(e); if (b && page && (b[B.flags] & (flagFold | flagType)) === 0) (e.preventDefault(), setOver({ path: 0, x: 0, y: 0 }), select(b[B.path], chain(page, b[B.path])), openMenu(b[B.method], e.clientX, e.clientY)); }}
        />
      </div>
      {hover > 0 && box && page && <Tip box={box} whole={page.whole} metric={page.metric} x={over.x} y={over.y} />}
    </div>
  );
}

/** Detail has all figures of the selected node. */
export function Detail() {
  useStore();
  const row = store.sections.tree?.rows.find((r) => r[R.path] === ui.selected);
  const box = store.sections.icicle?.boxes.find((b) => b[B.path] === ui.selected);
  const whole = store.sections.tree?.total ?? 0;
  const metric = store.sections.icicle?.metric;
  if (!row && box && metric) {
    const whole = store.sections.icicle!.whole;
    return (
      <div class="detail" aria-live="polite">
        <MethodName name={nameOf(box[B.method])} /><Place name={nameOf(box[B.method])} />
        <span>{box[B.flags] & flagType ? <><b>{count(box[B.calls])}</b> objects</> : <><b>{count(box[B.calls])}</b> calls</>}</span>
        <span>{metric.title} <b>{figure(metric, box[B.total])}</b> ({percent(box[B.total], whole)} %)</span>
        {(box[B.flags] & flagType) === 0 && <span class="acts"><button onClick={() => go({ focus: ui.selected })}>Zoom</button></span>}
      </div>
    );
  }
  if (!row && box && upsideDown()) {
    return (
      <div class="detail" aria-live="polite">
        <MethodName name={nameOf(box[B.method])} /><Place name={nameOf(box[B.method])} />
        <span>{box[B.self] > 0 ? "self" : "of the self time above, called from here"} <b>{time(box[B.total])}</b> ({percent(box[B.total], whole)} %)</span>
        <span class="acts"><button onClick={() => go({ focus: ui.selected })}>Zoom</button> <button onClick={() => go({ tab: "around", method: box[B.method] })}>Callers &amp; callees</button> <button id="actions" aria-haspopup="menu" onClick={(e) => menuUnder(box[B.method], e.currentTarget)}>Actions ▾</button></span>
      </div>
    );
  }
  const f = row
    ? { m: row[R.method], calls: row[R.calls], thrown: row[R.thrown], self: row[R.self], raw: row[R.raw], err: row[R.error], total: row[R.total], flags: row[R.flags], levels: row[R.levels], waited: row[R.waited], longest: row[R.longest] }
    : box && { m: box[B.method], calls: box[B.calls], thrown: box[B.thrown], self: box[B.self], raw: box[B.raw], err: box[B.error], total: box[B.total], flags: box[B.flags], levels: 0, waited: box[B.waited], longest: box[B.longest] };
  if (!f) return <div class="detail"><span class="muted">Select a method: its figures{sampling() ? "" : ", corrected and as measured,"} are shown here.</span></div>;
  return (
    <div class="detail" aria-live="polite">
      <MethodName name={nameOf(f.m)} />
      <Place name={nameOf(f.m)} />
      {((f.flags & flagCounted) === 0 || f.total > 0) && <span>total <b>{time(f.total)}</b> ({percent(f.total, whole)} %)</span>}
      {(f.flags & flagCounted) > 0 && <span>only counted: its time is its caller's</span>}
      {(f.flags & flagCounted) === 0 && <span>self <b>{time(f.self)}</b>{f.err > 0 && <> ± {time(f.err)}</>}{f.raw > 0 && f.raw !== f.self && <span class="muted"> (measured {time(f.raw)})</span>}</span>}
      {sampling() ? <span title={entriesTitle}><b>{callsOf(f.calls)}</b> entries</span>
        : <span><b>{count(f.calls)}</b> calls{f.thrown > 0 && <>, {count(f.thrown)} thrown</>}, mean {mean(f.total, f.calls)}</span>}
      {(f.flags & flagAsync) > 0 && <span class="async">{arrow} asynchronous, queued {mean(f.waited, f.calls) || 0} each, {time(f.longest)} at the longest</span>}
      {f.levels > 0 && <span>{f.levels} levels of recursion</span>}
      {(f.flags & flagIncomplete) > 0 && <span class="warn">incomplete: a wait for its callees timed out</span>}
      <span class="acts">
        <button onClick={() => go({ focus: ui.selected })} disabled={ui.hidden}>Zoom</button>
        {f.flags & flagFold ? <button onClick={() => unfolded(ui.selected)}>Show levels</button>
          : <button onClick={() => go({ tab: "around", method: f.m })}>Callers &amp; callees</button>}
        {(f.flags & flagFold) === 0 && <button id="actions" aria-haspopup="menu" title="What can be done with it (m, or the right button)" onClick={(e) => menuUnder(f.m, e.currentTarget)}>Actions ▾</button>}
      </span>
    </div>
  );
}

/** farOff is from how many times the median on a process's share is marked, if it is a twentieth of its time at least. */
const farOff = 3, leastOff = 0.05;

/** partCells are the shares of each process's time that a row has. */
function partCells(of: { name: string; total: number }[], parts: number[] = []): ComponentChildren[] {
  const shares = of.map((p, i) => (parts[i] ?? 0) / p.total);
  const usual = [...shares].sort((a, b) => a - b)[(shares.length - 1) >> 1];
  return shares.map((s, i) => {
    const odd = shares.length > 2 && s >= leastOff && s >= farOff * usual;
    return <span class={odd ? "odd" : ""} title={`${of[i].name}: ${time(parts[i] ?? 0)}${odd ? `, ${usual > 0 ? (s / usual).toFixed(1) + " times" : "far more than"} the median's share` : ""}`}>{parts[i] ? percent(parts[i], of[i].total) : ""}</span>;
  });
}

function withParts(columns: Column[], of: { name: string }[]): Column[] {
  return [...columns.slice(0, -1), ...of.map((p) => ({ key: "part " + p.name, label: p.name + " %", title: `Share of the time of ${p.name}; marked where it is ${farOff} times the median's`, cls: "num part" })), columns[columns.length - 1]];
}

export function TreeTable() {
  const t = store.sections.tree!;
  const rows = t.rows;
  const divided = (ui.divided && t.processes) || [];
  const cells = rows.map((r, i) => {
    const n = nameOf(r[R.method]);
    const leaf = r[R.children] === 0;
    return [
      r[R.flags] & flagCounted && r[R.total] === 0 ? "–" : time(r[R.total]),
      <><Share part={r[R.total]} own={r[R.self]} whole={t.total} />{r[R.flags] & flagCounted && r[R.total] === 0 ? "" : percent(r[R.total], t.total)}</>,
      r[R.flags] & flagCounted ? "–" : time(r[R.self]),
      r[R.error] > 0 ? time(r[R.error]) : "",
      callsOf(r[R.calls]),
      r[R.flags] & flagCounted && r[R.total] === 0 ? "" : mean(r[R.total], r[R.calls]),
      r[R.thrown] > 0 ? count(r[R.thrown]) : "",
      ...metricCells(t.metrics, t.counts?.[i], r[R.flags] & flagCounted ? 0 : r[R.self], r[R.error]),
      ...partCells(divided, t.parts?.[i]),
      <span class="treename" style={{ paddingLeft: Math.min(r[R.depth], 60) * 14 + "px" }}>
        <span class="twist" aria-hidden="true" onClick={(e) => { e.stopPropagation(); go({ open: toggled(ui.open, r[R.path], (r[R.flags] & flagOpen) === 0), touched: true, selected: r[R.path], find: 0 }); }}>
          {leaf ? "" : r[R.flags] & flagOpen ? "▾" : "▸"}
        </span>
        {(r[R.flags] & flagAsync) > 0 && <span class="arrow" aria-hidden="true">{arrow}</span>}
        <MethodName name={n} pkg={false} />
        {(r[R.flags] & flagFold) > 0 && <button class="plain unfold" tabIndex={-1} title="Show these levels (f)" onClick={(e) => { e.stopPropagation(); unfolded(r[R.path]); }}>show</button>}
        {(r[R.flags] & flagAsync) > 0 && <Async calls={r[R.calls]} waited={r[R.waited]} longest={r[R.longest]} />}
        {(r[R.flags] & flagCounted) > 0 && <span class="tag" title="A short method that calls nothing: its time counts for the caller">counted</span>}
        {(r[R.flags] & flagIncomplete) > 0 && <span class="tag warn">incomplete</span>}
        {r[R.levels] > 0 && <span class="tag">×{r[R.levels]} levels</span>}
        {(r[R.flags] & flagFold) === 0 && <MenuButton method={r[R.method]} />}
      </span>,
    ];
  });
  const key = (e: KeyboardEvent) => {
    // As things are now, which may be newer than what is drawn.
    const rows = store.sections.tree?.rows ?? [];
    const at = rows.findIndex((r) => r[R.path] === ui.selected);
    const move = step(e, 20);
    const r = rows[at];
    if (move !== undefined) {
      const next = rows[at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + move))];
      if (next) go({ selected: next[R.path], find: next[R.path], touched: true });
    } else if (r && e.key === "ArrowRight" && r[R.children] > 0) {
      if (r[R.flags] & flagOpen) go({ selected: rows[at + 1]?.[R.path] ?? r[R.path], find: rows[at + 1]?.[R.path] ?? 0 });
      else go({ open: toggled(ui.open, r[R.path], true), touched: true });
    } else if (r && e.key === "ArrowLeft") {
      if (r[R.flags] & flagOpen) go({ open: toggled(ui.open, r[R.path], false), touched: true });
      else for (let i = at - 1; i >= 0; i--) if (rows[i][R.depth] < r[R.depth]) return go({ selected: rows[i][R.path], find: rows[i][R.path] }), e.preventDefault();
    } else if (r && e.key === "Enter") {
      go({ focus: r[R.path] });
    } else if (r && e.key === "f" && r[R.flags] & flagFold) {
      unfolded(r[R.path]);
    } else if (r && e.key === "c") {
      if (r[R.flags] & flagFold) return;
      go({ tab: "around", method: r[R.method] });
    } else if (e.key === "h") {
      openHot();
    } else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <Table
      label="Calling context tree" tree columns={withParts(withMetrics(columns, t.metrics), divided)} sort={ui.tree.sort} up={ui.tree.up} count={t.count} from={t.from} rows={cells}
      onSort={(k) => go({ tree: { ...ui.tree, sort: k, up: ui.tree.sort === k ? !ui.tree.up : false } })}
      attrs={(i) => ({
        selected: rows[i][R.path] === ui.selected, level: rows[i][R.depth] + 1, open: rows[i][R.children] > 0 ? (rows[i][R.flags] & flagOpen) > 0 : undefined,
        cls: rows[i][R.flags] & flagHot ? "hot" : "",
      })}
      onWindow={(from, n) => go({ tree: { ...ui.tree, from, rows: n } })}
      onPick={(i, twice) => twice
        ? go({ open: toggled(ui.open, rows[i][R.path], (rows[i][R.flags] & flagOpen) === 0), touched: true })
        : go({ selected: rows[i][R.path], find: 0, touched: true })}
      methodOf={(i) => (rows[i] && (rows[i][R.flags] & flagFold) === 0 ? rows[i][R.method] : 0)} onKey={key} to={{ row: ui.find ? t.found : -1, seq: 2 * ui.seek + (t.found >= 0 ? 1 : 0) }}
    />
  );
}
