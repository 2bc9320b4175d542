// The flat list of methods, classes or packages; and one method's callers and
// callees.

import { nameOf, offline, store } from "./conn";
import { useEffect, useRef, useState } from "preact/hooks";
import { usePalette, useSize, useStore } from "./hooks";
import { at, boxHeight, draw } from "./icicle";
import { B, L, flagCounted, type IciclePage, type Line, type Metric } from "./model";
import { count, mean, percent, time } from "./format";
import { Async, Empty, MethodName, Place, Share, arrow } from "./parts";
import { metricCells, withMetrics } from "./metrics";
import { MenuButton, menuUnder, openMenu } from "./menu";
import { Table, step, type Column } from "./table";
import { entriesTitle, focusMain, go, sampling, ui } from "./ui";
import { callsOf, History } from "./historyview";
import { SourceBar } from "./sourcebar";

const columns: Column[] = [
  { key: "self", label: "Self", title: "Time in the method itself", sort: true, cls: "num" },
  { key: "share", label: "%", title: "Self as a share of the whole tree's time", cls: "num sharecol" },
  { key: "error", label: "±", title: "How far the self time may be off", sort: true, cls: "num opt1", sampled: { title: "The interval in which the self time lies with a probability of 95 %" } },
  { key: "total", label: "Total", title: "Time in the method and all that it calls; recursion counted once", sort: true, cls: "num" },
  { key: "calls", label: "Calls", sort: true, cls: "num calls", sampled: { label: "Entries", title: entriesTitle } },
  { key: "mean", label: "Mean self", title: "Self time divided by calls", cls: "num opt2", sampled: null },
  { key: "thrown", label: "Thrown", sort: true, cls: "num opt1", sampled: null },
  { key: "contexts", label: "Paths", title: "Different paths that lead to it", sort: true, cls: "num opt2" },
  { key: "name", label: "Method", sort: true, cls: "wide" },
];

/** Columns of types, which have neither calls nor times. */
const ofTypes: Column[] = [
  { key: "contexts", label: "Paths", title: "Different paths that allocate it", sort: true, cls: "num" },
  { key: "name", label: "Type", sort: true, cls: "wide" },
];

function typeFigures(l: Line, metrics: Metric[] = []) {
  return [
    count(l.f[L.contexts]), ...metricCells(metrics.map((m) => ({ ...m, total: undefined, rate: undefined })), l.c), <span class="name"><b>{l.name}</b></span>,
  ];
}

/** allocates tells whether a recording with these metrics counts allocations. */
function allocates(metrics: Metric[] = []): boolean {
  return metrics.some((m) => m.name === "allocated_objects");
}

export function Methods() {
  useStore();
  const m = store.sections.methods;
  const set = (change: Partial<typeof ui.methods>) => go({ methods: { ...ui.methods, ...change } });
  if (!store.state?.figures && ui.source === 0) return <Empty title="Nothing is recorded yet." />;
  const lines = m?.lines ?? [];
  const types = ui.methods.group === "type";
  const at = lines.findIndex((l) => l.f[L.method] !== 0 && l.f[L.method] === ui.method);
  return (
    <div class="split">
      <SourceBar threads>
        <label><span>One line for each</span>
          <select value={ui.methods.group} onChange={(e) => set({ group: e.currentTarget.value, from: 0, ...(e.currentTarget.value === "type" ? { sort: "self_bytes", up: false } : types ? { sort: "self", up: false } : {}) })}>
            <option value="">method</option><option value="class">class</option><option value="package">package</option>{!offline && (types || allocates(m?.metrics)) && <option value="type">allocated type</option>}
          </select>
        </label>
        <label class="grow"><span>Filter</span>
          <input id="filter" type="search" value={ui.methods.filter} placeholder="words of a name  ( / )" onInput={(e) => set({ filter: e.currentTarget.value, from: 0 })} />
        </label>
        <span class="muted">{m ? (m.count === m.all ? count(m.all) : `${count(m.count)} of ${count(m.all)}`) : ""}</span>
      </SourceBar>
      <History />
      {m && m.count === 0 ? <Empty title={m.all === 0 ? (types ? "Nothing was allocated, or allocations were not counted." : "No method was called.") : "No line matches the filter."}>{m.all > 0 && <button onClick={() => set({ filter: "" })}>Clear the filter</button>}</Empty> : (
        <Table
          label="Methods" columns={withMetrics(types ? ofTypes : columns, m?.metrics?.map((k) => (types ? { ...k, total: undefined, rate: undefined } : k)))} sort={ui.methods.sort} up={ui.methods.up} count={m?.count ?? 0} from={m?.from ?? 0}
          onSort={(k) => set({ sort: k, up: ui.methods.sort === k ? !ui.methods.up : false })}
          rows={lines.map((l) => (types ? typeFigures(l, m!.metrics) : figures(l, m!.total, m!.metrics)))}
          attrs={(i) => ({ selected: i === at })}
          onWindow={(from, rows) => set({ from, rows })}
          onPick={(i, twice) => { const k = lines[i].f[L.method]; if (k) go(twice ? { method: k, tab: "around" } : { method: k }); }}
          methodOf={(i) => lines[i]?.f[L.method] ?? 0}
          onKey={(e) => {
            const at = lines.findIndex((l) => l.f[L.method] !== 0 && l.f[L.method] === ui.method); // what is drawn may be older
            const move = step(e, 20);
            if (move !== undefined) {
              const next = lines[at < 0 ? 0 : Math.max(0, Math.min(lines.length - 1, at + move))];
              if (next) go({ method: next.f[L.method] });
            } else if ((e.key === "Enter" || e.key === "c") && at >= 0) go({ tab: "around" });
            else return;
            e.preventDefault();
            e.stopPropagation();
          }}
        />
      )}
    </div>
  );
}

