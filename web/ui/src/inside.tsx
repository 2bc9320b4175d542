// What goes on in a JVM, without a recording: its threads, locks, heap and class loads.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { api, store } from "./conn";
import { bytes, clock, count, percent, plural, time } from "./format";
import { useStore } from "./hooks";
import { HeapView } from "./heapview";
import { Listing, Stack } from "./listing";
import { Loads } from "./loadsview";
import { inside, type Answer, type Answers, type Deadlock, type Group, type LockRow, type Query, type Step, type ThreadRow, type Track, type What } from "./look";
import { ErrorLine, NumberField } from "./parts";
import { go, insides, recordings, ui } from "./ui";

/** A look is one that goes on, or has ended. */
interface Looked<W extends What> { answer: Answer<Answers[W]> | null; busy: boolean; step: string; said: string[]; error: string; look: (q: Omit<Query, "pid" | "what">) => Promise<void>; clear: () => void }

/** useLook has the last look of a kind into the JVM, and takes new ones, the first by itself; it ends with the view. */
function useLook<W extends What>(what: W, first?: Omit<Query, "pid" | "what">): Looked<W> {
  const pid = ui.inside;
  const [answer, setAnswer] = useState<Answer<Answers[W]> | null>(null);
  const [busy, setBusy] = useState(!!first); // from the beginning, so that no click comes before it
  const [step, setStep] = useState("");
  const [said, setSaid] = useState<string[]>([]);
  const [error, setError] = useState("");
  const gone = useRef<AbortController | null>(null);
  const look = async (q: Omit<Query, "pid" | "what">) => {
    const end = (gone.current = new AbortController());
    setBusy(true);
    setError("");
    setSaid([]);
    setStep("");
    try {
      const got = await inside<W>({ ...q, pid, what }, (s: Step) => s.text
        ? setSaid((all) => [...all, s.text!])
        : setStep((s.phase ?? "") + (s.total ? ` ${percent(s.done ?? 0, s.total)} %` : s.done ? " " + bytes(s.done) : "")), end.signal);
      if (!end.signal.aborted) (setAnswer(got), setSaid(got.said));
    } catch (e) {
      if (!end.signal.aborted) setError(e instanceof Error ? e.message : String(e));
    } finally {
      if (!end.signal.aborted) setBusy(false);
    }
  };
  useEffect(() => {
    let here = true;
    api<Answer<Answers[W]> | null>(`inside?pid=${pid}&what=${what}`).then((a) => here && setAnswer((now) => now ?? a), (e: Error) => here && setError(e.message)); // null: nobody has looked yet
    return () => ((here = false), gone.current?.abort());
  }, [pid, what]);
  useEffect(() => void (first && look(first)), []);
  return { answer, busy, step, said, error, look, clear: () => setError("") };
}

/** Going is the line below the controls: what is being done, or when it was. */
function Going<W extends What>({ of, can }: { of: Looked<W>; can?: boolean }) {
  return (
    <>
      <ErrorLine text={of.error} close={of.clear} />
      <p class="line going" role="status">
        {of.busy ? <><span>{of.step || "Looking…"}</span>{can && <button id="look-end" onClick={() => void api("inside/end", {}).catch(() => undefined)}>End now</button>}</>
          : of.answer && <span class="muted">As of {clock(of.answer.taken)}</span>}
      </p>
      {of.said.map((s) => <p class="hint" key={s}>{s}</p>)}
    </>
  );
}

function Notes({ notes }: { notes: string[] }) {
  return <>{notes.map((n) => <p class="hint" key={n}>{n}</p>)}</>;
}

const words = (state: string) => state.toLowerCase().replaceAll("_", " ");

