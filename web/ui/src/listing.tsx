// A list that fits into the page: sorted, searched, and of which each row can be opened.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { count } from "./format";

/** A column of a list: what it sorts and searches by, and how that is shown. */
export interface ListColumn<T> {
  label: string;
  title?: string;
  of: (row: T) => number | string;
  show?: (row: T) => ComponentChildren; // else what it sorts by
  cls?: string;
}

const most = 200; // rows, until more are asked for

/** Listing shows rows, at first by a column of figures, the largest first. Its search looks at what is text. */
export function Listing<T>({ id, label, rows, columns, by, detail, empty }: {
  id: string; label: string; rows: T[]; columns: ListColumn<T>[]; by: number; detail?: (row: T) => ComponentChildren; empty?: string;
}) {
  const [sort, setSort] = useState({ by, up: false });
  const [find, setFind] = useState("");
  const [opened, setOpened] = useState<T | null>(null);
  const [shown, setShown] = useState(most);
  const text = columns.filter((c) => rows.length > 0 && typeof c.of(rows[0]) === "string");
  const words = find.toLowerCase().split(/\s+/).filter((w) => w);
  const found = rows.filter((r) => words.every((w) => text.some((c) => String(c.of(r)).toLowerCase().includes(w))));
  const column = columns[sort.by];
  found.sort((a, b) => {
    const x = column.of(a), y = column.of(b);
    const order = typeof x === "number" && typeof y === "number" ? y - x : String(x).localeCompare(String(y));
    return sort.up ? -order : order;
  });
  if (rows.length === 0) return <p class="muted">{empty ?? "Nothing."}</p>;
  return (
    <div class="listing" id={id}>
      <p class="line"><label><span class="unseen">Search in {label}</span><input type="search" placeholder="Search" autocomplete="off" value={find} onInput={(e) => setFind(e.currentTarget.value)} /></label>
        <span class="muted">{found.length < rows.length ? `${count(found.length)} of ${count(rows.length)}` : count(rows.length)}</span></p>
      <table class="plain-table" aria-label={label}>
        <thead><tr>{columns.map((c, i) => (
          <th class={c.cls} title={c.title} key={c.label} scope="col" aria-sort={i === sort.by ? (sort.up ? "ascending" : "descending") : undefined}>
            <button class="plain" onClick={() => setSort({ by: i, up: i === sort.by && !sort.up })}>{c.label}{i === sort.by ? (sort.up ? " ▴" : " ▾") : ""}</button>
          </th>
        ))}</tr></thead>
        <tbody>{found.slice(0, shown).map((r, n) => [
          <tr key={n}>{columns.map((c, i) => (
            <td class={c.cls} key={c.label}>{detail && i === columns.length - 1
              ? <button class="plain" aria-expanded={opened === r} onClick={() => setOpened(opened === r ? null : r)}>{opened === r ? "▾ " : "▸ "}{c.show ? c.show(r) : c.of(r)}</button>
              : c.show ? c.show(r) : c.of(r)}</td>
          ))}</tr>,
          detail && opened === r && <tr class="opened" key={n + " opened"}><td colSpan={columns.length}>{detail(r)}</td></tr>,
        ])}</tbody>
      </table>
      {found.length > shown && <p><button onClick={() => setShown(shown + 1000)}>{count(found.length - shown)} more</button></p>}
      {found.length === 0 && <p class="muted">Nothing matches.</p>}
    </div>
  );
}

/** Stack is one that a JVM has told, the innermost first. */
export function Stack({ frames, empty }: { frames: string[]; empty?: string }) {
  return frames.length === 0 ? <p class="muted">{empty ?? "No stack is known."}</p> : <ol class="stack">{frames.map((f, i) => <li key={i}>{f}</li>)}</ol>;
}
