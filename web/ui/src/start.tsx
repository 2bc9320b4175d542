// The start page: JVMs of this machine, and the sample program.

import { useEffect, useState } from "preact/hooks";
import { api, store } from "./conn";
import { ago, base } from "./format";
import { useAction, useStore } from "./hooks";
import type { Target } from "./model";
import { ErrorLine, Trouble } from "./parts";
import { forget, go } from "./ui";
import { start } from "./bar";

export function Start() {
  useStore();
  const [targets, setTargets] = useState<Target[] | null>(null);
  const [failed, setFailed] = useState("");
  const [memory, setMemory] = useState(0);
  const act = useAction();
  useEffect(() => {
    let live = true;
    const look = async () => {
      try {
        const t = await api<Target[]>("targets");
        if (live) (setTargets(t), setFailed(""));
      } catch (e) {
        if (live) setFailed((e as Error).message);
      }
    };
    void look();
    const timer = setInterval(look, 2000);
    return () => ((live = false), clearInterval(timer));
  }, []);
  const attach = (pid: number) => act.run("attach " + pid, async () => { await api("attach", { pid, memory }); forget(); go({ picking: true }); });
  const demo = () => act.run("demo", async () => {
    const d = await api<{ pid: number; root: string }>("demo", {});
    await api("attach", { pid: d.pid });
    await start({ roots: [d.root], scheme: "B", clock: "tick" });
  });
  const busy = act.busy !== "" || store.state?.phase === "attaching";
  return (
    <main class="page">
      <h2>JVMs on this machine</h2>
      <ErrorLine text={act.error || failed} close={act.clear} />
      {!act.error && <Trouble />}
      {targets === null ? <p class="muted">Looking…</p> : targets.length === 0 ? (
        <p>No JVM is running here that you may see. Start one, run Rivulet as its user or as root, or try the sample server below.</p>
      ) : (
        <table class="plain-table" id="targets">
          <thead><tr><th class="num">pid</th><th>main class or jar</th><th>Java</th><th>user</th><th class="num">up</th><th /></tr></thead>
          <tbody>
            {targets.map((t) => (
              <tr key={t.pid}>
                <td class="num">{t.pid}</td><td title={t.main}><b>{base(t.main)}</b></td><td>{t.java || "?"}</td><td>{t.user}</td><td class="num">{ago(t.started)}</td>
                <td>
                  {t.attachable
                    ? <button data-pid={t.pid} disabled={busy} onClick={() => attach(t.pid)}>{act.busy === "attach " + t.pid ? "Attaching…" : "Attach"}</button>
                    : <span class="muted">{t.reason}</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {(targets?.length ?? 0) > 0 && (
        <label class="line" title="In the target's shared memory (tmpfs); taken as it is needed. When it is full, new contexts are put together, and the page says so">
          Room for trees
          <select id="memory" value={memory} onChange={(e) => setMemory(Number(e.currentTarget.value))}>
            <option value={128 << 20}>128 MB</option><option value={512 << 20}>512 MB</option><option value={0}>1 GB</option><option value={2047 * 2 ** 20}>2 GB</option>
          </select>
        </label>
      )}
      <h2>Sample server</h2>
      <p>
        A small order-processing server comes with Rivulet: threads, polymorphism, recursion, lambdas, exceptions. It is started, attached to and recorded; it ends with Rivulet.
      </p>
      <p><button id="demo" class={targets?.length ? "" : "primary"} disabled={busy} onClick={demo}>{act.busy === "demo" ? "Starting the sample server…" : "Start the demo"}</button></p>
      {(store.state?.snapshots.length ?? 0) > 0 && (
        <p class="muted">{store.state!.snapshots.length} snapshots of this session are kept. <button onClick={() => { forget(); go({ tab: "tree", source: store.state!.snapshots[0].id }); }} id="reopen">Open them</button></p>
      )}
      <details>
        <summary>How it works</summary>
        <p>
          Choose one method, the root. Everything that it calls, directly or transitively, is instrumented while the JVM runs, and nothing else.
          Calls are counted, not sampled. Stop restores every class and detaches. The JVM goes on as before.
        </p>
      </details>
    </main>
  );
}
