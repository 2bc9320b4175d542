// Looks into a running JVM: the server tells line by line what it is doing, and at last the answer.

import { secret } from "./conn";
import type { HeapReport } from "./heapview";

export interface Query { pid: number; what: What; seconds?: number; exact?: boolean; timeline?: boolean; all?: boolean; source?: number }
export type What = "threads" | "locks" | "loads" | "histogram" | "plan" | "heap";

export interface Step { phase?: string; done?: number; total?: number; text?: string }
export interface Answer<T> { taken: string; said: string[]; result: T }

export interface Lock { address: string; class: string }
export interface ThreadRow { thread: string; id: number; nid: number; daemon: boolean; state: string; detail: string; waits_for?: Lock; holds: Lock[] | null; stack: string[] | null; virtual: boolean; cpu_ns: number; cpu_share: number }
export interface Group { state: string; threads: string[]; stack: string[] | null }
export interface Deadlock { threads: { thread: string; waits_for: string; holds: string; stack: string[] | null }[] }
export interface Track { thread: string; id: number; states: string; places: { state: string; method: string; count: number }[] }
export interface ThreadsAnswer { seconds: number; threads: ThreadRow[]; timeline?: { moments_ns: number[]; threads: Track[] }; virtual: { count: number; groups: Group[] | null }; groups: Group[] | null; notes: string[]; deadlocks: Deadlock[] | null }
export interface LockRow { class: string; instance: string; waiter: string; owner: string; count: number; blocked_ns: number; error_ns: number; owner_thread: string; waiter_stack: string[]; owner_stack: string[] }
export interface LocksAnswer { seconds: number; exact: boolean; locks: LockRow[]; notes: string[]; deadlocks: Deadlock[] | null }
export interface Load { class: string; loader: string; from?: string; at_ns: number; took_ns: number | null; self_ns: number | null; thread: string; cause: string; context: string[] }
export interface LoadsAnswer { seconds: number; total_ns?: number; summary: string; loads: Load[]; notes: string[] }
export interface Counted { class: string; loader?: string; objects: number; shallow_bytes: number; more_objects: number; more_bytes: number }
export interface LoaderCounted { loader: string; classes: number; objects: number; shallow_bytes: number; more_objects: number; more_bytes: number }
export interface HistogramAnswer { objects: number; bytes: number; seconds: number; classes: Counted[]; loaders: LoaderCounted[] | null; notes: string[] }
export interface PlanAnswer { need_bytes: number; dir: string; stops_ns: number }
export interface Answers { threads: ThreadsAnswer; locks: LocksAnswer; loads: LoadsAnswer; histogram: HistogramAnswer; plan: PlanAnswer; heap: HeapReport }

/** inside looks into a JVM. Errors carry the server's text. */
export const inside = <W extends What>(q: Query & { what: W }, tell: (s: Step) => void, signal: AbortSignal) => steps<Answers[W]>("inside", q, tell, signal);

/** steps asks for something that takes a while, and is told what is being done. */
export async function steps<T>(path: string, q: unknown, tell: (s: Step) => void, signal: AbortSignal): Promise<Answer<T>> {
  const r = await fetch("/api/" + path, { method: "POST", headers: { Authorization: "Bearer " + secret, "Content-Type": "application/json" }, body: JSON.stringify(q), signal });
  if (!r.ok || !r.body) throw new Error(((await r.json()) as { error: string }).error);
  const reader = r.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error("Rivulet has ended.");
    const lines = (rest + value).split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      const m = JSON.parse(line) as Step & Partial<Answer<T>> & { error?: string };
      if (m.error) throw new Error(m.error);
      if (m.result !== undefined) return m as Answer<T>;
      tell(m);
    }
  }
}