export function Deadlocks({ all, none }: { all: Deadlock[] | null; none?: boolean }) {
  if (!all || all.length === 0) return none && all ? <p id="no-deadlock">No deadlock.</p> : null;
  return (
    <>
      {all.map((d, i) => (
        <section class="deadlock" aria-label="Deadlock" key={i}>
          <h2>Deadlock of {plural(d.threads.length, "thread", "threads")}</h2>
          {d.threads.map((t, k) => (
            <div key={t.thread}>
              <p><b>{t.thread}</b> waits for <code>{t.waits_for}</code> of <b>{d.threads[(k + 1) % d.threads.length].thread}</b>, and holds <code>{t.holds}</code></p>
              <Stack frames={t.stack ?? []} />
            </div>
          ))}
        </section>
      ))}
    </>
  );
}

function Groups({ groups, one, many }: { groups: Group[]; one: string; many: string }) {
  const most = 100;
  return (
    <>{groups.slice(0, most).map((g, i) => (
      <details class="group" key={i}>
        <summary>{plural(g.threads.length, one, many)} {words(g.state)}{g.stack?.[0] ? <> at <code>{g.stack[0]}</code></> : ""}</summary>
        <p class="hint">{g.threads.slice(0, 40).join(", ")}{g.threads.length > 40 ? ", …" : ""}</p>
        <Stack frames={g.stack ?? []} />
      </details>
    ))}
    {groups.length > most && <p class="muted">{plural(groups.length - most, "more place", "more places")}</p>}</>
  );
}

const stateNames: Record<string, string> = { R: "on a core", r: "runnable, not on a core", B: "blocked", w: "waiting", t: "waiting with a limit" };

/** runs are the parts of a thread's line in which its state stays the same. */
function runs(states: string): [string, number][] {
  return [...states.matchAll(/(.)\1*/g)].map((m) => [m[1], m[0].length]);
}

const times = (states: string, letter: string) => states.split(letter).length - 1;

function States({ of }: { of: { moments_ns: number[]; threads: Track[] } }) {
  const whole = of.moments_ns.length;
  return (
    <>
      <h2>What each thread did in {time(of.moments_ns[whole - 1] ?? 0)}</h2>
      <p class="hint">{Object.entries(stateNames).map(([l, name]) => <span key={l}><span class={"swatch state-" + l} /> {name} </span>)}</p>
      <Listing id="states" label="States of threads" rows={of.threads} by={0} columns={[
        { label: "On a core", cls: "num", of: (t) => times(t.states, "R"), show: (t) => percent(times(t.states, "R"), whole) + " %" },
        { label: "Blocked", cls: "num", of: (t) => times(t.states, "B"), show: (t) => percent(times(t.states, "B"), whole) + " %" },
        { label: "States", cls: "statescol", of: (t) => times(t.states, "B"), show: (t) => <span class="states" role="img" aria-label={Object.entries(stateNames).filter(([l]) => t.states.includes(l)).map(([l, name]) => `${percent(times(t.states, l), whole)} % ${name}`).join(", ")}>
          {runs(t.states).map(([l, n], i) => <span key={i} class={l === " " ? "" : "state-" + l} style={{ width: (100 * n) / whole + "%" }} />)}</span> },
        { label: "Thread", of: (t) => t.thread, show: (t) => <b>{t.thread}</b> },
      ]} detail={(t) => <ol class="stack">{t.places.map((p, i) => <li key={i}>{percent(p.count, whole)} % {stateNames[p.state]} at {p.method}</li>)}</ol>} />
    </>
  );
}

