// The JVMs of many hosts: which there are, what came true in them, samples and recordings of all that are selected.

import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "./conn";
import { Groups, Heaps, Locked, type FleetGroups, type FleetHeap, type FleetLocks } from "./fleetlooks";
import { ago, count, plural } from "./format";
import { Listing } from "./listing";
import { steps, type Step } from "./look";
import type { Snapshot } from "./model";
import { ErrorLine, NumberField } from "./parts";
import { open } from "./ui";

interface JVM { pid: number; app: string; main: string; user: string; java: string; started: string; hostname?: string; pod_uid?: string; attachable: boolean; reason?: string; watched?: boolean }
interface Found { node: string; jvm: JVM }
interface Node { name: string; seen?: string }
interface List { jvms: Found[]; nodes: Node[]; away: Node[] }
interface Who { name: string; keys: string[]; local: boolean }
interface Event extends Found { time: string; rule: string; what: string }

interface Looked { heap: FleetHeap; locks: FleetLocks; compare: FleetGroups }
let last: Partial<Looked> = {}; // what was asked last is there again when somebody comes back

const day = 24 * 3600, before = 300; // seconds

/** where is what --select needs for one process. */
const where = (f: Found) => `node=${f.node},pid=${f.jvm.pid}`;

export function Fleet() {
  const [who, setWho] = useState<Who | null>(null);
  useEffect(() => {
    let here = true;
    api<Who | null>("fleet").then((f) => here && setWho(f), () => undefined); // the list of JVMs says that the server is away
    return () => { here = false; };
  }, []);
  return who === null ? null : who.local ? <Here who={who} /> : <Hosts who={who} />;
}

/** Here is for several JVMs of this machine: it asks nothing before somebody opens it. */
function Here({ who }: { who: Who }) {
  const [open, setOpen] = useState(Object.keys(last).length > 0);
  return <details id="several" open={open} onToggle={(e) => setOpen(e.currentTarget.open)}><summary>Several JVMs at once</summary>{open && <Hosts who={who} />}</details>;
}

