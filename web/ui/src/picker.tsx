// Choosing roots, by search or by package, and how to record.

import { useEffect, useRef, useState } from "preact/hooks";
import { api, store } from "./conn";
import { count, parse } from "./format";
import { useAction, useStore } from "./hooks";
import type { Branch, Method } from "./model";
import { ErrorLine, MethodName } from "./parts";
import { start } from "./bar";

export function Picker() {
  useStore();
  const [query, setQuery] = useState("");
  const [found, setFound] = useState<{ methods: Method[]; count: number } | null>(null);
  const [at, setAt] = useState(0);
  const [roots, setRoots] = useState<string[]>([]);
  const [scheme, setScheme] = useState("B");
  const [clock, setClock] = useState("tick");
  const [until, setUntil] = useState("");
  const [timeline, setTimeline] = useState(false);
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
  const busy = act.busy !== "" || store.state?.phase === "starting";
  const toggle = (m: Method) => m.root && setRoots((r) => (r.includes(m.name) ? r.filter((x) => x !== m.name) : [...r, m.name]));
  const go = () => act.run("start", () => start({ roots, scheme, clock, until_calls: Number(until) || 0, ...(timeline ? { timeline } : {}) }));
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
      <p class="muted">
        The method whose callees are to be recorded, such as a request handler. Only its invocations that begin after the start count. {count(store.state?.methods ?? 0)} methods of the application are loaded.
      </p>
      <div class="pick">
        <section>
          <input
            ref={input} id="search" class="big" type="search" autocomplete="off" spellcheck={false} value={query} placeholder="Search methods: order process, OSp, shop.orders…"
            role="combobox" aria-label="Search methods" aria-expanded={found !== null} aria-controls="hits" aria-activedescendant={found ? "hit-" + at : undefined}
            onInput={(e) => setQuery(e.currentTarget.value)} onKeyDown={key}
          />
          {found ? (
            <>
              <ul class="hits" id="hits" role="listbox" aria-label="Methods found">
                {found.methods.map((m, i) => <Hit m={m} id={"hit-" + i} active={i === at} chosen={roots.includes(m.name)} pick={() => toggle(m)} key={m.name + m.loader} />)}
              </ul>
              <p class="muted">{found.count === 0 ? "No loaded method has these words. Classes that are loaded later can be given by name below." : `${count(found.count)} found${found.count > found.methods.length ? `, the best ${found.methods.length} shown` : ""}. Enter chooses.`}</p>
            </>
          ) : <Packages roots={roots} toggle={toggle} />}
        </section>
        <section class="setup">
          <h3>Roots</h3>
          {roots.length === 0 && <p class="muted">None yet.</p>}
          <ul class="chosen">
            {roots.map((r) => (
              <li key={r}><MethodName name={parse(r)} /> <button class="plain" aria-label={"Remove " + r} onClick={() => setRoots(roots.filter((x) => x !== r))}>✕</button></li>
            ))}
          </ul>
          <ByName add={(r) => setRoots([...new Set([...roots, r])])} />
          <fieldset>
            <legend>Scheme</legend>
            <Choice name="scheme" value={scheme} set={setScheme} options={[
              ["B", "B: as it is called", "Callees are instrumented when a method is entered for the first time"],
              ["C", "C: as B, looking ahead", "Takes along what is near, for fewer redefinitions"],
              ["A", "A: all at once", "Everything reachable among the loaded classes, before recording"],
            ]} />
          </fieldset>
          <fieldset>
            <legend>Clock</legend>
            <Choice name="clock" value={clock} set={setClock} options={[
              ["tick", "tick", "Kept by Rivulet; some nanoseconds a call; short times are uncertain, and say so"],
              ["precise", "precise", "System.nanoTime; some 45 ns a call; for short recordings"],
            ]} />
          </fieldset>
          <label class="line">
            Stop after <input type="number" min="1" value={until} placeholder="∞" onInput={(e) => setUntil(e.currentTarget.value)} aria-label="Root calls after which to stop" /> root calls
          </label>
          <label class="line check" title="Records each invocation's begin and end, too: some 25 to 35 ns more a call">
            <input type="checkbox" id="timeline" checked={timeline} onChange={(e) => setTimeline(e.currentTarget.checked)} /> Keep a timeline of single invocations
          </label>
          <ErrorLine text={act.error} close={act.clear} />
          <p><button id="start" class="primary" disabled={roots.length === 0 || busy} onClick={go}>{busy ? "Starting…" : "Start recording"}</button></p>
        </section>
      </div>
    </main>
  );
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

/** ByName takes a root of a class that is not loaded. */
function ByName({ add }: { add: (root: string) => void }) {
  const [text, setText] = useState("");
  const take = () => { if (text.trim()) (add(text.trim()), setText("")); };
  return (
    <details>
      <summary>By name</summary>
      <p class="line">
        <input value={text} placeholder="pkg.Class.method" aria-label="Root by name" onInput={(e) => setText(e.currentTarget.value)} onKeyDown={(e) => e.key === "Enter" && take()} />
        <button onClick={take}>Add</button>
      </p>
    </details>
  );
}

function Choice({ name, value, set, options }: { name: string; value: string; set: (v: string) => void; options: [string, string, string][] }) {
  return (
    <>
      {options.map(([v, label, text]) => (
        <label class="radio" key={v} title={text}><input type="radio" name={name} value={v} checked={value === v} onChange={() => set(v)} /> {label} <small class="muted">{text}</small></label>
      ))}
    </>
  );
}

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
      <ul class="hits">
        {list.map((b) => b.method
          ? <Hit key={b.name + b.method.loader} m={b.method} id={"m-" + b.name} active={false} chosen={roots.includes(b.name)} pick={() => toggle(b.method!)} />
          : <li key={b.kind + b.name} class="branch"><button class="plain" onClick={() => setInside(b.name)}>{b.kind === "package" ? "▸ " : ""}{b.name.slice(inside ? inside.length + 1 : 0)}</button><span class="muted">{b.kind === "class" ? "class, " : ""}{count(b.count)} methods</span></li>)}
      </ul>
    </>
  );
}