function ThreadsInside() {
  const l = useLook("threads", { seconds: 0 });
  const r = l.answer?.result;
  const owner = new Map(r?.threads.flatMap((t) => (t.holds ?? []).map((h) => [h.address, t.thread] as const)));
  const cpu = (t: ThreadRow) => r!.seconds > 0 ? t.cpu_share : t.cpu_ns;
  const waits = (t: ThreadRow) => t.waits_for ? t.waits_for.class + (owner.has(t.waits_for.address) && owner.get(t.waits_for.address) !== t.thread ? " of " + owner.get(t.waits_for.address) : "") : "";
  const alike = (r?.groups ?? []).filter((g) => g.threads.length > 1);
  return (
    <>
      <p class="line"><button id="look-again" disabled={l.busy} onClick={() => l.look({ seconds: 0 })}>Look again</button>
        <button id="look-cpu" disabled={l.busy} onClick={() => l.look({ seconds: 2 })}>Who uses the processors now (2 s)</button>
        <button id="look-states" disabled={l.busy} onClick={() => l.look({ seconds: 10, timeline: true })}>What each does in 10 s</button></p>
      <p class="hint">Read from outside: nothing stops. Where that can't be, or virtual threads are in use, by thread dumps, for each of which all threads stand still for some milliseconds.</p>
      <Going of={l} can={l.step !== ""} />
      {r && (
        <>
          <Deadlocks all={r.deadlocks} />
          {r.timeline && <States of={r.timeline} />}
          <Listing id="threads" label="Threads" rows={r.threads.filter((t) => t.state)} by={0} columns={[
            { label: r.seconds > 0 ? "CPU now" : "CPU", title: r.seconds > 0 ? `Share of a core in ${r.seconds} s` : "Since the thread started", cls: "num", of: cpu, show: (t) => r.seconds > 0 ? percent(t.cpu_share, 1) + " %" : t.cpu_ns < 0 ? "?" : time(t.cpu_ns) },
            { label: "State", of: (t) => words(t.state) }, { label: "Waits for", of: waits }, { label: "At", of: (t) => t.stack?.[0] ?? "" },
            { label: "Thread", of: (t) => t.thread, show: (t) => <b>{t.thread}</b> },
          ]} detail={(t) => <><p class="muted">id {t.id}, native id {t.nid}{t.daemon ? ", daemon" : ""}{t.holds && t.holds.length > 0 ? ", holds " + t.holds.map((h) => `${h.class} ${h.address}`).join(", ") : ""}</p><Stack frames={t.stack ?? []} /></>} />
          {alike.length > 0 && <><h2>At the same place</h2><Groups groups={alike} one="thread" many="threads" /></>}
          {r.virtual.count > 0 && <><h2>{plural(r.virtual.count, "virtual thread", "virtual threads")}</h2><Groups groups={r.virtual.groups ?? []} one="virtual thread" many="virtual threads" /></>}
          <Notes notes={r.notes} />
        </>
      )}
    </>
  );
}

