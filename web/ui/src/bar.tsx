// The bar at the top: what is attached, its state, what can be done, and the
// figures that matter all the time.

import { useState } from "preact/hooks";
import { api, offline, store } from "./conn";
import { useAction, useStore } from "./hooks";
import { base, bytes, clockName, count, percent, plural, schemeName, short, time } from "./format";
import type { Governor, Recording, State } from "./model";
import { ErrorLine } from "./parts";
import { SampledFigures } from "./sampled";
import { figures, focusView, forget, go, looked, showsTabs, ui, type Tab } from "./ui";

const words: Record<string, string> = {
  idle: "no JVM attached", attaching: "attaching…", attached: "attached", starting: "calibrating and instrumenting…", recording: "recording",
  stopping: "stopping: restoring classes…", stopped: "stopped, target restored", comparing: "comparing schemes",
};

/** stopped says how the target was left: only where Rivulet has ended the recording, it has restored anything. */
function stopped(ended = ""): string {
  if (ended.includes("exited")) return "the target has exited";
  return ended.includes("agent") ? "stopped: " + ended : words.stopped;
}

let byKeys: ReturnType<typeof useAction> | null = null; // what the bar's buttons run and show

const waiting = new Set<string>(); // what keys have asked for and is not done yet
let asked: Promise<unknown> = Promise.resolve(); // the last of them

/**
 * byKey does what a button of the bar does: errors are shown there. It waits for what is
 * being done, so that no key is lost; the same again is not done twice.
 */
export function byKey(what: string, f: () => Promise<unknown>): void {
  if (waiting.has(what)) return;
  waiting.add(what);
  asked = asked.then(async () => {
    while (byKeys?.busy) await new Promise((r) => setTimeout(r, 20));
    await byKeys?.run(what, f);
  }).finally(() => waiting.delete(what));
}

export async function start(recording: unknown, tab: Tab = "tree"): Promise<void> {
  forget();
  await api("start", recording);
  go({ source: 0, compared: 0, tab, picking: false });
  focusView();
}

/** RecordAgain records the same roots with what was left out the last time. */
export function RecordAgain({ change, tab, label }: { change: Partial<Recording>; tab: Tab; label: string }) {
  const act = useAction();
  const s = store.state;
  if (!s || ui.source !== 0 || s.phase !== "recording" && s.phase !== "stopped" || s.recording.roots.length === 0) return null;
  const again = async () => {
    if (s.phase === "recording") await api("stop", {});
    await start({ ...s.recording, ...change }, tab);
  };
  return (
    <>
      <p><button id="record-with" disabled={!!act.busy} onClick={() => act.run("again", again)}>{act.busy ? "Starting…" : label}</button></p>
      <ErrorLine text={act.error} close={act.clear} />
    </>
  );
}

/** shows is what the controls beside it don't say. */
function shows(s: State): string {
  if (s.phase === "comparing") return "· schemes " + s.comparing?.schemes.join(", ");
  const known = s.phase === "recording" && s.actions.includes("clock");
  return (known || !s.figures ? "" : `· ${schemeName(s.recording.scheme)} · ${clockName(s.recording.clock)}`) + (s.recording.follow ? " · following async tasks" : "");
}

/** Reset forgets what was recorded so far, so it asks first. */
function Reset({ run }: { run: () => Promise<void> }) {
  const [sure, setSure] = useState(false);
  return (
    <button id="reset" class={sure ? "danger" : ""} title="Forgets what was recorded so far. Save snapshot keeps it" onBlur={() => setSure(false)}
      onClick={() => { setSure(!sure); if (sure) void run(); }}>{sure ? "Forget all so far?" : "Reset"}</button>
  );
}

