// Comparing schemes on the attached JVM: what to try, how far it is, and what
// each of them showed, side by side.

import type { ComponentChildren } from "preact";
import { schemeName } from "./format";
import { useEffect, useState } from "preact/hooks";
import { api, changed, store } from "./conn";
import { useAction, useStore } from "./hooks";
import type { Comparison } from "./model";
import { Export } from "./export";
import { ErrorLine, NumberField } from "./parts";
import { choose, compared } from "./setup";
import { SideBySide, advised } from "./sidebyside";
import { start } from "./bar";
import { focusMain, ui } from "./ui";

/** Why the last comparison that was begun here came to nothing: the view that began it has gone meanwhile. */
let problem = "";

async function compare(of: object): Promise<void> {
  problem = "";
  try {
    await api("compare", of);
  } catch (e) {
    problem = (e as Error).message;
  }
  changed();
}

/** lasts is how long a comparison takes, more or less, in seconds. */
const lasts = (seconds: number, schemes: number) => Math.round(Math.min(seconds, 3) + seconds * (1 + schemes) + 3 * (2 + schemes));

/** Schemes is what is chosen before a comparison. */
export function Schemes() {
  useStore();
  const s = ui.setup;
  const busy = store.state?.phase !== "attached";
  const toggle = (k: string) => choose({ schemes: ["A", "B", "C", "D"].filter((x) => (x === k) !== ui.setup.schemes.includes(x)) });
  return (
    <details class="more" id="schemes" open={problem !== ""}>
      <summary>Not sure which scheme? Compare them on this JVM</summary>
      <ErrorLine text={problem} close={() => { problem = ""; changed(); }} />
      <p class="hint">The roots are timed alone, then recorded by one scheme after another; between two the JVM is restored. You see side by side what each of them costs, and which to use.</p>
      <p class="line wrap">
        <span role="group" aria-label="Schemes to compare">
          {["A", "B", "C", "D"].map((k) => <label key={k}><input type="checkbox" checked={s.schemes.includes(k)} onChange={() => toggle(k)} />{k} </label>)}
        </span>
        <label><NumberField id="seconds" value={s.seconds} most={3600} set={(seconds) => choose({ seconds })} /> s each</label>
        <button id="compare" disabled={busy || s.roots.length === 0 || s.schemes.length === 0} onClick={() => void compare({ ...compared(s), schemes: s.schemes, seconds: s.seconds })}>Compare</button>
      </p>
      <p class="hint">{s.roots.length === 0 ? "Choose a root first." : `Takes some ${lasts(s.seconds, s.schemes.length)} s. The JVM goes on with its work meanwhile.`}</p>
    </details>
  );
}

/** TryAll compares schemes on the roots of the recording that has ended. */
export function TryAll() {
  useStore();
  const s = store.state;
  if (s?.phase !== "stopped" || s.recording.roots.length === 0) return null;
  const { roots, filter, clock, natives, recursion, probes, leaves, modes, memory } = s.recording, { schemes, seconds } = ui.setup;
  return (
    <>
      <button id="try" title={`Schemes ${schemes.join(", ")} on the roots of this recording, for ${seconds} s each`} onClick={() => void compare({ roots, filter, clock, natives, recursion, probes, leaves, modes, memory, schemes, seconds })}>
        Compare schemes on these roots
      </button>
      <ErrorLine text={problem} close={() => { problem = ""; changed(); }} />
    </>
  );
}

/** Comparing is a comparison under way. */
export function Comparing() {
  useStore();
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((n) => n + 1), 250);
    return () => clearInterval(timer);
  }, []);
  const t = store.state?.comparing;
  if (!t) return <main class="page"><p class="muted">Ending…</p></main>;
  const elapsed = Math.max(0, (Date.now() - Date.parse(t.since)) / 1000);
  const steps = ["the roots alone, to warm up", "the roots alone", ...t.schemes.map(schemeName)];
  return (
    <main class="page" id="comparing" aria-label="Comparing schemes">
      <h2>Comparing schemes</h2>
      <p class="muted">Each step attaches, records, restores the JVM, and waits until its compiler is idle. End (r) stops and keeps the results so far.</p>
      <ol class="steps">
        {steps.map((what, i) => {
          const at = i + 1, planned = i === 0 ? Math.min(t.seconds, 3) : t.seconds;
          const part = at < t.step ? 1 : at > t.step ? 0 : planned > 0 ? Math.min(1, elapsed / planned) : 0;
          return (
            <li key={what} class={at === t.step ? "now" : at < t.step ? "done" : ""} aria-current={at === t.step ? "step" : undefined}>
              <span class="check" aria-hidden="true">{at < t.step ? "✓" : at === t.step ? "▸" : ""}</span>
              <span class="what">{what}</span>
              <progress max={1} value={part} aria-label={what} />
              <span class="muted">{at < t.step ? "done" : at > t.step ? "" : planned > 0 && elapsed <= planned ? `${elapsed.toFixed(0)} of ${planned} s` : "restoring, and letting it rest"}</span>
            </li>
          );
        })}
      </ol>
      {t.sofar && t.sofar.schemes.length > 0 && <SideBySide c={t.sofar} sofar />}
    </main>
  );
}

/** Schemed is a comparison that has been kept. */
export function Schemed({ id, what }: { id: number; what: ComponentChildren }) {
  useStore();
  const [c, setC] = useState<Comparison | null>(null);
  const act = useAction();
  useEffect(() => { void act.run("load", async () => setC(await api<Comparison>("report?source=" + id))); }, [id]);
  const s = store.state;
  const best = c && advised(c);
  const here = s?.phase === "stopped" && s.compared === id;
  return (
    <div class="split scroll" data-main tabIndex={-1} ref={focusMain} role="region" aria-label="Comparison of schemes">
      <div class="sourcebar">
        {what}
        {here && best && <button class="primary" id="record" disabled={!!act.busy} onClick={() => act.run("start", () => start({ ...s.recording, scheme: best }))}>Record with {best}</button>}
        <Export source={id} label="Export" act={act} comparison />
      </div>
      <ErrorLine text={act.error} close={act.clear} />
      {c && (
        <>
          <p class="advice" role="status">{c.advice}</p>
          <SideBySide c={c} />
          {c.notes.length > 0 && <ul class="notes">{c.notes.map((n) => <li key={n}>{n}</li>)}</ul>}
          <p class="muted wide">
            {c.command ? <>Whole runs of <code>{c.command.join(" ")}</code>. </> : <>Of {c.target.main.replace(/^.*\//, "")}, pid {c.target.pid}, Java {c.target.java}. </>}
            Roots: <code>{c.roots.join(", ")}</code>. The {c.clock} clock. What differs by some percent is alike.
          </p>
        </>
      )}
    </div>
  );
}
