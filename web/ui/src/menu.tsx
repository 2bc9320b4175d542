// What can be done with a method, wherever it is shown: the menu of a row or of a
// box of the flame graph, by the right button, the key m, or the button at its end.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { api, changed, nameOf, offline, secret, store } from "./conn";
import { byKey } from "./bar";
import { useStore } from "./hooks";
import type { Name } from "./format";
import { address, go, sampling, ui } from "./ui";

interface Place { method: number; x: number; y: number; back: Element | null }

let at: Place | null = null;
let notice = "", clearing = 0;

/** openMenu opens the menu of a method at a point of the window. */
export function openMenu(method: number, x: number, y: number): void {
  if (!method) return;
  at = { method, x, y, back: document.activeElement };
  changed();
}

/** menuUnder opens it below an element. */
export function menuUnder(method: number, el: Element): void {
  const r = el.getBoundingClientRect();
  openMenu(method, r.left, r.bottom);
}

/** isMenuKey tells whether a key opens the menu of what is selected. */
export function isMenuKey(e: KeyboardEvent): boolean {
  return e.key === "m" || e.key === "ContextMenu" || (e.key === "F10" && e.shiftKey);
}

function close(): void {
  const back = at?.back;
  at = null;
  changed();
  if (back instanceof HTMLElement && back.isConnected) back.focus();
}

/** say tells in a line at the bottom what was done. */
function say(text: string): void {
  notice = text;
  clearTimeout(clearing);
  clearing = setTimeout(() => { notice = ""; changed(); }, 6000);
  changed();
}

/** rootable tells whether a name may be a method of the program's: what allocates, native code and folded levels are none. */
function rootable(n: Name): boolean {
  return n.cls !== "" && n.loader !== "native" && n.loader !== "kernel" && n.loader !== "frameworks" && (n.whole.includes("(") || sampling() !== undefined);
}

/** canReplace tells whether the roots of what is recorded now can be replaced: only where it is looked at. */
function canReplace(): boolean {
  return store.state?.phase === "recording" && store.state.actions.includes("roots") && ui.source === 0;
}

/** takeRoots makes methods the roots: of the recording that is on, and else of the next one. */
export function takeRoots(roots: string[]): void {
  const names = roots.map((r) => r.replace(/\(.*/, "").split(".").slice(-2).join(".")).join(", ");
  if (canReplace()) {
    byKey("roots", async () => {
      await api("action", { name: "roots", value: roots.join("\n") });
      go({ tab: "tree", source: 0, thread: 0, focus: 0, selected: 0, find: 0, open: [], unfold: [], touched: false, setup: { ...ui.setup, roots } });
      say(`Root now: ${names}. What was recorded before is among the snapshots.`);
    });
    return;
  }
  go({ setup: { ...ui.setup, roots } });
  const s = store.state, exited = s?.ended?.includes("exited");
  if (s?.phase === "stopped" && s.target && !exited && !sampledTarget()) {
    byKey("attach", async () => {
      await api("attach", { pid: s.target!.pid });
      go({ picking: true, browsing: false, source: 0, setup: { ...ui.setup, roots } });
    });
  } else if (s?.phase === "attached") go({ browsing: false, source: 0 });
  say(`Root of the next recording: ${names}`);
}

function sampledTarget(): boolean {
  return store.state?.figures?.sampling !== undefined;
}

/** rule leaves out or only counts a method: at once in a recording that is on, and else in the next one. */
function rule(n: Name, mode: "off" | "counted"): void {
  const what = mode === "off" ? "excluded" : "only counted";
  if (store.state?.phase === "recording" && store.state.actions.includes("mode") && ui.source === 0) {
    byKey("mode", async () => {
      await api("action", { name: "mode", value: `${n.whole}=${mode}` });
      say(`${n.cls}.${n.method} is ${what} from now on`);
    });
    return;
  }
  const s = ui.setup;
  go({ setup: mode === "off" ? { ...s, filter: [...s.filter.filter((r) => !r.endsWith(" " + n.whole)), "--exclude " + n.whole] } : { ...s, modes: [...s.modes, `${n.whole}=${mode}`] } });
  say(`${n.cls}.${n.method} is ${what} in the next recording`);
}

/** copy puts a text where the browser pastes from. */
export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(text.includes(secret) ? "The address of this view was copied" : "Copied: " + text);
  } catch {
    say("The browser does not let this page copy: " + text);
  }
}

/** copyLink copies the address of what is shown, with the key to this server. */
export async function copyLink(): Promise<void> {
  await copy(`${location.origin}${location.pathname}#${secret}&tab=${ui.tab}&${address()}`);
}

const templateKey = "rivulet.editor";
let asking: Name | null = null; // whose source is to be opened once there is a template

/** sourceLink fills the template of an editor's links; "" if it is not known where the source is. */
export function sourceLink(template: string, n: Name): string {
  const place = /([^/\s]+):(\d+)$/.exec(n.place);
  if (!place) return "";
  const [, file, line] = place;
  const parts: Record<string, string> = { file, line, path: (n.pkg ? n.pkg.replaceAll(".", "/") + "/" : "") + file, class: (n.pkg ? n.pkg + "." : "") + n.cls, method: n.method };
  return template.replace(/\{(\w+)\}/g, (whole, k: string) => (parts[k] === undefined ? whole : encodeURI(parts[k])));
}