function LocksInside() {
  const l = useLook("locks", { seconds: 0 });
  const [seconds, setSeconds] = useState(10);
  const [exact, setExact] = useState(false);
  const r = l.answer?.result;
  const owner = (x: LockRow) => x.owner || (x.owner_thread ? "thread " + x.owner_thread : "");
  return (
    <>
      <p class="line wrap"><button id="look-contention" class="primary" disabled={l.busy} onClick={() => l.look({ seconds, exact })}>Who waits for whom</button>
        <label>for <NumberField id="lock-seconds" value={seconds} most={300} set={setSeconds} /> s</label>
        <label title="Loads Flight Recorder into a JVM that has not used it yet, which on JDK 8 to 21 throws away compiled code once"><input type="checkbox" id="lock-exact" checked={exact} onChange={(e) => setExact(e.currentTarget.checked)} /> each wait, by Flight Recorder</label>
        <button disabled={l.busy} onClick={() => l.look({ seconds: 0 })}>Only deadlocks</button></p>
      <p class="hint">{exact ? "Each wait is counted and timed. Flight Recorder is loaded into a JVM that has not used it yet: on JDK 8 to 21 that throws away compiled code once." : "Read from outside, twenty times a second: nothing stops. Where that can't be, or virtual threads are in use, by thread dumps, for each of which all threads stand still for some milliseconds. Times are estimates, counts lower bounds."}</p>
      <Going of={l} can />
      {r && (
        <>
          <Deadlocks all={r.deadlocks} none />
          {r.seconds > 0 && <p>Waiting for locks: <b>{time(r.locks.reduce((s, x) => s + x.blocked_ns, 0))}</b> in {r.seconds.toFixed(1)} s</p>}
          {r.seconds > 0 && <Listing id="locks" label="Locks" rows={r.locks} by={0} empty="Nobody waited for a lock." columns={[
            { label: "Waited", cls: "num", of: (x) => x.blocked_ns, show: (x) => time(x.blocked_ns) },
            { label: "±", title: "95 % of estimates are within it", cls: "num", of: (x) => x.error_ns, show: (x) => x.error_ns > 0 ? time(x.error_ns) : "" },
            { label: "Waits", cls: "num", of: (x) => x.count, show: (x) => count(x.count) },
            { label: "Lock", of: (x) => x.class, show: (x) => <span title={x.instance}>{x.class}</span> }, { label: "Owner", title: "What the owner ran, or had entered the lock in", of: owner }, { label: "Waiter", of: (x) => x.waiter },
          ]} detail={(x) => <div class="columns"><div><h3>Who waits for {x.class} {x.instance}</h3><Stack frames={x.waiter_stack} /></div><div><h3>Who has it{x.owner_thread ? ": " + x.owner_thread : ""}</h3><Stack frames={x.owner_stack} empty="Not known: the owner had got it without waiting." /></div></div>} />}
          <Notes notes={r.notes} />
        </>
      )}
    </>
  );
}

function LoadsInside() {
  const l = useLook("loads");
  const [seconds, setSeconds] = useState(10);
  return (
    <>
      <p class="line wrap"><button id="look-loads" class="primary" disabled={l.busy} onClick={() => l.look({ seconds })}>Which classes are loaded, and why</button>
        <label>for <NumberField id="load-seconds" value={seconds} most={300} set={setSeconds} /> s</label></p>
      <p class="hint">By Flight Recorder, which is loaded into a JVM that has not used it yet: on JDK 8 to 21 that throws away compiled code once.</p>
      <Going of={l} can />
      {l.answer && <Loads answer={l.answer.result} />}
    </>
  );
}