function Hosts({ who }: { who: Who }) {
  const [select, setSelect] = useState("");
  const [asked, setAsked] = useState(""); // what the list is of
  const [list, setList] = useState<List | null>(null);
  const [events, setEvents] = useState<Event[]>([]);
  const [seconds, setSeconds] = useState(10);
  const [root, setRoot] = useState("");
  const [atOnce, setAtOnce] = useState("");
  const [overhead, setOverhead] = useState("");
  const [wall, setWall] = useState(false);
  const [dead, setDead] = useState(false);
  const [exact, setExact] = useState(false);
  const [by, setBy] = useState("");
  const [found, setFound] = useState(last);
  const [busy, setBusy] = useState("");
  const [step, setStep] = useState("");
  const [said, setSaid] = useState<string[]>([]);
  const [error, setError] = useState("");
  const gone = useRef<AbortController | null>(null);
  useEffect(() => () => gone.current?.abort(), []);

  /** run does one thing, and ends with the view. */
  const run = async (what: string, f: (ask: <T>(q: object) => Promise<T>) => Promise<void>) => {
    const end = (gone.current = new AbortController());
    setBusy(what);
    setError("");
    setSaid([]);
    setStep("");
    const tell = (s: Step) => s.text ? setSaid((all) => [...all, s.text!]) : setStep(s.phase ?? "");
    try {
      await f(async <T,>(q: object) => (await steps<T>("fleet", q, tell, end.signal)).result);
    } catch (e) {
      if (!end.signal.aborted) setError(e instanceof Error ? e.message : String(e));
    } finally {
      if (!end.signal.aborted) setBusy("");
    }
  };
  const look = (rules: string) => run("jvms", async (ask) => {
    setList(await ask<List>({ do: "jvms", select: rules }));
    setAsked(rules);
    if (who.local) return;
    try {
      setEvents(await ask<Event[]>({ do: "events", select: rules, seconds: day }));
    } catch (e) {
      setEvents([]);
      setSaid((all) => [...all, "No events: " + (e as Error).message]); // the role may not see them, say
    }
  });
  useEffect(() => void look(""), []);
  // A node that did not answer may do so soon: it is asked again, without a word.
  useEffect(() => {
    if (busy !== "" || !list || (list.nodes.length > 0 && list.away.length === 0)) return;
    const end = new AbortController();
    const later = setTimeout(() => void steps<List>("fleet", { do: "jvms", select: asked }, () => undefined, end.signal).then((a) => end.signal.aborted || setList(a.result), () => undefined), list.nodes.length > 0 ? 10000 : 3000);
    return () => (clearTimeout(later), end.abort());
  }, [busy, list]);
  const report = (what: string, q: object) => run(what, async (ask) => open(await ask<Snapshot>(q)));
  const answer = <K extends keyof Looked>(what: string, kind: K, q: object) => run(what, async (ask) => setFound((last = { [kind]: await ask<Looked[K]>({ do: kind, ...q }) })));
  const each = { select, seconds, at_once: atOnce };
  const meant = list?.jvms.filter((f) => f.jvm.attachable) ?? [];
  const all = plural(meant.length, "JVM", "JVMs");
  const idle = busy === "" && meant.length > 0 && asked === select;
  return (
    <section id="fleet" aria-label={who.local ? "Several JVMs" : "Fleet"}>
      {!who.local && <h2>JVMs of the fleet <span class="muted">by {who.name}</span></h2>}
      <form class="line" onSubmit={(e) => (e.preventDefault(), void look(select))}>
        <label>Only <input id="fleet-select" size={30} spellcheck={false} autocomplete="off" placeholder={who.local ? "main=*Order*" : "app=orders,zone!=b"} value={select} onInput={(e) => setSelect(e.currentTarget.value.trim())} /></label>
        <button id="fleet-look" disabled={busy !== ""}>{busy === "jvms" ? "Asking…" : asked === select ? "Look again" : "Show these"}</button>
      </form>
      <ErrorLine text={error} close={() => setError("")} />
      {list && list.nodes.length === 0 && <p>No node answers. <code>rivulet node</code> must run on the hosts, with a key of this hub.</p>}
      {list?.away.map((n) => <p class="hint" key={n.name}>Node {n.name} does not answer.</p>)}
      {list && list.nodes.length > 0 && <Listing id="fleet-jvms" label={who.local ? "Selected JVMs" : "JVMs of the fleet"} rows={list.jvms} by={0} empty="No JVM matches." columns={[
        ...(who.local ? [] : [{ label: "Host", of: (f: Found) => f.jvm.pod_uid && f.jvm.hostname || f.node }]),
        { label: "pid", cls: "num", of: (f) => f.jvm.pid, show: (f) => f.jvm.pid },
        { label: "App", of: (f) => f.jvm.app, show: (f) => <b>{f.jvm.app}</b> },
        { label: "Main class or jar", of: (f) => f.jvm.main },
        { label: "Java", of: (f) => f.jvm.java },
        { label: "Up", of: (f) => f.jvm.started, show: (f) => ago(f.jvm.started) },
        { label: who.local ? "Note" : "Kept", title: who.local ? undefined : "Its node keeps samples of it all the time", of: (f) => f.jvm.watched ? "samples" : "", show: (f) => f.jvm.attachable
          ? f.jvm.watched && <button onClick={() => void report("kept", { do: "kept", select: where(f), seconds: before })} disabled={busy !== ""}>Last 5 minutes</button>
          : <span class="muted">{f.jvm.reason}</span> },
      ]} />}
      {list && list.nodes.length > 0 && <>
        <div class="line wrap">
          <label>For <NumberField id="fleet-seconds" value={seconds} most={300} set={setSeconds} /> s</label>
          {!who.local && <label>at once <input id="fleet-at-once" size={5} placeholder="all" value={atOnce} onInput={(e) => setAtOnce(e.currentTarget.value.trim())} title="How many JVMs at a time: a number, or a share such as 5%" /></label>}
          <button id="fleet-sample" disabled={!idle} onClick={() => void report("sample", { do: "sample", ...each, wall })}>{busy === "sample" ? "Sampling…" : `Sample ${all}`}</button>
          <label><input id="fleet-wall" type="checkbox" checked={wall} onChange={(e) => setWall(e.currentTarget.checked)} />threads that wait, too</label>
        </div>
        <div class="line wrap">
          <button id="fleet-contention" disabled={!idle} onClick={() => void answer("locks", "locks", { ...each, exact })}>{busy === "locks" ? "Looking…" : "Who waits for whom"}</button>
          <label title="Loads Flight Recorder into a JVM that has not used it yet, which on JDK 8 to 21 throws away compiled code once"><input id="fleet-exact" type="checkbox" checked={exact} onChange={(e) => setExact(e.currentTarget.checked)} />each wait, by Flight Recorder</label>
          <button id="fleet-stuck" disabled={!idle} onClick={() => void answer("deadlocks", "locks", { ...each, seconds: 0 })}>Only deadlocks</button>
          <button id="fleet-heap" disabled={!idle} onClick={() => void answer("heap", "heap", { ...each, all: dead })} title={dead ? "Each JVM stands still while it counts" : "Each JVM does a full collection, during which it stands still"}>{busy === "heap" ? "Counting…" : "Count the objects"}</button>
          <label><input id="fleet-dead" type="checkbox" checked={dead} onChange={(e) => setDead(e.currentTarget.checked)} />dead ones, too</label>
        </div>
        <form class="line wrap" onSubmit={(e) => (e.preventDefault(), void report("profile", { do: "profile", ...each, root, overhead }))}>
          <label>Root <input id="fleet-root" size={40} spellcheck={false} autocomplete="off" placeholder="shop.orders.OrderService.process" value={root} onInput={(e) => setRoot(e.currentTarget.value.trim())} /></label>
          <label>slow-down up to <input id="fleet-overhead" size={5} placeholder="any" value={overhead} onInput={(e) => setOverhead(e.currentTarget.value.trim())} title="The slow-down that is allowed in each JVM, such as 5%" /></label>
          <button id="fleet-profile" disabled={!idle || root === ""}>{busy === "profile" ? "Recording…" : `Record in ${all}`}</button>
          {!who.local && <><label>groups by <input id="fleet-by" size={8} list="fleet-keys" spellcheck={false} autocomplete="off" placeholder="java" value={by} onInput={(e) => setBy(e.currentTarget.value.trim())} title="A key or label, such as java, node or version: JVMs that have the same value are a group" /></label>
          <datalist id="fleet-keys">{who.keys.map((k) => <option value={k} key={k} />)}</datalist>
          <button id="fleet-compare" type="button" disabled={!idle || root === "" || by === ""} onClick={() => void answer("compare", "compare", { ...each, root, overhead, by })}>{busy === "compare" ? "Recording…" : "Record and compare"}</button></>}
        </form>
      </>}
      <p class="line going" role="status">{busy !== "" && busy !== "jvms" && <><button id="fleet-end" onClick={() => void api("fleet/end", {}).catch(() => undefined)}>End now</button> <span>{step || "Beginning…"}</span></>}</p>
      {said.map((s) => <p class="hint" key={s}>{s}</p>)}
      {found.compare && <Groups of={found.compare} />}
      {found.locks && <Locked of={found.locks} />}
      {found.heap && <Heaps of={found.heap} />}
      {events.length > 0 && <>
        <h3>What came true in the last day <span class="muted">{count(events.length)}</span></h3>
        <Listing id="fleet-events" label="Events of the fleet" rows={events} by={0} columns={[
          { label: "When", of: (e) => Date.parse(e.time), show: (e) => new Date(e.time).toLocaleString() },
          { label: "Host", of: (e) => e.node },
          { label: "App", of: (e) => e.jvm.app, show: (e) => <b>{e.jvm.app}</b> },
          { label: "Rule", of: (e) => e.rule },
          { label: "What", of: (e) => e.what },
        ]} />
      </>}
    </section>
  );
}
