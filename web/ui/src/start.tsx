// The start page: JVMs of this machine, and the sample program.

import { useEffect, useRef, useState } from "preact/hooks";
import { api, store } from "./conn";
import { ago, base } from "./format";
import { useAction, useStore } from "./hooks";
import type { Target } from "./model";
import { Fleet } from "./fleet";
import { ErrorLine, Trouble } from "./parts";
import { OpenFile } from "./snapshots";
import { forget, go, open, recordings, ui } from "./ui";
import { start } from "./bar";

/** A row stays where it is, also when its JVM has ended: nothing moves under the pointer. */
interface Row { t: Target; gone: boolean }

/** How long no row is added or removed after the pointer has moved elsewhere than in the rows, in ms: somebody may be about to click there. */
const aiming = 3000;

/** merged takes over a new list: what is known stays in its place, what is new comes last, if it may be added. */
function merged(rows: Row[], list: Target[], prune: boolean, add: boolean): Row[] {
  const now = new Map(list.map((t) => [t.pid + t.started, t]));
  const known = new Set(rows.map((r) => r.t.pid + r.t.started));
  const stay = rows.map((r) => { const t = now.get(r.t.pid + r.t.started); return { t: t ?? r.t, gone: !t }; });
  return [...stay.filter((r) => !r.gone || !prune), ...list.filter((t) => add && !known.has(t.pid + t.started)).map((t) => ({ t, gone: false }))];
}

export function Start() {
  useStore();
  const [rows, setRows] = useState<Row[] | null>(null);
  const [failed, setFailed] = useState("");
  const act = useAction();
  const table = useRef<HTMLTableElement>(null);
  const moved = useRef(0); // when the pointer did last, elsewhere than in the table
  useEffect(() => {
    let live = true;
    const look = async () => {
      try {
        const list = await api<Target[]>("targets");
        // Rows of JVMs that have ended go when nobody is about to use one.
        const used = table.current !== null && (table.current.matches(":hover") || table.current.contains(document.activeElement));
        const aimed = Date.now() - moved.current < aiming;
        if (live) (setRows((r) => merged(r ?? [], list, !used && !aimed, !aimed || r === null)), setFailed(""));
      } catch (e) {
        if (live) setFailed((e as Error).message);
      }
    };
    void look();
    const timer = setInterval(look, 2000);
    return () => ((live = false), clearInterval(timer));
  }, []);
  const asked = useRef(0);
  const attach = (pid: number, full = false) => act.run("attach " + (asked.current = pid), async () => {
    go({ setup: { ...ui.setup, roots: [], memory: 0 } }); // before the page shows where roots are chosen
    await api("attach", { pid, ...(full ? { full_heap: true } : {}) });
    forget();
    go({ picking: true });
  });
  const demo = () => act.run("demo", async () => {
    const d = await api<{ pid: number; root: string }>("demo", {});
    await api("attach", { pid: d.pid });
    await start({ roots: [d.root], scheme: "auto", clock: "tick" });
  });
  const busy = act.busy !== "" || store.state?.phase === "attaching";
  const kept = store.state?.snapshots ?? [];
  return (
    <main class="page starting" onPointerMove={(e) => { if (!table.current?.contains(e.target as Node)) moved.current = Date.now(); }}>
      <section>
        <h2>JVMs on this machine</h2>
        <ErrorLine text={act.error || failed} close={act.clear} />
        {act.option === "full_heap" && <p><button id="full-heap" disabled={busy} onClick={() => attach(asked.current, true)}>Attach all the same</button></p>}
        {!act.error && <Trouble />}
        {rows === null ? <p class="muted">Looking…</p> : rows.length === 0 ? (
          <p>No JVM is running here that you may see. Start one, run Rivulet as its user or as root, or try the sample server.</p>
        ) : (
          <table class="plain-table" id="targets" ref={table}>
            <thead><tr><th class="num">pid</th><th>main class or jar</th><th>Java</th><th>user</th><th class="num">up</th><th><span class="unseen">attach</span></th></tr></thead>
            <tbody>
              {rows.map(({ t, gone }) => (
                <tr key={t.pid + t.started} class={gone ? "gone" : ""}>
                  <td class="num">{t.pid}</td><td title={t.main}><b>{base(t.main)}</b></td><td>{t.java || "?"}</td><td title={t.user}>{t.user}</td><td class="num">{gone ? "" : ago(t.started)}</td>
                  <td>
                    <span class="over">
                      {gone && <span class="muted">has ended</span>}
                      <span class={gone ? "was" : ""}>{t.attachable
                        ? <><button data-pid={gone ? undefined : t.pid} disabled={busy || gone} onClick={() => attach(t.pid)}>{act.busy === "attach " + t.pid ? "Attaching…" : "Attach"}</button> <button data-inside={gone ? undefined : t.pid} disabled={gone} title="Its threads, locks, heap and class loads; nothing is instrumented" onClick={() => go({ inside: t.pid, looked: "threads" })}>Look inside</button></>
                        : <span class="muted">{t.reason}</span>}</span>
                    </span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        <Fleet />
      </section>
      <aside>
        <h2>Sample server</h2>
        <p>
          A small order-processing server comes with Rivulet: threads, polymorphism, recursion, lambdas, exceptions. It is started, attached to and recorded; it ends with Rivulet.
        </p>
        <p><button id="demo" class={rows?.length ? "" : "primary"} disabled={busy} onClick={demo}>{act.busy === "demo" ? "Starting the sample server…" : "Start the demo"}</button></p>
        <h2>Snapshots</h2>
        <p class="muted">{kept.length === 0 ? "There are none yet." : `${kept.length} ${kept.length === 1 ? "is" : "are"} kept, the last: ${kept[kept.length - 1].name}.`}</p>
        <p class="line">
          {kept.length > 0 && <button onClick={() => open(kept[kept.length - 1])} id="reopen">Open the last</button>}
          {kept.length > 0 && <button onClick={() => { const last = kept[kept.length - 1]; forget(); go({ tab: "snapshots", source: recordings().pop()?.id ?? 0, compared: last.kind ? last.id : 0 }); }} id="list">All</button>}
          <OpenFile opened={open} />
        </p>
        <details>
          <summary>How it works</summary>
          <p>
            Choose one method, the root. Everything that it calls, directly or transitively, is instrumented while the JVM runs, and nothing else.
            Calls are counted, not sampled. Stop restores every class and detaches. The JVM goes on as before.
          </p>
        </details>
      </aside>
    </main>
  );
}