export function Bar({ help, theme }: { help: () => void; theme: () => void }) {
  useStore();
  const act = (byKeys = useAction());
  const [scheme, setScheme] = useState("");
  const s = store.state;
  const phase = s?.phase ?? "idle";
  const live = phase === "recording";
  const sampled = s?.figures?.sampling !== undefined;
  return (
    <header class="bar">
      <div class="top">
        <h1>Rivulet</h1>
        {s?.target && (
          <span class="target" title={s.target.main + "\n" + s.target.vm}>
            <b>{base(s.target.main)}</b> <span class="muted">pid {s.target.pid}, Java {s.target.java || "?"}</span>
          </span>
        )}
        <span class={"phase " + phase + (s?.paused || (s?.warming && live) ? " paused" : "")} role="status">{s?.paused ? "paused" : s?.warming && live ? "warming up" : sampled && live ? "sampling" : phase === "stopped" ? stopped(s?.ended) : words[phase]}</span>
        {s && s.recording.roots.length > 0 && (
          <span class="roots muted" title={s.recording.roots.join("\n")}>
            {s.recording.roots.map((r) => r.replace(/\(.*/, "").split(".").slice(-2).join(".")).join(", ")} {shows(s)}
          </span>
        )}
        <span class="acts">
          {phase === "comparing" && <button class="primary stop" id="stop" disabled={!!act.busy} onClick={() => act.run("stop", () => api("stop", {}))}>End</button>}
          {live && <button class="primary stop" id="stop" disabled={!!act.busy} onClick={() => act.run("stop", () => api("stop", {}))}>Stop</button>}
          {live && s!.actions.includes(s!.paused ? "resume" : "pause") && (
            <button onClick={() => act.run("pause", () => api("action", { name: s!.paused ? "resume" : "pause" }))}>{s!.paused ? "Resume" : "Pause"}</button>
          )}
          {live && s!.actions.includes("reset") && <Reset run={() => act.run("reset", () => api("action", { name: "reset" }))} />}
          {live && !sampled && ([["clock", ["tick", "precise"]], ["scheme", ["auto", "A", "B", "C", "D"]]] as const).filter(([name]) => s!.actions.includes(name)).map(([name, values]) => (
            <label class="withscheme" key={name} title={name === "scheme" ? "The recording ends and is kept; another one begins with the same roots" : undefined}><span class="muted">{name === "clock" ? "timing" : name}</span>
              <select id={"switch-" + name} value={s!.recording[name]} disabled={!!act.busy} onChange={(e) => { const value = e.currentTarget.value; void act.run(name, () => api("action", { name, value })); }}>
                {values.map((v) => <option value={v} key={v}>{name === "clock" ? clockName(v) : schemeName(v)}</option>)}
              </select>
            </label>
          ))}
          {live && <button id="save" onClick={() => act.run("save", () => api("save", { name: "" }))}>Save snapshot</button>}
          {phase === "stopped" && s!.recording.roots.length > 0 && (
            <label class="withscheme"><span class="muted">scheme</span>
              <select id="scheme" value={scheme || s!.recording.scheme} onChange={(e) => setScheme(e.currentTarget.value)} aria-label="Scheme of the next recording">
                {["auto", "A", "B", "C", "D"].map((v) => <option value={v} key={v}>{schemeName(v)}</option>)}
              </select>
            </label>
          )}
          {phase === "stopped" && s!.recording.roots.length > 0 && (
            <button class={s!.figures ? "primary" : ""} id="again" disabled={!!act.busy} onClick={() => act.run("start", () => start({ ...s!.recording, scheme: scheme || s!.recording.scheme }))}>{s!.figures ? "Record again" : "Record"}</button>
          )}
          {phase === "stopped" && !sampled && <button disabled={!!act.busy} id="other" onClick={() => act.run("attach", async () => { go({ setup: { ...ui.setup, roots: [] } }); await api("attach", { pid: s!.target!.pid }); go({ picking: true }); })}>Other root</button>}
          {(phase === "attached" || phase === "stopped") && <button id="detach" onClick={() => act.run("detach", async () => { await api("detach", {}); forget(); })}>{phase === "attached" ? "Detach" : "Close"}</button>}
          {s?.target && !ui.inside && (phase === "attached" || phase === "recording" || phase === "stopped") && <button id="inside" title="Its threads, locks, heap and class loads" onClick={() => go({ inside: s.target!.pid, looked: "threads" })}>Look inside</button>}
          <button onClick={theme} title="Light or dark (d)" aria-label="Light or dark">◐</button>
          <button onClick={help} title="Keys and terms (?)" aria-label="Help">?</button>
        </span>
      </div>
      <ErrorLine text={act.error} close={act.clear} />
      {store.link === "down" && <div class="error" role="alert">The connection to Rivulet is gone; trying again. If it was ended, start it anew and open the address that it prints.</div>}
      {phase !== "attached" && <FiguresLine />}
    </header>
  );
}

/** overhead says how a budget is held. */
function overhead(g: Governor): string {
  const less = g.every > 1 ? ` · 1 of ${count(g.every)} root calls` : "";
  const off = g.off.length + g.out.length;
  return `${(100 * g.overhead).toPrecision(2)} % of ${(100 * g.budget).toPrecision(3)} %${less}${off > 0 ? ` · ${plural(off, "method", "methods")} off` : ""}`;
}

/** whyBudget says what was done last for it, and why. */
function whyBudget(g: Governor): string {
  const text = `The program's slow-down as it is estimated, and the budget; over it for ${(100 * g.over_budget_share).toPrecision(2)} % of the time. `;
  const last = g.steps[g.steps.length - 1];
  if (!last) return text + "Nothing had to be lowered.";
  return text + `${plural(g.steps.length, "change", "changes")}; the last one after ${(last.after_ms / 1000).toFixed(1)} s: ${last.action}, at ${(100 * last.overhead).toPrecision(2)} %`;
}

export function FiguresLine() {
  const s = store.state;
  const f = figures();
  if (!s || !f) return null;
  const kept = showsTabs() ? s.snapshots.find((k) => k.id === looked()) : undefined;
  const item = (label: string, value: string, title: string, cls = "") => (
    <div class={"fig " + cls} title={title} key={label}><dt>{label}</dt><dd>{value}</dd></div>
  );
  const live = s.phase === "recording" && !kept;
  if (f.sampling) return <SampledFigures f={f} s={f.sampling} kept={kept} />;
  return (
    <dl class="figures" aria-label={"Figures of the " + (kept ? "snapshot" : "recording")}>
      {kept && item(offline ? "recorded" : "snapshot", `${schemeName(kept.scheme)}, ${clockName(kept.clock)}`, offline ? "What was instrumented when, and the clock" : `All these figures are those of ${kept.name}, taken of ${kept.target}`)}
      {item("calls", count(f.calls), "Calls below the root, the root's own included: exact")}
      {live && item("calls/s", short(f.rate), "Since the last update")}
      {item("root calls", count(f.invocations), `Calls of the roots from outside of the subgraph; ${f.open} still running`)}
      {item("total time (all threads)", time(f.charged), "Sum of all self times over all threads, without the profiler's overhead")}
      {item("duration", f.seconds.toFixed(1) + " s", "Since the roots were armed")}
      {item("methods", `${count(f.called)} called of ${count(f.instrumented)}`, "Of the methods that are instrumented")}
      {item("instrumented", `${plural(f.classes, "class", "classes")}, ${plural(f.batches, "step", "steps")}`, `Each step redefines some classes, ${time(f.redefining)} in all`)}
      {item("longest pause", f.pause === null ? "–" : time(f.pause), "Longest pause that instrumenting caused; – where it was not measured")}
      {item("overhead removed", f.subtracted === null ? "unknown" : time(f.subtracted) + (f.measured > 0 ? ` · ${percent(f.subtracted, f.measured)} %` : ""),
        f.subtracted === null ? "The probes' cost could not be measured in this target: times are as measured" : "The probes' own cost, subtracted from the measured time")}
      {f.governor && item("overhead", overhead(f.governor), whyBudget(f.governor), f.governor.overhead > f.governor.budget ? "warn" : "")}
      {item("paused by Rivulet", time(f.suspended), "How long threads waited for instrumentation by Rivulet, in all; not part of any method's time")}
      {item("call paths", count(f.nodes), "Different paths from the root to a method, with all threads merged")}
      {f.most > 0 && item("memory", `${bytes(f.used)} / ${bytes(f.most)}`, "Shared memory for the tree, taken and the limit", f.used > 0.8 * f.most ? "warn" : "")}
      <div class={"fig " + (f.exact ? "" : "warn")}>
        <dt>counts</dt>
        <dd>{f.exact ? "exact" : <button class="plain" onClick={() => go({ tab: "doubts" })}>not all ▸</button>}</dd>
      </div>
    </dl>
  );
}

/** stopOrAgain is what the key for start and stop does: what is on is to end, or what has ended begins again. */
export function stopOrAgain(): void {
  const on = () => store.state?.phase === "recording" || store.state?.phase === "comparing";
  const stop = on(); // decided when the key is pressed: what a button has stopped meanwhile does not begin again
  byKey("again", async () => {
    const s = store.state;
    if (stop) return on() ? api("stop", {}) : undefined;
    if (s?.phase === "stopped" && s.recording.roots.length > 0 && !ui.picking) await start(s.recording);
  });
}

/** pauseOrResume does so where the session can. */
export async function pauseOrResume(): Promise<void> {
  const name = store.state?.paused ? "resume" : "pause";
  if (store.state?.actions.includes(name)) await api("action", { name });
}