function figures(l: Line, whole: number, metrics?: Metric[]) {
  const f = l.f, counted = (f[L.flags] & flagCounted) > 0;
  return [
    counted ? "–" : time(f[L.self]), <><Share part={f[L.self]} own={f[L.self]} whole={whole} />{counted ? "" : percent(f[L.self], whole)}</>, f[L.error] > 0 ? time(f[L.error]) : "",
    counted && f[L.total] === 0 ? "–" : time(f[L.total]), callsOf(f[L.calls]), counted ? "" : mean(f[L.self], f[L.calls]), f[L.thrown] > 0 ? count(f[L.thrown]) : "", count(f[L.contexts]), ...metricCells(metrics, l.c, counted ? 0 : f[L.self], f[L.error]),
    f[L.method] ? <><MethodName name={nameOf(f[L.method])} /> <Place name={nameOf(f[L.method])} />{f[L.tasks] > 0 && <> <Async calls={f[L.tasks]} waited={f[L.waited]} longest={f[L.longest]} /></>}<MenuButton method={f[L.method]} /></> : <span class="name"><b>{l.name || "(default package)"}</b></span>,
  ];
}

export function Around() {
  useStore();
  const a = store.sections.around;
  if (!ui.method) {
    return <Empty title="No method is chosen."><p>Choose one in the tree or among the methods (Enter, double click, or c).</p><button onClick={() => go({ tab: "methods" })}>Methods</button></Empty>;
  }
  if (!a || a.self.f[L.method] !== ui.method) return <Empty title="Looking…" />;
  const f = a.self.f;
  return (
    <div class="split">
      <SourceBar />
      <div class="detail">
        <MethodName name={nameOf(ui.method)} />
        <Place name={nameOf(ui.method)} />
        <span>total <b>{time(f[L.total])}</b> ({percent(f[L.total], a.total)} %)</span>
        {f[L.flags] & flagCounted ? <span>only counted: its time is its caller's</span> : <span>self <b>{time(f[L.self])}</b>{f[L.error] > 0 && <> ± {time(f[L.error])}</>}</span>}
        <span><b>{callsOf(f[L.calls])}</b> {sampling() ? "entries" : "calls"}{f[L.thrown] > 0 && <>, {count(f[L.thrown])} thrown</>} on {f[L.contexts] === 1 ? "one path" : count(f[L.contexts]) + " paths"}</span>
        <span class="acts"><button id="actions" aria-haspopup="menu" onClick={(e) => menuUnder(ui.method, e.currentTarget)}>Actions ▾</button></span>
        {f[L.tasks] > 0 && <span class="async">{arrow} {f[L.tasks] === f[L.calls] ? "all" : count(f[L.tasks])} executed as tasks: queued {mean(f[L.waited], f[L.tasks]) || 0} on the average, {time(f[L.longest])} at the longest</span>}
      </div>
      <div class="sandwich" data-main tabIndex={-1} ref={focusMain} role="region" aria-label="Callers and callees">
        <Half title="Callers, up to the roots" page={store.sections.sandwich?.callers} />
        <Half title="Callees" page={store.sections.sandwich?.callees} />
        <Side title="Called by" hint="time that the method took for each caller" lines={a.callers} of={f[L.total]} more={a.more[0]} none="No method called it." />
        <Side title="Calls" hint="time of each callee, below this method" lines={a.callees} of={f[L.total]} more={a.more[1]} none={sampling() ? "No callee was met by a sample." : "No callee with probes was called."} />
      </div>
    </div>
  );
}

/** Half is one of the two flame graphs; a click leads to the method. */
function Half({ title, page }: { title: string; page?: IciclePage }) {
  const [ref, size] = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = usePalette();
  const [over, setOver] = useState<number[] | undefined>();
  const height = Math.max(1, ...(page?.boxes ?? []).map((b) => b[B.depth] + 1)) * boxHeight;
  useEffect(() => {
    if (canvas.current && page && size.width > 0) draw(canvas.current, page, size.width, height, 0, over?.[B.path] ?? 0, "", theme);
  }, [page, size.width, height, theme, over]);
  const under = (e: MouseEvent) => page && at(page, size.width, e.offsetX, e.offsetY);
  if (!page || page.boxes.length === 0) return <section />;
  return (
    <section aria-label={title}>
      <h3>{title} <span class="muted">{over ? `${nameOf(over[B.method]).cls}.${nameOf(over[B.method]).method} ${time(over[B.total])}, ${percent(over[B.total], page.whole)} %` : "a click leads to the method"}</span></h3>
      <div class="half" ref={ref}>
        <canvas ref={canvas} role="img" aria-label={title + ", as a flame graph; the table below has the nearest of them"} style={{ width: size.width + "px", height: height + "px" }}
          onMouseMove={(e) => setOver(under(e))} onMouseLeave={() => setOver(undefined)}
          onClick={(e) => { const b = under(e); if (b) go({ method: b[B.method] }); }}
          onContextMenu={(e) => { const b = under(e); if (b) (e.preventDefault(), openMenu(b[B.method], e.clientX, e.clientY)); }} />
      </div>
    </section>
  );
}

function Side({ title, hint, lines, of, more, none }: { title: string; hint: string; lines: Line[]; of: number; more: number; none: string }) {
  return (
    <section>
      <h3>{title} <span class="muted">{hint}</span></h3>
      {lines.length === 0 ? <p class="muted">{none}</p> : (
        <table class="plain-table">
          <thead><tr><th class="num">Total</th><th class="num sharecol">%</th><th class="num" title={sampling() && entriesTitle}>{sampling() ? "Entries" : "Calls"}</th>{!sampling() && <th class="num opt1">Mean</th>}<th>Method</th></tr></thead>
          <tbody>
            {lines.map((l) => (
              <tr key={l.f[L.method] + (l.f[L.tasks] > 0 ? " task" : "")} onContextMenu={(e) => { if (l.f[L.method]) (e.preventDefault(), openMenu(l.f[L.method], e.clientX, e.clientY)); }}>
                <td class="num">{l.f[L.flags] & flagCounted && l.f[L.total] === 0 ? "–" : time(l.f[L.total])}</td><td class="num sharecol"><Share part={l.f[L.total]} own={0} whole={of} />{percent(l.f[L.total], of)}</td>
                <td class="num">{count(l.f[L.calls])}</td>{!sampling() && <td class="num opt1">{mean(l.f[L.total], l.f[L.calls])}</td>}
                <td>{l.f[L.method] ? <button class="plain" onClick={() => go({ method: l.f[L.method] })}>{l.f[L.tasks] > 0 && arrow + "\u00a0"}<MethodName name={nameOf(l.f[L.method])} /></button> : <span class="muted">{sampling() ? "nobody: a thread begins with it" : "from outside: it is a root"}</span>}{l.f[L.tasks] > 0 && <Async calls={l.f[L.tasks]} waited={l.f[L.waited]} longest={l.f[L.longest]} />}<MenuButton method={l.f[L.method]} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {more > 0 && <p class="muted">{count(more)} more</p>}
    </section>
  );
}

