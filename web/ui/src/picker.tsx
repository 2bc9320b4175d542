// Choosing roots, by suggestion, search or package, and how to record.

import { useEffect, useRef, useState } from "preact/hooks";
import { api, store } from "./conn";
import { count, parse, plural } from "./format";
import { useAction, useStore } from "./hooks";
import type { Branch, Method } from "./model";
import { ErrorLine, MethodName } from "./parts";
import { Ahead, Suggest, priceOf, priceTitle } from "./preview";
import { Schemes } from "./schemes";
import { Setup, choose, recording } from "./setup";
import { start } from "./bar";
import { forget, go as view, recordings, ui } from "./ui";

export function Picker() {
  useStore();
  const [query, setQuery] = useState("");
  const [found, setFound] = useState<{ methods: Method[]; count: number } | null>(null);
  const [at, setAt] = useState(0);
  const act = useAction();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  useEffect(() => {
    let live = true;
    if (query.trim() === "") return setFound(null);
    api<{ methods: Method[]; count: number }>("methods?limit=60&q=" + encodeURIComponent(query)).then(
      (r) => { if (live) (setFound(r), setAt(0)); },
      (e: Error) => { if (live) void act.run("search", () => Promise.reject(e)); });
    return () => { live = false; };
  }, [query]);
  const roots = ui.setup.roots;
  const busy = act.busy !== "" || store.state?.phase === "starting";
  const take = (name: string) => choose({ roots: roots.includes(name) ? roots.filter((x) => x !== name) : [...roots, name] });
  const toggle = (m: Method) => { if (m.root) take(m.name); };
  const go = () => act.run("start", () => start(recording(ui.setup)));
  const key = (e: KeyboardEvent) => {
    const n = found?.methods.length ?? 0;
    if (e.key === "ArrowDown") setAt(Math.min(at + 1, n - 1));
    else if (e.key === "ArrowUp") setAt(Math.max(at - 1, 0));
    else if (e.key === "Enter" && found && n > 0) {
      if (e.ctrlKey || e.metaKey) return void go();
      toggle(found.methods[at]);
    } else return;
    e.preventDefault();
  };
  return (
    <main class="page picker">
      <h2>Choose the root</h2>
      <SnapshotsLink />
      <p class="muted">
        The method whose callees are to be recorded, such as a request handler; several if need be. Only invocations that begin after the start count. {count(store.state?.methods ?? 0)} methods of the application are loaded.
      </p>
      <div class="pick">
        <section>
          <Suggest toggle={take} />
          <input
            ref={input} id="search" class="big" type="search" autocomplete="off" spellcheck={false} value={query} placeholder="Search methods: order process, OSp, shop.orders…"
            role="combobox" aria-label="Search methods" aria-expanded={found !== null} aria-controls="hits" aria-activedescendant={found ? "hit-" + at : undefined}
            onInput={(e) => setQuery(e.currentTarget.value)} onKeyDown={key}
          />
          {found ? (
            <>
              <ul class="hits" id="hits" role="listbox" aria-label="Methods found" aria-multiselectable="true">
                {found.methods.map((m, i) => <Hit m={m} id={"hit-" + i} active={i === at} chosen={roots.includes(m.name)} pick={() => toggle(m)} key={m.name + m.loader} />)}
              </ul>
              <p class="muted">{found.count === 0 ? "No loaded method matches. Methods of classes that are loaded later can be given by name." : `${count(found.count)} found${found.count > found.methods.length ? `, the best ${found.methods.length} shown` : ""}. Enter chooses, Ctrl+Enter starts.`}</p>
            </>
          ) : <Packages roots={roots} toggle={toggle} />}
          <Ahead />
        </section>
        <section class="setup">
          <div class="go">
          <h3>Roots</h3>
          {roots.length === 0 && <p class="muted">None yet.</p>}
          <ul class="chosen" id="roots">
            {roots.map((r) => (
              <li key={r}><span><MethodName name={parse(r)} />{priceOf(r) && <span class="muted price" title={priceTitle}> expected price: {priceOf(r)}</span>}</span> <button class="plain" aria-label={"Remove " + r} onClick={() => take(r)}>✕</button></li>
            ))}
          </ul>
          <ByName add={(r) => choose({ roots: [...new Set([...roots, r])] })} />
          <ErrorLine text={act.error} close={act.clear} />
          {store.state?.target?.redefinition && <p id="redefinition" class="hint">Before you start: {store.state.target.redefinition}.</p>}
          <p><button id="start" class="primary" disabled={roots.length === 0 || busy} onClick={go}>{busy ? "Starting…" : "Start recording"}</button></p>
          </div>
          <Setup />
          <Schemes />
        </section>
      </div>
    </main>
  );
}

