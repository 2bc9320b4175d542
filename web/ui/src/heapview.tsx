// A heap's report: suspects, the dominator tree as a treemap, and the lists. It stands in the page and in HTML reports of heaps alike.

import { useEffect, useRef, useState } from "preact/hooks";
import { bytes, count, percent, plural } from "./format";
import { Listing, type ListColumn } from "./listing";
import { squarify } from "./treemap";

export interface Site { method: string; context: string[]; objects: number; bytes: number | null }
export interface Allocated { objects: number; contexts: number; top: Site[] }
export interface HeapNode { class: string; what?: string; count: number; retained_bytes: number; children?: HeapNode[] }
interface Part { class: string; objects: number; shallow_bytes: number; allocated_by?: Allocated }
interface Suspect { class: string; count: number; retained_bytes: number; why: string; path: string[]; parts: Part[] | null }
interface ClassRow { class: string; loader?: string; objects: number; shallow_bytes: number; retained_bytes: number; allocated_by?: Allocated }
interface LoaderRow { loader: string; loaders: number; classes: number; objects: number; shallow_bytes: number; retained_bytes: number }
interface TextRow { text: string; copies: number; wasted_bytes: number }
interface CollectionRow { class: string; collections: number; empty: number; half_empty: number; wasted_bytes: number }
interface BoxRow { class: string; objects: number; bytes: number; cacheable: number }
interface LocalRow { thread: string; retained_bytes: number; largest: string; largest_bytes: number }
interface LeakRow { loader: string; loaders: number; class: string; retained_bytes: number; path: string[] }
interface SiteRow extends Site { alive: number; class: string }

/** What docs/heap.md describes, as much as is shown. */
export interface HeapReport {
  file?: string; allocations?: string; objects: number; bytes: number; damage?: string; notes: string[];
  classes: ClassRow[]; loaders: LoaderRow[]; dominators: { object: string; what: string; class: string; shallow_bytes: number; retained_bytes: number; path: string[] }[];
  suspects: Suspect[]; tree: HeapNode; unreachable: { objects: number; bytes: number }; weakly_reachable: { objects: number; bytes: number };
  duplicate_strings: { wasted_bytes: number; top: TextRow[] };
  collections: CollectionRow[]; boxed: BoxRow[]; thread_locals: LocalRow[]; loader_leaks: LeakRow[];
}

