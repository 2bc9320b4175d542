// How to record: filter, scheme, clock, and what is needed less often.

import { useState } from "preact/hooks";
import { store } from "./conn";
import { NumberField } from "./parts";
import type { Recording } from "./model";
import { go, ui, type Setup } from "./ui";

/** choose changes what is to be recorded. */
export function choose(change: Partial<Setup>): void {
  go({ setup: { ...ui.setup, ...change } });
}

/** recording is what the server is asked for. What it does not say is as the server's defaults. */
export function recording(s: Setup) {
  return {
    ...compared(s), scheme: s.scheme, until_calls: Number(s.until) || 0,
    overhead: budget(s.overhead), warmup: s.warmup.trim() || "0", root_times: s.rootTimes, slowest: s.slowest, over: (s.slowest > 0 && s.over.trim()) || "0", timeline: s.timeline, follow: s.follow, cpu: s.cpu, count: s.count,
    every: s.every, ...(s.scheme === "A" || s.scheme === "B" || s.scheme === "C" ? {} : { observe: s.observe.trim() || "0" }),
  };
}

/** compared is what a comparison of schemes and a recording have in common. */
export function compared(s: Setup) {
  return {
    roots: s.roots, clock: s.clock, filter: [...(s.jdk ? ["--jdk"] : []), ...s.filter],
    natives: s.natives, recursion: s.recursion, probes: s.probes, leaves: s.leaves, modes: s.modes, memory: s.memory, agents: s.agents, patience: s.patience.trim() || "auto",
  };
}

/** takeDefaults begins with what the command line said, once. */
export function takeDefaults(d: Recording): void {
  const none = (text: string) => (text === "0" ? "" : text);
  choose({
    taken: true, scheme: d.scheme, clock: d.clock, until: d.until_calls ? String(d.until_calls) : "", filter: d.filter.filter((r) => r !== "--jdk"), jdk: d.filter.includes("--jdk"),
    natives: d.natives, recursion: d.recursion, probes: d.probes, overhead: d.overhead === "0%" ? "" : d.overhead, warmup: none(d.warmup), rootTimes: d.root_times, slowest: d.slowest, over: none(d.over), timeline: d.timeline, follow: d.follow,
    cpu: d.cpu, count: d.count, leaves: d.leaves, modes: d.modes, memory: d.memory, agents: d.agents, every: d.every, observe: d.observe, patience: d.patience === "auto" ? "" : d.patience,
  });
}

export function Setup() {
  const s = ui.setup;
  return (
    <>
      <Filter />
      <fieldset>
        <legend>Scheme</legend>
        <Choice name="scheme" value={s.scheme} set={(scheme) => choose({ scheme })} options={[
          ["auto", "auto", "D where the JVM tells which methods are active and the roots are called often; else C, or A for very large subgraphs"],
          ["D", "what is active (D)", "Observe, instrument what is active within reach, watch the rest; no thread of the program waits"],
          ["C", "as called + look ahead (C)", "What a method calls is instrumented when it is entered for the first time, with what is near"],
          ["B", "as called (B)", "Without a look ahead: more steps, and no method but direct callees"],
          ["A", "all at once (A)", "Everything reachable among the loaded classes, before recording"],
        ]} />
      </fieldset>
      <fieldset>
        <legend>Timing</legend>
        <Choice name="clock" value={s.clock} set={(clock) => choose({ clock })} options={[
          ["tick", "low overhead (tick)", "A clock kept by Rivulet; some nanoseconds a call; short times are uncertain, and say so"],
          ["precise", "exact timing, slow (precise)", "System.nanoTime; some 45 ns a call; for short recordings"],
        ]} />
      </fieldset>
      <fieldset>
        <legend>Other threads</legend>
        <label class="radio">
          <input type="checkbox" id="follow" checked={s.follow} onChange={(e) => choose({ follow: e.currentTarget.checked })} /> follow async tasks
          <small class="muted">To threads, executors, fork/join, completable futures, timers: what a task does is shown below the method that submitted it, with how long it waited in the queue</small>
        </label>
      </fieldset>
      <More />
    </>
  );
}

function Choice({ name, value, set, options }: { name: string; value: string; set: (v: string) => void; options: [string, string, string][] }) {
  return (
    <>
      {options.map(([v, label, text]) => (
        <label class="radio" key={v}><input type="radio" name={name} value={v} checked={value === v} onChange={() => set(v)} /> {label} <small class="muted">{text}</small></label>
      ))}
    </>
  );
}

/** executing are the ways to count instructions, of which there is one at a time; "" for none. */
function executing(): string {
  return ui.setup.count.find((name) => !["allocations", "survivors", "classes", "contention", "heap"].includes(name)) ?? "";
}

