// A table of any length of which only a window is there: the server sends the
// rows that are asked for.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useSize } from "./hooks";
import { isMenuKey, openMenu } from "./menu";
import { focusMain, sampling } from "./ui";

export const rowHeight = 22;

export interface Column {
  key: string;
  label: string;
  title?: string;
  sort?: boolean;
  cls?: string; // "num", "wide", and which widths hide it: "opt1", "opt2"
  sampled?: { label?: string; title?: string } | null; // of a report that is made of samples: what is other, null if it has no such column
}

interface Props {
  label: string;
  tree?: boolean;
  columns: Column[];
  sort?: string;
  up?: boolean;
  onSort?: (key: string) => void;
  count: number;
  from: number;
  rows: ComponentChildren[][];
  attrs: (i: number) => { selected?: boolean; level?: number; open?: boolean; cls?: string };
  onWindow: (from: number, rows: number) => void;
  onPick: (i: number, twice: boolean) => void; // a row of the window
  onKey?: (e: KeyboardEvent) => void;
  methodOf?: (i: number) => number; // of a row of the window, whose menu is to be had; 0: it has none
  to?: { row: number; seq: number }; // scroll there when seq changes
}

export function Table(p: Props) {
  const [ref, size] = useSize<HTMLDivElement>();
  const asked = useRef("");
  const id = p.label.replace(/\W+/g, "-").toLowerCase() + "-row-";
  useEffect(() => focusMain(ref.current), []);
  const window_ = () => {
    const el = ref.current;
    if (!el || el.clientHeight === 0) return;
    const shown = Math.ceil(el.clientHeight / rowHeight);
    const from = Math.max(0, Math.floor(el.scrollTop / rowHeight) - 20);
    const rows = Math.min(400, shown + 40);
    const key = from + " " + rows;
    const first = Math.floor(el.scrollTop / rowHeight);
    const [oldFrom, oldRows] = asked.current.split(" ").map(Number);
    const enough = asked.current !== "" && oldRows === rows && first >= oldFrom + (oldFrom > 0 ? 5 : 0) && first + shown <= oldFrom + oldRows - 5;
    if (enough) return;
    asked.current = key;
    p.onWindow(from, rows);
  };
  useEffect(window_, [size.height]);
  useEffect(() => {
    const el = ref.current;
    if (!el || !p.to || p.to.row < 0) return;
    const top = p.to.row * rowHeight, body = el.clientHeight - rowHeight;
    if (top < el.scrollTop || top + rowHeight > el.scrollTop + body) el.scrollTop = Math.max(0, top - body / 3);
  }, [p.to?.seq]);
  const selected = p.rows.findIndex((_, i) => p.attrs(i).selected);
  const sampled = sampling() !== undefined;
  const key = (e: KeyboardEvent) => {
    const row = isMenuKey(e) && p.methodOf && ref.current?.querySelector(".tr.selected");
    if (!row) return p.onKey?.(e);
    const r = row.getBoundingClientRect();
    openMenu(p.methodOf!(selected), r.left + 120, r.bottom);
    e.preventDefault();
    e.stopPropagation();
  };
  const columns = p.columns.map((c, at) => ({ ...c, ...(sampled ? c.sampled : {}), at })).filter((c) => !sampled || c.sampled !== null);
  // Where columns don't fit, rows are as wide as all of them, and the last one, the name, stays in sight.
  const [wide, setWide] = useState(0);
  const head = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const styles = [...(head.current?.children ?? [])].map((cell) => getComputedStyle(cell)).filter((s) => s.display !== "none");
    const need = styles.reduce((sum, s) => sum + (parseFloat(s.flexBasis) || 0), 0);
    setWide(size.width > 0 && need > size.width ? need : 0);
  }, [size.width, columns.map((c) => c.key).join()]);
  const width = wide > 0 ? wide + "px" : undefined;
  return (
    <div
      class={wide > 0 ? "table sideways-table" : "table"} ref={ref} role={p.tree ? "treegrid" : "grid"} aria-label={p.label} aria-rowcount={p.count + 1} tabIndex={0} data-main
      aria-activedescendant={selected >= 0 ? id + (p.from + selected) : undefined} onScroll={window_} onKeyDown={key}
    >
      <div class="tr head" role="row" ref={head} style={{ width }}>
        {columns.map((c) => (
          <div
            class={"td " + (c.cls ?? "")} role="columnheader" title={c.title} key={c.key}
            aria-sort={c.sort && p.sort === c.key ? (p.up ? "ascending" : "descending") : undefined}
          >
            {c.sort ? (
              <button class="plain" onClick={() => p.onSort?.(c.key)}>{c.label}{p.sort === c.key ? (p.up ? " ▴" : " ▾") : ""}</button>
            ) : c.label}
          </div>
        ))}
      </div>
      <div class="space" role="presentation" style={{ height: p.count * rowHeight + "px", width }}>
        {p.rows.map((cells, i) => {
          const a = p.attrs(i);
          return (
            <div
              key={p.from + i} id={id + (p.from + i)} role="row" class={"tr " + (a.selected ? "selected " : "") + (a.cls ?? "")}
              aria-rowindex={p.from + i + 2} aria-level={a.level} aria-expanded={a.open} aria-selected={a.selected ?? false}
              style={{ transform: `translateY(${(p.from + i) * rowHeight}px)` }} onClick={() => p.onPick(i, false)} onDblClick={() => p.onPick(i, true)}
              onContextMenu={(e) => { if (p.methodOf?.(i)) (e.preventDefault(), p.onPick(i, false), openMenu(p.methodOf(i), e.clientX, e.clientY)); }}
            >
              {columns.map((c) => <div class={"td " + (c.cls ?? "")} role="gridcell" key={c.key}>{cells[c.at]}</div>)}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** step is how far a key moves in a table, undefined if it doesn't. */
export function step(e: KeyboardEvent, page: number): number | undefined {
  switch (e.key) {
    case "ArrowDown": return 1;
    case "ArrowUp": return -1;
    case "PageDown": return page;
    case "PageUp": return -page;
    case "Home": return -Infinity;
    case "End": return Infinity;
  }
  return undefined;
}