/** inner is a context from its innermost method on. */
const inner = (s: Site) => s.context.slice().reverse().map((m) => m.replace(/\(.*/, ""));

function Path({ path }: { path: string[] }) {
  return <pre class="path">{path.map((p, i) => " ".repeat(Math.min(i, 20)) + p).join("\n")}</pre>;
}

function Sites({ of }: { of: Allocated }) {
  return (
    <ul class="sites">
      {of.top.map((s, i) => <li key={i}>{plural(s.objects, "object", "objects")} by <code>{inner(s).join(" < ")}</code></li>)}
      {of.contexts > of.top.length && <li class="muted">{plural(of.contexts - of.top.length, "more context", "more contexts")}</li>}
    </ul>
  );
}

function Suspects({ report }: { report: HeapReport }) {
  if (report.suspects.length === 0) return <p>Nothing looks like a leak.</p>;
  return (
    <ol id="suspects">
      {report.suspects.map((s, i) => {
        const parts = (s.parts ?? []).filter((p) => p.allocated_by);
        return (
          <li key={i}>
            {s.why}
            <details><summary>Path from a root</summary><Path path={s.path} /></details>
            {parts.length > 0 && (
              <details><summary>Who allocated what it retains</summary>
                {parts.map((p) => <div key={p.class}><p>{count(p.objects)} <code>{p.class}</code>, {bytes(p.shallow_bytes)}; while it was recorded, {plural(p.allocated_by!.objects, "was allocated", "were allocated")}:</p><Sites of={p.allocated_by!} /></div>)}
              </details>
            )}
          </li>
        );
      })}
    </ol>
  );
}

const colour = (name: string) => {
  let h = 0;
  for (const c of name.replace(/[^.]*$/, "")) h = (h * 31 + c.charCodeAt(0)) >>> 0;
  return `var(--box${h % 6})`;
};

interface Box { node: HeapNode; way: HeapNode[]; x: number; y: number; width: number; height: number }

/** boxes are the tiles of what hangs below a node, four levels deep. */
function boxes(under: HeapNode, x: number, y: number, width: number, height: number, level = 0, way: HeapNode[] = []): Box[] {
  const out: Box[] = [];
  for (const t of squarify(under.children ?? [], (n) => n.retained_bytes, x, y, width, height, under.retained_bytes)) {
    const here = [...way, t.node];
    out.push({ ...t, way: here });
    if (level < 3 && t.width > 40 && t.height > 34) out.push(...boxes(t.node, t.x + 2, t.y + 15, t.width - 4, t.height - 17, level + 1, here));
  }
  return out;
}

function Treemap({ report }: { report: HeapReport }) {
  const ref = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [way, setWay] = useState<HeapNode[]>([]);
  const [over, setOver] = useState<HeapNode | null>(null);
  useEffect(() => {
    const el = ref.current!;
    const measure = () => setSize({ width: el.clientWidth, height: el.clientHeight });
    const watch = new ResizeObserver(measure);
    watch.observe(el);
    measure();
    return () => watch.disconnect();
  }, []);
  const top = way[way.length - 1] ?? report.tree;
  const name = (n: HeapNode) => n === report.tree ? "heap" : (n.count > 1 ? count(n.count) + " " : "") + (n.what || n.class);
  const said = over ?? top;
  return (
    <section aria-label="Dominator tree">
      <nav class="crumbs" aria-label="Way through the dominator tree">
        {[report.tree, ...way].map((n, i) => <span key={i}>{i > 0 && "› "}{n === top ? <b>{name(n)}</b> : <button class="plain" onClick={() => setWay(way.slice(0, i))}>{name(n)}</button>}</span>)}
      </nav>
      <div class="treemap" id="treemap" ref={ref}>
        {boxes(top, 0, 0, size.width, size.height).map((b, i) => (
          <button key={i} title={`${name(b.node)}: ${bytes(b.node.retained_bytes)}`} disabled={!b.node.children}
            style={{ left: b.x + "px", top: b.y + "px", width: b.width + "px", height: b.height + "px", background: colour(b.node.class) }}
            onClick={() => (setWay([...way, ...b.way]), setOver(null))} onMouseEnter={() => setOver(b.node)} onMouseLeave={() => setOver(null)} onFocus={() => setOver(b.node)}>
            {b.width > 30 && b.height > 12 ? name(b.node) : ""}
          </button>
        ))}
      </div>
      <p class="hint" id="box">{name(said)}: {bytes(said.retained_bytes)}, {percent(said.retained_bytes, report.bytes)} % of the heap. A box is as large as what it retains: what would be freed with it. Click to go into it.</p>
    </section>
  );
}

const retained = { label: "Retained", title: "What would be freed without them", cls: "num", of: (r: { retained_bytes: number }) => r.retained_bytes, show: (r: { retained_bytes: number }) => bytes(r.retained_bytes) };
const shallow = { label: "Shallow", title: "Their own size", cls: "num", of: (r: { shallow_bytes: number }) => r.shallow_bytes, show: (r: { shallow_bytes: number }) => bytes(r.shallow_bytes) };
const wasted = { label: "Wasted", cls: "num", of: (r: { wasted_bytes: number }) => r.wasted_bytes, show: (r: { wasted_bytes: number }) => bytes(r.wasted_bytes) };
const objects = { label: "Objects", cls: "num", of: (r: { objects: number }) => r.objects, show: (r: { objects: number }) => count(r.objects) };

function number<T>(label: string, of: (r: T) => number, show: (n: number) => string = count, title?: string): ListColumn<T> {
  return { label, title, cls: "num", of, show: (r) => show(of(r)) };
}

/** lists are the lists that have rows: their names, and how they are shown. */
function lists(r: HeapReport): [string, () => preact.JSX.Element][] {
  const joined = r.classes.some((c) => c.allocated_by);
  const allocated = r.classes.filter((c) => c.allocated_by).flatMap((c) => c.allocated_by!.top.map((s) => ({ ...s, alive: c.objects, class: c.class })));
  const all: [string, unknown[], () => preact.JSX.Element][] = [
    ["Classes", r.classes, () => <Listing id="classes" label="Classes" rows={r.classes} by={0} columns={[retained, shallow, objects,
      ...(joined ? [number<ClassRow>("Allocated", (c) => c.allocated_by?.objects ?? 0, count, "During the recording, dead ones included")] : []), { label: "Class", of: (c) => c.class }]}
      detail={(c) => <>{c.loader && <p>loaded by {c.loader}</p>}{c.allocated_by ? <Sites of={c.allocated_by} /> : <p class="muted">{joined ? "The recording has no allocation of this class." : "With a recording that counted allocations, this shows which contexts allocated them."}</p>}</>} />],
    ["Objects", r.dominators, () => <Listing id="objects" label="Objects" rows={r.dominators} by={0} columns={[retained, shallow, { label: "Object", of: (d) => `${d.what} ${d.object}` }]} detail={(d) => <Path path={d.path} />} />],
    ["Allocated by", allocated, () => <Listing<SiteRow> id="allocated" label="Allocated by" rows={allocated} by={0} columns={[number("Allocated", (s) => s.objects, count, "During the recording, dead ones included"), number("Alive", (s) => s.alive, count, "Of the class, allocated by any context"), { label: "Class", of: (s) => s.class }, { label: "By", of: (s) => inner(s).join(" < ") }]} />],
    ["Loaders", r.loaders, () => <Listing<LoaderRow> id="loaders" label="Class loaders" rows={r.loaders} by={0} columns={[retained, shallow, objects, number("Classes", (l) => l.classes), number("Loaders", (l) => l.loaders), { label: "Class loader", of: (l) => l.loader || "(the JVM's own)" }]} />],
    ["Duplicate strings", r.duplicate_strings.top, () => <Listing<TextRow> id="strings" label="Duplicate strings" rows={r.duplicate_strings.top} by={0} columns={[wasted, number("Copies", (s) => s.copies), { label: "Text", of: (s) => s.text }]} />],
    ["Collections", r.collections, () => <Listing<CollectionRow> id="collections" label="Collections" rows={r.collections} by={0} columns={[wasted, number("Collections", (s) => s.collections), number("Half empty", (s) => s.half_empty), number("Empty", (s) => s.empty), { label: "Class", of: (s) => s.class }]} />],
    ["Boxed values", r.boxed, () => <Listing<BoxRow> id="boxed" label="Boxed values" rows={r.boxed} by={0} columns={[number("Bytes", (s) => s.bytes, bytes), objects, number("Cacheable", (s) => s.cacheable), { label: "Class", of: (s) => s.class }]} />],
    ["Thread locals", r.thread_locals, () => <Listing<LocalRow> id="threadlocals" label="Thread locals" rows={r.thread_locals} by={0} columns={[retained, number("Largest", (s) => s.largest_bytes, bytes), { label: "Thread", of: (s) => `${s.thread}: ${s.largest}` }]} />],
    ["Class loader leaks", r.loader_leaks, () => <Listing<LeakRow> id="leaks" label="Class loader leaks" rows={r.loader_leaks} by={0} columns={[retained, number("Loaders", (s) => s.loaders), { label: "Class", of: (s) => `${s.class} by ${s.loader}` }]} detail={(s) => <Path path={s.path} />} />],
  ];
  return all.filter(([, rows], i) => rows.length > 0 || i === 0).map(([name, , view]) => [name, view]);
}

/** HeapView shows a report whole. */
export function HeapView({ report }: { report: HeapReport }) {
  const shown = lists(report);
  const [on, setOn] = useState("Classes");
  const View = (shown.find(([name]) => name === on) ?? shown[0])[1];
  return (
    <div class="heap">
      <p id="heap-summary"><b>{count(report.objects)}</b> objects, <b>{bytes(report.bytes)}</b>
        {report.unreachable.objects > 0 && <>; {count(report.unreachable.objects)} more, {bytes(report.unreachable.bytes)}, can't be reached</>}
        {report.weakly_reachable.objects > 0 && <>; {bytes(report.weakly_reachable.bytes)} only by weak or soft references</>}</p>
      {report.damage && <p class="warn">{report.damage}</p>}
      {report.notes.map((n) => <p class="hint" key={n}>{n}</p>)}
      <h2>Suspects</h2>
      <Suspects report={report} />
      <h2>What retains the heap</h2>
      <Treemap report={report} />
      <div class="choices" role="group" aria-label="Lists">{shown.map(([name]) => <button key={name} aria-pressed={name === on} onClick={() => setOn(name)}>{name}</button>)}</div>
      <View key={on} />
    </div>
  );
}