function HeapInside() {
  const counted = useLook("histogram"), plan = useLook("plan", {}), dump = useLook("heap");
  const [all, setAll] = useState(false);
  const [source, setSource] = useState(-1);
  const h = counted.answer?.result, p = plan.answer?.result;
  const more = h && h.seconds > 0 ? [{ label: "More", title: `In ${h.seconds} s`, cls: "num", of: (c: { more_bytes: number }) => c.more_bytes, show: (c: { more_bytes: number }) => (c.more_bytes > 0 ? "+" : c.more_bytes < 0 ? "−" : "") + bytes(Math.abs(c.more_bytes)) }] : [];
  const busy = counted.busy || dump.busy;
  const own = store.state?.target?.pid === ui.inside && (store.state.recording.count ?? []).some((c) => c === "allocations" || c === "survivors") && store.state.figures;
  return (
    <>
      <p class="line wrap">
        <button id="look-histogram" disabled={busy} onClick={() => counted.look({ seconds: 0, all })}>Count the objects</button>
        <button id="look-growth" disabled={busy} onClick={() => counted.look({ seconds: 10, all })}>What grows in 10 s</button>
        <button id="look-heap" class="primary" disabled={busy} onClick={() => dump.look({ all, source })}>Dump and analyse</button>
        <label><input type="checkbox" id="heap-all" checked={all} onChange={(e) => setAll(e.currentTarget.checked)} /> dead objects, too</label>
        <label>who allocated, by <select id="heap-source" value={source} onChange={(e) => setSource(Number(e.currentTarget.value))}>
          <option value={-1}>no recording</option>
          {own && <option value={0}>this recording</option>}
          {recordings().map((s) => <option value={s.id} key={s.id}>{s.name}</option>)}
        </select></label>
      </p>
      <p class="hint" id="heap-plan">{p
        ? `For a dump the JVM stands still${all ? "" : ", for a full collection before, too"}: at 300 MB/s, for ${time(p.stops_ns)} at the most. Up to ${bytes(p.need_bytes)} are written into ${p.dir}, and removed afterwards. Counting alone takes about a second${all ? "" : ", for a full collection, too"}.`
        : plan.error || "Looking whether there is room for a dump…"}</p>
      {counted.busy ? <Going of={counted} can /> : counted.error || dump.busy || dump.error ? <><ErrorLine text={counted.error} close={counted.clear} /><Going of={dump} can /></> : <Going of={(dump.answer?.taken ?? "") > (counted.answer?.taken ?? "") ? dump as Looked<What> : counted as Looked<What>} />}
      {dump.answer && <HeapView key={dump.answer.taken} report={dump.answer.result} />}
      {h && (
        <>
          <h2>Objects by class</h2>
          <p><b>{count(h.objects)}</b> objects, <b>{bytes(h.bytes)}</b></p>
          <Listing key={counted.answer!.taken} id="histogram" label="Objects by class" rows={h.classes} by={0} columns={[
            ...more, { label: "Bytes", cls: "num", of: (c) => c.shallow_bytes, show: (c) => bytes(c.shallow_bytes) }, { label: "Objects", cls: "num", of: (c) => c.objects, show: (c) => count(c.objects) },
            { label: "Class", of: (c) => c.class }, { label: "Loaded by", of: (c) => c.loader ?? "" },
          ]} />
          {h.loaders && (
            <>
              <h2>Objects by class loader</h2>
              <Listing key={counted.answer!.taken} id="histogram-loaders" label="Objects by class loader" rows={h.loaders} by={0} columns={[
                ...more, { label: "Bytes", cls: "num", of: (c) => c.shallow_bytes, show: (c) => bytes(c.shallow_bytes) }, { label: "Objects", cls: "num", of: (c) => c.objects, show: (c) => count(c.objects) },
                { label: "Classes", cls: "num", of: (c) => c.classes, show: (c) => count(c.classes) }, { label: "Loader", of: (c) => c.loader || "the JVM's own" },
              ]} />
            </>
          )}
          <Notes notes={h.notes} />
        </>
      )}
    </>
  );
}

const views: Record<(typeof insides)[number][0], () => ComponentChildren> = { threads: ThreadsInside, locks: LocksInside, heap: HeapInside, loads: LoadsInside };

/** Inside looks into the JVM whose number the state has. */
export function Inside() {
  useStore();
  const View = views[ui.looked];
  const s = store.state!;
  const along = (e: KeyboardEvent) => {
    const at = insides.findIndex(([w]) => w === ui.looked), n = insides.length;
    const to = e.key === "ArrowRight" ? (at + 1) % n : e.key === "ArrowLeft" ? (at + n - 1) % n : -1;
    if (to < 0) return;
    go({ looked: insides[to][0] });
    document.getElementById("inside-" + insides[to][0])?.focus();
    e.preventDefault();
  };
  return (
    <>
      <div class="tabs">
        <div role="tablist" aria-label={"Inside process " + ui.inside} onKeyDown={along}>
          {insides.map(([w, label]) => <button role="tab" id={"inside-" + w} key={w} aria-selected={ui.looked === w} tabIndex={ui.looked === w ? 0 : -1} onClick={() => go({ looked: w })}>{label}</button>)}
        </div>
        <span class="beside muted">inside process {ui.inside}</span>
        <button id="leave" onClick={() => go({ inside: 0 })}>{s.phase === "idle" ? "Back to the JVMs" : "Back"}</button>
      </div>
      <main id="view" class="page inside" role="tabpanel" aria-labelledby={"inside-" + ui.looked}><View key={ui.looked + ui.inside} /></main>
    </>
  );
}
