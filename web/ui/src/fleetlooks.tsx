// What was seen in the JVMs of many hosts: objects by class, locks, and groups that were recorded at the same time.

import { bytes, count, plural, time } from "./format";
import { Deadlocks } from "./inside";
import { Listing } from "./listing";
import type { Deadlock } from "./look";
import { recordings, compareWith, open } from "./ui";

/** A process; of this machine it has no host. */
interface Process { host?: string; pid: number; main: string; error?: string }

export interface FleetHeap {
  objects: number; bytes: number;
  processes: (Process & { objects: number; bytes: number })[];
  classes: { class: string; objects: number; shallow_bytes: number; processes: { objects: number[]; shallow_bytes: number[] } }[];
  outliers: { host?: string; pid: number; class: string; shallow_bytes: number; median: number }[];
}

export interface FleetLocks {
  processes: (Process & { locks: { seconds: number; deadlocks: Deadlock[] | null } | null })[];
  locks: { class: string; waiter: string; owner: string; count: number; blocked_ns: number; processes_blocked_ns: number[] }[];
}

export interface FleetGroups {
  by: string; base: string;
  groups: { value: string; jvms: number; root_invocations: number; root_mean_ns: number | null; calls_per_root: number | null; error?: string; verdict?: string; snapshot_id?: number }[];
}

const name = (p: { host?: string; pid: number }) => p.host ? `${p.host}/${p.pid}` : `pid ${p.pid}`;

/** Each is a figure of each process that has one, the largest first. */
function Each({ of, values, show }: { of: Process[]; values: number[]; show: (n: number) => string }) {
  const rows = of.map((p, i) => [p, values[i]] as const).filter(([, v]) => v > 0).sort((a, b) => b[1] - a[1]);
  return <ul class="plain-list">{rows.map(([p, v]) => <li key={name(p)}><b>{show(v)}</b> in {name(p)} <span class="muted">{p.main}</span></li>)}</ul>;
}

/** The place of the largest value. */
const largest = (values: number[]) => values.indexOf(values.reduce((a, b) => Math.max(a, b), 0));

function Failed({ of }: { of: Process[] }) {
  return <>{of.filter((p) => p.error).map((p) => <p class="hint" key={name(p)}>{name(p)}: {p.error}</p>)}</>;
}

export function Heaps({ of }: { of: FleetHeap }) {
  const most = 20;
  return (
    <section aria-label="Objects in the fleet">
      <h3>{bytes(of.bytes)} in {plural(of.objects, "object", "objects")} of {plural(of.processes.filter((p) => !p.error).length, "JVM", "JVMs")}</h3>
      <Failed of={of.processes} />
      {of.outliers.slice(0, most).map((o) => <p key={name(o) + o.class}><b>{name(o)}</b> has {bytes(o.shallow_bytes)} of <code>{o.class}</code>, the median process {bytes(o.median)}.</p>)}
      {of.outliers.length > most && <p class="muted">{plural(of.outliers.length - most, "more", "more")}</p>}
      <Listing id="fleet-classes" label="Classes" rows={of.classes} by={0} columns={[
        { label: "Bytes", cls: "num", of: (c) => c.shallow_bytes, show: (c) => bytes(c.shallow_bytes) },
        { label: "Objects", cls: "num", of: (c) => c.objects, show: (c) => count(c.objects) },
        { label: "Most in", of: (c) => name(of.processes[largest(c.processes.shallow_bytes)]) },
        { label: "Class", of: (c) => c.class, show: (c) => <b>{c.class}</b> },
      ]} detail={(c) => <Each of={of.processes} values={c.processes.shallow_bytes} show={bytes} />} />
      <Listing id="fleet-heaps" label="Heaps of processes" rows={of.processes.filter((p) => !p.error)} by={0} columns={[
        { label: "Bytes", cls: "num", of: (p) => p.bytes, show: (p) => bytes(p.bytes) },
        { label: "Objects", cls: "num", of: (p) => p.objects, show: (p) => count(p.objects) },
        { label: "Process", of: name, show: (p) => <b>{name(p)}</b> },
        { label: "Main class or jar", of: (p) => p.main },
      ]} />
    </section>
  );
}

export function Locked({ of }: { of: FleetLocks }) {
  const seen = of.processes.filter((p) => p.locks);
  const stuck = seen.filter((p) => (p.locks!.deadlocks ?? []).length > 0);
  return (
    <section aria-label="Locks in the fleet">
      <Failed of={of.processes} />
      {stuck.map((p) => <div key={name(p)}><h3>{name(p)} <span class="muted">{p.main}</span></h3><Deadlocks all={p.locks!.deadlocks} /></div>)}
      <p id="fleet-deadlocks">{stuck.length === 0 ? "No deadlock" : "No deadlock in the others"}: {plural(seen.length - stuck.length, "JVM", "JVMs")}.</p>
      {seen.some((p) => p.locks!.seconds > 0) && <Listing id="fleet-locks" label="Locks" rows={of.locks} by={0} empty="Nobody waited for a lock." columns={[
        { label: "Waited", cls: "num", of: (l) => l.blocked_ns, show: (l) => time(l.blocked_ns) },
        { label: "Waits", cls: "num", of: (l) => l.count, show: (l) => count(l.count) },
        { label: "JVMs", cls: "num", of: (l) => l.processes_blocked_ns.filter((v) => v > 0).length },
        { label: "Most in", of: (l) => name(of.processes[largest(l.processes_blocked_ns)]) },
        { label: "Lock", of: (l) => l.class }, { label: "Owner", title: "What the owner ran, or had entered the lock in", of: (l) => l.owner }, { label: "Waiter", of: (l) => l.waiter },
      ]} detail={(l) => <Each of={of.processes} values={l.processes_blocked_ns} show={time} />} />}
    </section>
  );
}

export function Groups({ of }: { of: FleetGroups }) {
  const kept = (id?: number) => recordings().find((s) => s.id === id);
  const base = kept(of.groups.find((g) => g.value === of.base)?.snapshot_id);
  return (
    <section aria-label="Groups of the fleet">
      <h3>By {of.by}, beside {of.base}</h3>
      <div class="listing"><table class="plain-table" id="fleet-groups" aria-label="Groups">
        <thead><tr><th scope="col">{of.by}</th><th class="num" scope="col">JVMs</th><th class="num" scope="col">Root calls</th><th class="num" scope="col">Mean</th><th class="num" scope="col" title="Calls below a root call">Calls each</th><th scope="col">Beside {of.base}</th><th scope="col"><span class="unseen">Actions</span></th></tr></thead>
        <tbody>{of.groups.map((g) => {
          const own = kept(g.snapshot_id);
          return (
            <tr key={g.value}>
              <td><b>{g.value}</b></td><td class="num">{g.jvms}</td><td class="num">{count(g.root_invocations)}</td>
              <td class="num">{g.root_mean_ns === null ? "-" : time(g.root_mean_ns)}</td><td class="num">{g.calls_per_root === null ? "-" : g.calls_per_root.toPrecision(4)}</td>
              <td>{[g.verdict, g.error].filter((x) => x).join("; ") || (g.value === of.base ? "what the others are compared with" : "")}</td>
              <td>{own && <button onClick={() => open(own)}>Tree</button>} {own && base && own !== base && <button onClick={() => (open(own), compareWith(base.id, own.id))}>Difference</button>}</td>
            </tr>
          );
        })}</tbody>
      </table></div>
    </section>
  );
}