/** SnapshotsLink leads back to what was recorded before; Other root and the tabs lead here again. */
function SnapshotsLink() {
  const n = store.state?.snapshots.length ?? 0;
  if (n === 0) return null;
  return <p><button id="to-snapshots" onClick={() => (forget(), view({ tab: "snapshots", source: recordings().at(-1)?.id ?? 0, browsing: true }))}>{plural(n, "snapshot", "snapshots")}</button></p>;
}

function Hit({ m, id, active, chosen, pick }: { m: Method; id: string; active: boolean; chosen: boolean; pick: () => void }) {
  return (
    <li id={id} role="option" aria-selected={chosen} aria-disabled={!m.root} class={(active ? "active " : "") + (m.root ? "" : "off")} onClick={pick}
      ref={(el) => { if (active) el?.scrollIntoView({ block: "nearest" }); }}>
      <span class="check">{chosen ? "✓" : ""}</span>
      <MethodName name={parse(m.name, m.loader)} />
      {m.reason && <span class="muted"> {m.reason}</span>}
    </li>
  );
}

/** ByName takes a root of a class that is not loaded, or a pattern. */
function ByName({ add }: { add: (root: string) => void }) {
  const [text, setText] = useState("");
  const take = () => { if (text.trim()) (add(text.trim()), setText("")); };
  return (
    <details>
      <summary>By name</summary>
      <p class="line">
        <input value={text} placeholder="pkg.Class.method, or a pattern" aria-label="Root by name" id="byname" onInput={(e) => setText(e.currentTarget.value)} onKeyDown={(e) => e.key === "Enter" && take()} />
        <button onClick={take}>Add</button>
      </p>
    </details>
  );
}

const mostBranches = 2000; // the server lists no more of one package or class

/** Packages is the tree of packages, classes and methods. */
function Packages({ roots, toggle }: { roots: string[]; toggle: (m: Method) => void }) {
  const [inside, setInside] = useState("");
  const [list, setList] = useState<Branch[]>([]);
  useEffect(() => {
    let live = true;
    api<Branch[]>("packages?in=" + encodeURIComponent(inside)).then((b) => live && setList(b), () => live && setList([]));
    return () => { live = false; };
  }, [inside]);
  const parts = inside === "" ? [] : inside.split(".");
  return (
    <>
      <nav class="crumbs" aria-label="Package">
        <button class="plain" disabled={inside === ""} onClick={() => setInside("")}>All packages</button>
        {parts.map((p, i) => <span key={i}>› <button class="plain" disabled={i === parts.length - 1} onClick={() => setInside(parts.slice(0, i + 1).join("."))}>{p}</button></span>)}
      </nav>
      <ul class="hits" aria-label="Packages, classes and methods">
        {list.map((b) => b.method
          ? (
            <li key={b.name + b.method.loader} class={b.method.root ? "" : "off"}>
              <span class="check" aria-hidden="true">{roots.includes(b.name) ? "✓" : ""}</span>
              <button class="plain" disabled={!b.method.root} aria-pressed={roots.includes(b.name)} onClick={() => toggle(b.method!)}><MethodName name={parse(b.method.name, b.method.loader)} /></button>
              {b.method.reason && <span class="muted"> {b.method.reason}</span>}
            </li>
          )
          : <li key={b.kind + b.name} class="branch"><button class="plain" onClick={() => setInside(b.name)}>{b.kind === "package" ? "▸ " : ""}{b.name.slice(inside ? inside.length + 1 : 0)}</button><span class="muted">{b.kind === "class" ? "class, " : ""}{plural(b.count, "method", "methods")}</span></li>)}
      </ul>
      {list.length >= mostBranches && <p class="muted">The first {count(mostBranches)} are listed. The search finds all.</p>}
    </>
  );
}