function openSource(n: Name): void {
  const template = localStorage.getItem(templateKey) ?? "";
  if (!template) {
    asking = n;
    changed();
    return;
  }
  const link = sourceLink(template, n);
  if (!link) return say(`It is not known where ${n.cls}.${n.method} is written: its class file has no source file and line`);
  const a = document.createElement("a");
  a.href = link;
  a.rel = "noreferrer";
  a.click();
  say("Opened " + link);
}

/** Editor asks once how links to the sources look. */
function Editor({ of }: { of: Name }) {
  const ref = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("vscode://file/home/me/project/src/main/java/{path}:{line}");
  useEffect(() => ref.current?.showModal(), []);
  const done = () => { asking = null; changed(); };
  return (
    <dialog ref={ref} onClose={done} aria-label="Link to the sources" id="editor">
      <form class="sheet" method="dialog" onSubmit={() => { if (/^(javascript|data|vbscript):/i.test(text.trim())) return; localStorage.setItem(templateKey, text.trim()); asking = null; openSource(of); }}>
        <h2>How to open a source</h2>
        <p>The link that your editor, or a page with the sources, understands. {"{path}"} stands for a file such as shop/orders/Order.java, {"{file}"} for Order.java, {"{line}"}, {"{class}"} and {"{method}"} for the others. For IntelliJ: idea://open?file=/home/me/project/src/main/java/{"{path}"}&line={"{line}"}</p>
        <p class="line"><input class="big" value={text} aria-label="Template" onInput={(e) => setText(e.currentTarget.value)} /></p>
        <p class="line"><button class="primary">Open</button> <button type="button" onClick={() => ref.current?.close()}>Cancel</button></p>
      </form>
    </dialog>
  );
}

/** Menu is drawn once, over everything. */
export function Menu() {
  useStore();
  return (
    <>
      {at && <List place={at} key={at.method + " " + at.x + " " + at.y} />}
      {asking && <Editor of={asking} />}
      <p class="notice" role="status" id="notice" hidden={!notice}>{notice}</p>
    </>
  );
}

function List({ place }: { place: Place }) {
  const ref = useRef<HTMLDivElement>(null);
  const n = nameOf(place.method), method = rootable(n), live = canReplace();
  const now = live ? store.state!.recording.roots : ui.setup.roots;
  useLayoutEffect(() => {
    const el = ref.current!, r = el.getBoundingClientRect();
    el.style.left = Math.max(4, Math.min(place.x, innerWidth - r.width - 4)) + "px";
    el.style.top = Math.max(4, place.y + r.height > innerHeight ? place.y - r.height : place.y) + "px";
    (el.querySelector("[role=menuitem]:not([disabled])") as HTMLElement | null)?.focus();
  }, []);
  useEffect(() => {
    const outside = (e: Event) => { if (!ref.current?.contains(e.target as Node)) close(); };
    addEventListener("pointerdown", outside, true);
    addEventListener("blur", close);
    return () => (removeEventListener("pointerdown", outside, true), removeEventListener("blur", close));
  }, []);
  const key = (e: KeyboardEvent) => {
    const items = [...ref.current!.querySelectorAll<HTMLElement>("[role=menuitem]:not([disabled])")];
    const i = items.indexOf(document.activeElement as HTMLElement);
    if (e.key === "Escape" || e.key === "Tab") close();
    else if (e.key === "ArrowDown") items[(i + 1) % items.length]?.focus();
    else if (e.key === "ArrowUp") items[(i + items.length - 1) % items.length]?.focus();
    else if (e.key === "Home") items[0]?.focus();
    else if (e.key === "End") items[items.length - 1]?.focus();
    else if (e.key === "Enter" || e.key === " ") return;
    else { // no key of the page's works while it is open
      e.stopPropagation();
      return;
    }
    e.preventDefault();
    e.stopPropagation();
  };
  const item = (label: string, f: () => void, can = true, title = "") => (
    <button class="plain" role="menuitem" disabled={!can} title={title} onClick={() => { close(); f(); }}>{label}</button>
  );
  const when = live ? "" : ", of the next recording";
  return (
    <div class="menu" id="menu" role="menu" ref={ref} aria-label={`${n.cls}.${n.method}`} onKeyDown={key} onContextMenu={(e) => e.preventDefault()}>
      {!offline && item("Use as root", () => takeRoots([n.whole]), method, "Replaces the roots" + when)}
      {!offline && item("Add as root", () => takeRoots([...now.filter((r) => r !== n.whole), n.whole]), method, "In addition to the other roots" + when)}
      {!offline && item("Exclude", () => rule(n, "off"), method, "Its time then counts for the caller")}
      {!offline && item("Count only", () => rule(n, "counted"), method, "Calls are counted; the time counts for the caller")}
      {item("Callers", () => go({ tab: "around", method: place.method }))}
      {item("Copy name", () => void copy(n.whole))}
      {item("Open source", () => openSource(n), n.place !== "" || method)}
    </div>
  );
}

/** MenuButton is the way to the menu for who points at a row. */
export function MenuButton({ method }: { method: number }) {
  return method ? <button class="plain rowmenu" tabIndex={-1} aria-label="What can be done with it" title="What can be done with it (m, or the right button)" onClick={(e) => { e.stopPropagation(); menuUnder(method, e.currentTarget); }}>⋯</button> : null;
}
