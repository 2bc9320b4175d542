// The connection to the server: the secret, REST calls, and the WebSocket that
// brings the state and what is looked at. It reconnects by itself and looks at
// the same again.

import type { Entry, Look, Sections, Snapshot, State } from "./model";
import { parse, type Name } from "./format";

/** offline is set in a report, see report/conn.ts. */
export const offline: boolean = false;

const keyName = "rivulet.key";

/** wish is what an address with a secret asks to be shown, after that: "source=2&against=1". Without one the page has shown it itself. */
export const wish = new URLSearchParams(/^#[^&]+&/.test(location.hash) ? location.hash.split("&").slice(1).join("&") : "");

function takeSecret(): string {
  const fresh = location.hash.slice(1).split("&")[0];
  if (fresh) {
    sessionStorage.setItem(keyName, fresh);
    history.replaceState(null, "", location.pathname); // not into bookmarks and screenshots
  }
  return fresh || sessionStorage.getItem(keyName) || "";
}

export const secret = takeSecret();

export type Link = "connecting" | "up" | "down" | "refused";

/** The part of the server that this page has; components read it and subscribe. */
export const store = {
  link: "connecting" as Link,
  state: null as State | null,
  log: [] as Entry[],
  frame: 0,
  source: 0,
  sections: {} as Sections,
  names: new Map<number, Name>(),
  refused: "",
};

const listeners = new Set<() => void>();
let scheduled = false;

export function subscribe(f: () => void): () => void {
  listeners.add(f);
  return () => listeners.delete(f);
}

/** changed has everybody drawn anew in the next frame. */
export function changed(): void {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(() => {
    scheduled = false;
    for (const f of [...listeners]) f();
  });
}

export function nameOf(method: number): Name {
  return store.names.get(method) ?? parse(method === 0 ? "" : "…");
}

let socket: WebSocket | null = null;
let attempt = 0;
let look: Look | null = null;
let seq = 0;
let answered = 0;
let pending = false;

/** show says what is on the screen. The last wish counts: while one is on its way, later ones wait. */
export function show(wish: Omit<Look, "seq">): void {
  look = { ...wish, seq: ++seq };
  flush();
}

function flush(): void {
  if (pending || !look || socket?.readyState !== WebSocket.OPEN) return;
  pending = true;
  requestAnimationFrame(() => {
    pending = false;
    if (look && socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(look));
  });
}

export function settled(): boolean {
  return answered === seq;
}

export function connect(): void {
  if (!secret) {
    store.link = "refused";
    store.refused = "This page needs the whole address that rivulet printed, with what follows the #.";
    changed();
    return;
  }
  const ws = new WebSocket(`ws://${location.host}/ws`, ["rivulet.v1", "key." + secret]);
  socket = ws;
  ws.onopen = () => {
    attempt = 0;
    store.link = "up";
    store.names.clear(); // a new connection is told all names anew
    store.log = [];
    held = null;
    changed();
    flush();
  };
  ws.onmessage = (m) => receive(JSON.parse(m.data as string));
  ws.onclose = () => {
    if (socket !== ws) return;
    if (store.link !== "refused") store.link = "down";
    changed();
    void retry();
  };
}

async function retry(): Promise<void> {
  const wait = Math.min(5000, 250 * 2 ** attempt++);
  await new Promise((r) => setTimeout(r, wait));
  try {
    const r = await fetch("/api/log?after=999999999", { headers: { Authorization: "Bearer " + secret } });
    if (r.status === 401) {
      store.link = "refused";
      store.refused = "Rivulet was restarted. Open the address that it printed this time.";
      changed();
      return;
    }
  } catch {
    // the server is not there: try again
  }
  connect();
}

/** held is a state with which a page message comes: a recording that has stopped is shown with its last figures, not with those before. */
let held: Record<string, unknown> | null = null;

function receive(m: Record<string, unknown>): void {
  if (m.t === "state" && m.page) {
    held = m;
    return;
  }
  if (held) take(held);
  held = null;
  take(m);
  changed();
}

function take(m: Record<string, unknown>): void {
  if (m.t === "state") {
    const state = m.state as State;
    store.state = { ...state, snapshots: state.snapshots ?? store.state?.snapshots ?? [] }; // null: as before
    for (const e of m.log as Entry[]) store.log.push(e);
    if (store.log.length > 1000) store.log.splice(0, store.log.length - 500);
  } else if (m.t === "page") {
    for (const [n, name, loader, place] of (m.names as [number, string, string, string?][] | undefined) ?? []) store.names.set(n, parse(name, loader, place));
    if (m.source !== store.source || m.frame === 0) store.sections = {};
    store.source = m.source as number;
    store.frame = m.frame as number;
    answered = m.seq as number;
    const { t: _t, seq: _s, source: _o, frame: _f, names: _n, ...sections } = m;
    Object.assign(store.sections, sections);
  }
}

/** A Refusal is an error whose answer names an option that would do it all the same. */
export class Refusal extends Error {
  constructor(message: string, readonly option: string) { super(message); }
}

/** api calls the REST interface; errors carry the server's text. */
export async function api<T>(path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  let r: Response;
  try {
    r = await fetch("/api/" + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { Authorization: "Bearer " + secret, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
      body: body === undefined ? undefined : JSON.stringify(body), signal,
    });
  } catch (e) {
    if (signal?.aborted) throw e;
    throw new Error("Rivulet does not answer. Is it still running?");
  }
  const text = await r.text();
  if (!r.ok) {
    let message = text, option = "";
    try {
      ({ error: message, option = "" } = JSON.parse(text) as { error: string; option?: string });
    } catch {
      // not from Rivulet: show it as it is
    }
    throw new Refusal(message || r.statusText, option);
  }
  return JSON.parse(text) as T;
}

async function failure(r: Response): Promise<Error> {
  return new Error(((await r.json()) as { error: string }).error);
}

/** download saves a recording in one of the forms of /api/formats. */
export async function download(source: number, format: string): Promise<void> {
  const r = await fetch("/api/report?source=" + source + "&format=" + format, { headers: { Authorization: "Bearer " + secret } });
  if (!r.ok) throw await failure(r);
  const a = document.createElement("a");
  a.href = URL.createObjectURL(await r.blob());
  a.download = /filename="([^"]+)"/.exec(r.headers.get("Content-Disposition") ?? "")?.[1] ?? "rivulet." + format;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 1000);
}

/** openFile has the server read a saved report. */
export async function openFile(file: File): Promise<Snapshot> {
  const r = await fetch("/api/open?name=" + encodeURIComponent(file.name), { method: "POST", headers: { Authorization: "Bearer " + secret }, body: file });
  if (!r.ok) throw await failure(r);
  return (await r.json()) as Snapshot;
}