/** countAnew changes what is counted. It goes by what was chosen last, which may not have been drawn yet. */
function countAnew(without: string[], more: string[]): void {
  choose({ count: [...ui.setup.count.filter((n) => !without.includes(n)), ...more] });
}

/** Filter edits the rules; their order counts. */
function Filter() {
  const s = ui.setup;
  const [text, setText] = useState("");
  const add = (kind: string) => {
    if (text.trim()) (choose({ filter: [...ui.setup.filter, kind + " " + text.trim()] }), setText(""));
  };
  /** up moves a rule before the one above it: by what is chosen now, which may not have been drawn yet. */
  const up = (rule: string) => {
    const now = ui.setup.filter, i = now.indexOf(rule);
    if (i > 0) choose({ filter: now.map((r, k) => (k === i - 1 ? now[i] : k === i ? now[i - 1] : r)) });
  };
  return (
    <fieldset class="filter">
      <legend>Filter</legend>
      <p class="line">
        <input id="rule" value={text} placeholder="shop.log.** or shop.**.get*" aria-label="Pattern of classes or methods" spellcheck={false}
          onInput={(e) => setText(e.currentTarget.value)} onKeyDown={(e) => e.key === "Enter" && add("--exclude")} />
        <button id="exclude" disabled={!text.trim()} onClick={() => add("--exclude")}>Exclude</button>
        <button id="include" disabled={!text.trim()} onClick={() => add("--include")}>Include</button>
      </p>
      {s.filter.length > 0 && (
        <ol class="chosen" aria-label="Rules; the last that matches decides">
          {s.filter.map((r, i) => (
            <li key={i + r}>
              <span><span class="muted">{r.startsWith("--include") ? "include" : "exclude"}</span> <code>{r.slice(10)}</code></span>
              <span class="nowrap">
                {i > 0 && <button class="plain" aria-label={"Move up " + r} title="Earlier: the last rule that matches decides" onClick={() => up(r)}>↑</button>}{" "}
                <button class="plain" aria-label={"Remove " + r} onClick={() => choose({ filter: ui.setup.filter.filter((o) => o !== r) })}>✕</button>
              </span>
            </li>
          ))}
        </ol>
      )}
      {s.filter.length === 0 && <p class="hint">The application's methods, all of them. com.acme.* is a package, com.acme.** those below it too, com.acme.Foo.get* methods; an excluded method's time is its caller's.</p>}
      <label class="radio"><input type="checkbox" id="jdk" checked={s.jdk} onChange={(e) => choose({ jdk: e.currentTarget.checked })} /> the JDK's methods too, except the JDK classes Rivulet needs</label>
    </fieldset>
  );
}

/** budget is what was entered as the server takes it: "5 %", "5%" and "5" are the same. */
function budget(text: string): string {
  const t = text.replace(/\s|%/g, "");
  return t ? t + "%" : "0%";
}

/** Modes edits the rules that give methods a mode of their own; their order counts. */
function Modes() {
  const s = ui.setup;
  const [text, setText] = useState("");
  const [mode, setMode] = useState("counted");
  const add = () => {
    if (text.trim()) (choose({ modes: [...ui.setup.modes, text.trim() + "=" + mode] }), setText(""));
  };
  return (
    <div class="modes">
      <p class="line wrap">
        <label for="mode-pattern">Mode for</label>
        <input id="mode-pattern" value={text} placeholder="shop.util.*" aria-label="Pattern of methods with a mode of their own" spellcheck={false}
          onInput={(e) => setText(e.currentTarget.value)} onKeyDown={(e) => e.key === "Enter" && add()} />
        <select id="mode" value={mode} aria-label="Their mode" onChange={(e) => setMode(e.currentTarget.value)}>
          <option value="off">off</option><option value="counted">counted only</option><option value="tick">low overhead timing</option><option value="precise">exact timing</option>
        </select>
        <button id="add-mode" disabled={!text.trim()} onClick={add}>Add</button>
      </p>
      {s.modes.length > 0 && (
        <ol class="chosen" id="modes" aria-label="Modes; the last rule that matches holds">
          {s.modes.map((r, i) => (
            <li key={i + r}>
              <span><span class="muted">{r.slice(r.lastIndexOf("=") + 1)}</span> <code>{r.slice(0, r.lastIndexOf("="))}</code></span>
              <button class="plain" aria-label={"Remove " + r} onClick={() => choose({ modes: ui.setup.modes.filter((o) => o !== r) })}>✕</button>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

function More() {
  const s = ui.setup;
  const executed = executing();
  const changed = s.natives !== "on" || s.rootTimes !== "on" || s.recursion !== "expand" || s.probes !== "auto" || s.leaves !== "counted" || s.cpu || s.count.length > 0 || s.modes.length > 0 || s.overhead !== "" || s.warmup !== "" || s.slowest > 0 || s.timeline || s.until !== "" || s.memory !== 0 || s.every > 1 || s.observe !== store.state?.defaults.observe || s.patience !== "" || s.agents;
  return (
    <details class="more" open={changed}>
      <summary>More: single invocations, time on a core, bytecodes, modes, short methods, natives, recursion, probes, some root calls, patience, agents, ignore first, memory limit</summary>
      <label class="radio">
        <input type="checkbox" id="keep-slowest" checked={s.slowest > 0} onChange={(e) => choose({ slowest: e.currentTarget.checked ? 20 : 0, ...(e.currentTarget.checked ? { recursion: "expand" } : {}) })} /> keep the slowest invocations, each with its own tree
        <small class="muted">Also records events, which costs some nanoseconds more for each call</small>
      </label>
      {s.slowest > 0 && (
        <p class="line inset">
          <label>how many <NumberField value={s.slowest} most={1000} set={(slowest) => choose({ slowest })} /></label>
          <label>over <input value={s.over} placeholder="50ms" onInput={(e) => choose({ over: e.currentTarget.value })} /></label>
        </p>
      )}
      <label class="radio">
        <input type="checkbox" id="timeline" checked={s.timeline} onChange={(e) => choose({ timeline: e.currentTarget.checked, ...(e.currentTarget.checked ? { recursion: "expand" } : {}) })} /> keep a timeline of single invocations
        <small class="muted">Also records events</small>
      </label>
      <label class="radio">
        <input type="checkbox" id="cpu" checked={s.cpu} onChange={(e) => choose({ cpu: e.currentTarget.checked })} /> tell computing from waiting
        <small class="muted">Samples how long threads are on a core, at no cost to the JVM except a thread dump now and then; exported reports show it</small>
      </label>
      <label class="radio">
        <input type="checkbox" id="bytecodes" checked={executed !== ""} onChange={(e) => countAnew([executing()], e.currentTarget.checked ? ["bytecodes"] : [])} /> count the bytecodes that each call path executes
        <small class="muted">Exact, and the same on every machine; costs a few percent more</small>
      </label>
      {executed !== "" && (
        <p class="line inset">
          <label>of which kind <select id="executed" value={executed} onChange={(e) => countAnew([executing()], [e.currentTarget.value])}>
            <option value="bytecodes">all of them</option>
            <option value="blocks">all, by whole blocks: less code, too many where exceptions leave blocks</option>
            <option value="invokes">invokes: calls of methods with probes and without</option>
            <option value="accesses">accesses to fields and arrays</option>
            <option value="arithmetic">arithmetic, conversions and comparisons</option>
            <option value="branches">branches: jumps and switches</option>
          </select></label>
        </p>
      )}
      <label class="radio">
        <input type="checkbox" id="allocations" checked={s.count.includes("allocations")} onChange={(e) => countAnew(["allocations"], e.currentTarget.checked ? ["allocations"] : [])} /> count the objects and arrays that each call path allocates, by type
        <small class="muted">With their bytes in this JVM; objects that the compiler removes count, too</small>
      </label>
      <label class="radio">
        <input type="checkbox" id="survivors" checked={s.count.includes("survivors")} onChange={(e) => countAnew(["survivors"], e.currentTarget.checked ? ["survivors"] : [])} /> estimate what of these survives garbage collections, and stays
        <small class="muted">Follows some of the objects, without keeping any alive</small>
      </label>
      <label class="radio">
        <input type="checkbox" id="heap-samples" checked={s.count.includes("heap")} onChange={(e) => countAnew(["heap"], e.currentTarget.checked ? ["heap"] : [])} /> estimate what of these is on the heap, and what the JDK allocates for each call path
        <small class="muted">By the JVM's own samples (Flight Recorder, JDK 16 and later), known when the recording ends; the difference is what the compiler has removed</small>
      </label>
      <label class="radio">
        <input type="checkbox" id="classes" checked={s.count.includes("classes")} onChange={(e) => countAnew(["classes"], e.currentTarget.checked ? ["classes"] : [])} /> count the classes that each call path causes to be loaded, and how long that takes
        <small class="muted">Starts Flight Recorder; the times are known when the recording ends</small>
      </label>
      <label class="radio">
        <input type="checkbox" id="contention" checked={s.count.includes("contention")} onChange={(e) => countAnew(["contention"], e.currentTarget.checked ? ["contention"] : [])} /> count how often and how long each call path waits for locks
        <small class="muted">Monitors and the locks of java.util.concurrent, by Flight Recorder; known when the recording ends</small>
      </label>
      <Modes />
      <dl class="fields">
        <div>
          <dt><label for="leaves">Short methods</label></dt>
          <dd><select id="leaves" value={s.leaves} title="Methods that call nothing, such as getters" onChange={(e) => choose({ leaves: e.currentTarget.value })}>
            <option value="counted">counted; their time is their callers'</option><option value="timed">timed as all others</option>
          </select></dd>
        </div>
        <div>
          <dt><label for="natives">Native methods</label></dt>
          <dd><select id="natives" value={s.natives} onChange={(e) => choose({ natives: e.currentTarget.value })}>
            <option value="on">where they are called</option><option value="all">intrinsics too, such as Math.max</option><option value="off">none</option>
          </select></dd>
        </div>
        <div>
          <dt><label for="roottimes">Root calls</label></dt>
          <dd><select id="roottimes" value={s.rootTimes} title="Percentiles, a histogram, and when the slowest ones were" onChange={(e) => choose({ rootTimes: e.currentTarget.value })}>
            <option value="on">each is timed</option><option value="off">not timed one by one</option>
          </select></dd>
        </div>
        <div>
          <dt><label for="recursion">Recursion</label></dt>
          <dd><select id="recursion" value={s.recursion} onChange={(e) => choose({ recursion: e.currentTarget.value })}>
            <option value="expand">a row for each level</option><option value="fold" disabled={s.slowest > 0 || s.timeline}>folded while recording</option>
          </select></dd>
        </div>
        <div>
          <dt><label for="probes">Probes</label></dt>
          <dd><select id="probes" value={s.probes} onChange={(e) => choose({ probes: e.currentTarget.value })}>
            <option value="auto">inlined, but not in big subgraphs</option><option value="inlined">inlined by the JVM's compiler</option><option value="called">called</option>
          </select></dd>
        </div>
        <div>
          <dt><label for="overhead">Most overhead</label></dt>
          <dd><input id="overhead" value={s.overhead} placeholder="any; 5 %" title="Records less if the program would be slowed down by more than this" onInput={(e) => choose({ overhead: e.currentTarget.value })} /></dd>
        </div>
        <div>
          <dt><label for="every">Root calls recorded</label></dt>
          <dd>one of <NumberField id="every" value={s.every} most={1e9} set={(every) => choose({ every })} /></dd>
        </div>
        <div>
          <dt><label for="patience">Wait for probes</label></dt>
          <dd><input id="patience" value={s.patience} placeholder="auto; 50ms" title="For how long a root call waits for probes in all" onInput={(e) => choose({ patience: e.currentTarget.value })} /></dd>
        </div>
        <div>
          <dt><label for="observe">Observe before</label></dt>
          <dd><input id="observe" value={s.observe} placeholder="not at all; 2s" disabled={s.scheme === "A" || s.scheme === "B" || s.scheme === "C"} title="For how long the target is observed before it is instrumented, with scheme D" onInput={(e) => choose({ observe: e.currentTarget.value })} /></dd>
        </div>
        <div>
          <dt><label for="agents">Agents' code</label></dt>
          <dd><label class="radio"><input type="checkbox" id="agents" checked={s.agents} onChange={(e) => choose({ agents: e.currentTarget.checked })} /> gets probes, too</label></dd>
        </div>
        <div>
          <dt><label for="warmup">Ignore first</label></dt>
          <dd><input id="warmup" value={s.warmup} placeholder="none; 5s, or 500 root calls" onInput={(e) => choose({ warmup: e.currentTarget.value })} /></dd>
        </div>
        <div>
          <dt><label for="until">Stop after</label></dt>
          <dd><input id="until" type="number" min="1" value={s.until} placeholder="∞" onInput={(e) => choose({ until: e.currentTarget.value })} /> root calls</dd>
        </div>
        <div>
          <dt><label for="memory">Memory limit</label></dt>
          <dd><select id="memory" value={s.memory} title="In the target's shared memory (tmpfs); allocated as needed. When it is full, calls on new paths are counted by method, and the page says so" onChange={(e) => choose({ memory: Number(e.currentTarget.value) })}>
            {![0, 128 << 20, 512 << 20, 2047 * 2 ** 20].includes(s.memory) && <option value={s.memory}>{Math.round(s.memory / 2 ** 20)} MB</option>}
            <option value={128 << 20}>128 MB</option><option value={512 << 20}>512 MB</option><option value={0}>1 GB</option><option value={2047 * 2 ** 20}>2 GB</option>
          </select></dd>
        </div>
      </dl>
    </details>
  );
}
