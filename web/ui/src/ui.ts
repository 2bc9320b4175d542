// What the person looks at: kept over reloads of the page, for one server.

import { offline, secret, show, store, changed, wish } from "./conn";
import type { Figures, Snapshot, Sampling } from "./model";

export type Tab = "tree" | "methods" | "around" | "threads" | "doubts" | "log" | "compare" | "snapshots" | "slowest" | "timeline" | "loads";

export const tabs: [Tab, string][] = [
  ["tree", "Tree"], ["methods", "Methods"], ["around", "Callers & callees"], ["threads", "Threads"], ["slowest", "Slowest"], ["timeline", "Timeline"],
  ["doubts", "Accuracy"], ["compare", "Compare"], ["snapshots", "Snapshots"], ["log", "Log"], ["loads", "Class loads"],
];

/** What of a JVM can be looked into without a recording. */
export const insides = [["threads", "Threads"], ["locks", "Locks"], ["heap", "Heap"], ["loads", "Class loads"]] as const;

const fresh = {
  inside: 0, // process that is looked into instead of a recording, and
  looked: "threads" as (typeof insides)[number][0], // what of it
  tab: "tree" as Tab,
  source: offline ? 1 : 0,
  against: 0, // what is compared: the one before, and
  after: 0,   // the one after
  compared: 0, // the comparison of schemes that is looked at; 0 compares two recordings
  each: true,
  thread: 0,
  fold: false,
  frameworks: true, // levels of frameworks that lead to the application are folded,
  unfold: [] as number[], // except for these, by path
  open: [] as number[],
  touched: false, // somebody opened or closed something: leave it so
  selected: 0,
  find: 0,
  seek: 0, // counts the wishes to see a row
  tree: { sort: "total", up: false, from: 0, rows: 60 },
  focus: 0,
  width: 1000,
  highlight: "",
  methods: { group: "", filter: "", sort: "self", up: false, from: 0, rows: 60 },
  method: 0,
  compare: { open: [] as number[], from: 0, rows: 60, touched: false, focus: 0 },
  skipped: { filter: "", reason: "", from: 0, rows: 60 },
  slow: 0, // place of the chosen one of the slowest invocations
  slowest: "", // which it is: thread and start
  span: "", // the first digits of a trace or span id: the slowest invocations of that alone
  hidden: false, // the icicle
  weight: "", // what widths of the flame graph stand for: the field of a metric's total; "" is time
  divided: true, // the tree has columns of processes, where several were put together
  past: false, // the history is hidden
  range: [0, 0] as [number, number], // of time, ns, whose tree is shown; 0, 0 is all
  inverted: false, // self times on top, below each method whoever calls it
  terse: false, // what is slow, in words, is hidden
  browsing: false, // looking at snapshots while a root is to be chosen
  sampled: 0, // the samples that show, while a root is chosen, what takes the time; 0: there are none
  picking: false, // choosing a root while an old recording is there
};

/** What is to be recorded, as chosen last. */
const setup = {
  roots: [] as string[], scheme: "auto", clock: "tick", until: "", filter: [] as string[], jdk: false, natives: "on", recursion: "expand", probes: "auto", overhead: "", warmup: "",
  rootTimes: "on", slowest: 0, over: "", timeline: false, follow: false, cpu: false, leaves: "counted", count: [] as string[], modes: [] as string[], memory: 0, schemes: ["A", "B", "C", "D"], seconds: 10, every: 1, observe: "", patience: "", agents: false,
  taken: false, // the server's defaults have been taken over
};

export type Setup = typeof setup;

export type UI = typeof fresh & { setup: Setup };

const place = "rivulet.ui." + (offline ? location.pathname : secret.slice(0, 6));

function restore(): UI {
  try {
    return { ...structuredClone({ ...fresh, setup }), ...(JSON.parse(sessionStorage.getItem(place) ?? "{}") as Partial<UI>) };
  } catch {
    return structuredClone({ ...fresh, setup });
  }
}

export const ui: UI = restore();

/** The parts of the address: what is looked at, by the short names that it has there. */
const inAddress = ["tab", "source", "thread", "focus", "method", "inverted", "highlight"] as const;

/** address says what is looked at; what is as usual is left out. */
export function address(): string {
  const out = new URLSearchParams();
  if (ui.inside) return new URLSearchParams({ inside: String(ui.inside), look: ui.looked }).toString();
  const of: Partial<Record<(typeof inAddress)[number], Tab>> = { focus: "tree", inverted: "tree", highlight: "tree", method: "around" }; // what only one view shows
  for (const k of inAddress) if (ui[k] !== fresh[k] && (of[k] ?? ui.tab) === ui.tab) out.set(k, String(ui[k] === true ? 1 : ui[k]));
  if (ui.range[1] > 0 && (ui.tab === "tree" || ui.tab === "methods")) out.set("range", ui.range.join("-"));
  if (ui.span && ui.tab === "slowest") out.set("span", ui.span);
  if (ui.methods.filter && ui.tab === "methods") out.set("filter", ui.methods.filter);
  if (ui.tab === "compare") for (const k of ["against", "after", "compared"] as const) if (ui[k]) out.set(k, String(ui[k]));
  return out.toString();
}

/** fromAddress is what an address asks for. */
function fromAddress(text: string): Partial<UI> {
  const from = new URLSearchParams(text), id = (k: string) => Math.max(0, Math.floor(Number(from.get(k)) || 0));
  const tab = tabs.find(([t]) => t === from.get("tab"))?.[0] ?? "tree";
  const ends = /^(\d+)-(\d+)$/.exec(from.get("range") ?? "");
  return {
    inside: id("inside"), looked: insides.find(([w]) => w === from.get("look"))?.[0] ?? "threads",
    tab, range: ends ? [Number(ends[1]), Number(ends[2])] : [0, 0], source: offline ? 1 : id("source"), thread: id("thread"), focus: id("focus"), method: id("method"), inverted: from.has("inverted"), highlight: from.get("highlight") ?? "", span: from.get("span") ?? "",
    methods: { ...ui.methods, filter: from.get("filter") ?? "" },
    ...(tab === "compare" ? { against: id("against"), after: id("after"), compared: id("compared") } : {}),
  };
}

let shownAddress = location.hash.replace(/^#[^&]*&?/, ""); // the secret is no part of it any more

/** writeAddress keeps up with what is looked at: a step of its own for Back, unless only what is typed has changed. */
function writeAddress(): void {
  const now = address();
  if (now === shownAddress) return;
  const typed = (a: string) => { const p = new URLSearchParams(a); p.delete("highlight"); p.delete("filter"); p.delete("span"); return p.toString(); };
  const step = typed(now) !== typed(shownAddress);
  shownAddress = now;
  history[step ? "pushState" : "replaceState"](null, "", location.pathname + (now && "#&" + now));
}

addEventListener("popstate", () => {
  shownAddress = location.hash.replace(/^#[^&]*&?/, "");
  const to = fromAddress(shownAddress);
  if (to.source !== ui.source) forget();
  go(to);
});

if (wish.has("tab") || wish.has("inside")) {
  forget();
  Object.assign(ui, fromAddress(wish.toString()));
} else if (wish.size > 0) {
  const id = (k: string) => Number(wish.get(k)) || 0;
  forget();
  Object.assign(ui, { tab: wish.has("against") ? "compare" : "tree", source: id("source"), against: id("against"), after: id("source"), compared: id("compared"), each: wish.get("each") !== "0" });
  if (ui.compared) ui.tab = "compare";
}

/** recordings are the snapshots that are no comparisons. */
export function recordings(): Snapshot[] {
  return (store.state?.snapshots ?? []).filter((s) => !s.kind);
}

/** distinct tells whether a recording can be compared: a snapshot, or 0 while one goes on. What has ended is a snapshot, too. */
export function distinct(id: number): boolean {
  return id === 0 ? store.state?.phase === "recording" : recordings().some((s) => s.id === id);
}

/** compareWith compares two recordings; what the other views show stays. */
export function compareWith(before: number, after: number): void {
  go({ tab: "compare", compared: 0, against: before, after, compare: { ...ui.compare, open: [], touched: false, from: 0, focus: 0 } });
}

/** suggestPair is what to compare if there is no choice yet: what is looked at, with the one before it; undefined if there is a choice, or nothing to choose from. */
export function suggestPair(): [number, number] | undefined {
  if (ui.tab !== "compare" || ui.compared || (ui.against !== ui.after && distinct(ui.against) && distinct(ui.after))) return undefined;
  const all = recordings(), newest = all[all.length - 1];
  const after = distinct(ui.after) && ui.after ? ui.after : distinct(ui.source) ? ui.source : newest?.id ?? 0;
  const target = after ? all.find((s) => s.id === after)?.target : newest?.target;
  const others = all.filter((s) => s.id !== after);
  const earlier = others.filter((s) => after === 0 || s.id < after);
  const before = earlier.filter((s) => s.target === target).pop() ?? earlier.pop() ?? others.pop();
  return before && distinct(after) && before.id !== after && (before.id !== ui.against || after !== ui.after) ? [before.id, after] : undefined;
}

/** open looks at a snapshot. */
export function open(s: Snapshot): void {
  forget();
  go(s.kind ? { tab: "compare", compared: s.id, source: ui.source } : { tab: ui.tab === "compare" || ui.tab === "snapshots" ? "tree" : ui.tab, source: s.id });
}

/** showsTabs tells whether a recording is looked at: the live one, the last, or a snapshot. */
export function showsTabs(): boolean {
  const phase = store.state?.phase;
  return phase === "recording" || phase === "stopping" || phase === "stopped" || (phase === "attached" && ui.browsing) || (phase === "idle" && (ui.source > 0 || ui.compared > 0));
}

/** upsideDown tells whether the flame graph has self times on top. */
export function upsideDown(): boolean {
  return store.sections.icicle?.inverted === true && ui.tab === "tree" && !choosing();
}

/** choosing tells whether a root is being chosen. */
export function choosing(): boolean {
  return (store.state?.phase === "attached" || store.state?.phase === "starting") && !showsTabs();
}

/** looked is the recording that the figures are of: of two that are compared, the one after. */
export function looked(): number {
  if (choosing()) return ui.sampled;
  return ui.tab === "compare" && !ui.compared ? ui.after : ui.source;
}

/** figures are those of what is looked at. */
export function figures(): Figures | null {
  const source = looked();
  if (source > 0 && (showsTabs() || choosing())) return store.source === source ? store.sections.figures ?? null : null;
  return store.state?.figures ?? null;
}

/** sampling is set if what is looked at is made of samples. */
export function sampling(): Sampling | undefined {
  return figures()?.sampling;
}

/** entriesTitle says what stands where a recording has its calls. */
export const entriesTitle = "Activations that samples met: a lower bound of the calls";

let wanted = false; // whether the main part of a view that appears takes the focus: until then, or until a key or a pointer says otherwise
for (const does of ["keydown", "pointerdown"]) addEventListener(does, () => (wanted = false), true);

/** focusView has the keys go to the view's main part, as soon as that is there: a recording may take a while to begin. */
export function focusView(): void {
  wanted = true;
  requestAnimationFrame(() => requestAnimationFrame(() => focusMain(document.querySelector<HTMLElement>("#view [data-main]"))));
}

/** focusMain is what a view's main part does when it comes to be; nobody who types is disturbed. */
export function focusMain(el: HTMLElement | null): void {
  if (!el || !wanted || document.activeElement instanceof HTMLInputElement) return;
  wanted = false;
  el.focus();
}

/** forget starts anew for another recording. */
export function forget(): void {
  const { tab, width, tree, methods, hidden, divided, past, terse, inverted, frameworks, setup } = ui;
  Object.assign(ui, structuredClone(fresh), { tab: tab === "log" ? "tree" : tab, width, tree, methods, hidden, divided, past, terse, inverted, frameworks, setup });
  ui.tree.from = ui.methods.from = 0;
}

/** go changes what is looked at, and asks for it. */
export function go(change: Partial<UI>): void {
  if (change.find) ui.seek++;
  if (ui.inside && change.looked === undefined && change.inside === undefined && (change.tab !== undefined || change.source !== undefined || change.picking !== undefined)) ui.inside = 0;
  Object.assign(ui, change);
  keep ||= setTimeout(keepNow, 300);
  writeAddress();
  ask();
  changed();
}

let keep = 0; // the timer, while something has changed that is not kept yet

/** keepNow writes down what is looked at: up to 4,000 open paths, too much for each step of a scroll wheel. */
function keepNow(): void {
  if (!keep) return;
  clearTimeout(keep);
  keep = 0;
  sessionStorage.setItem(place, JSON.stringify(ui));
}
addEventListener("pagehide", keepNow);

export function ask(): void {
  if (choosing()) {
    const icicle = ui.sampled ? { icicle: { focus: ui.focus, width: Math.round(ui.width), depth: 100 } } : {};
    return show({ source: ui.sampled, against: 0, thread: 0, slow: 0, fold: false, frameworks: ui.frameworks, unfold: [], ...icicle });
  }
  const on = ui.tab;
  const slow = on === "slowest";
  show({
    source: looked(), against: ui.against, thread: slow ? 0 : ui.thread, slow: slow ? ui.slow || 1 : 0, fold: ui.fold, frameworks: ui.frameworks, unfold: ui.unfold.slice(-mostOpen),
    ...(slow ? { slowest: true, history: true } : {}),
    ...(on === "tree" || on === "methods" ? { history: true, range: ui.range } : {}),
    ...(on === "tree" || slow ? {
      tree: { ...ui.tree, open: ui.open.slice(-mostOpen), find: ui.find },
      ...(ui.hidden ? {} : { icicle: { focus: ui.focus, width: Math.round(ui.width), depth: 100, ...(on === "tree" ? { inverted: ui.inverted && !ui.weight, weight: ui.weight } : {}) } }),
      threads: true, ...(on === "tree" ? { brief: true } : {}),
    } : {}),
    ...(on === "methods" ? { methods: ui.methods, threads: true } : {}),
    ...(on === "around" && ui.method ? { around: { method: ui.method, width: Math.round(ui.width) } } : {}),
    ...(on === "threads" ? { threads: true } : {}),
    ...(on === "doubts" ? { doubts: true, skipped: ui.skipped } : {}),
    ...(on === "compare" && !ui.compared && ui.against !== ui.after ? {
      compare: { from: ui.compare.from, rows: ui.compare.rows, open: ui.compare.open.slice(-mostOpen), each: ui.each, flame: { focus: ui.compare.focus, width: Math.round(ui.width), depth: 100 } },
    } : {}),
  });
}

const mostOpen = 4000; // the server hangs up on who asks for more

/** opened is a list of open paths with more of them, from a root on; beyond the limit those go that were opened first. */
export function opened(open: number[], more: number[]): number[] {
  return [...new Set([...open, ...more.slice(0, mostOpen)].reverse())].reverse().slice(-mostOpen);
}

/** toggled is a list of open paths with one of them opened or closed: by what is shown, since what was asked for may not have come yet. */
export function toggled(open: number[], path: number, to: boolean): number[] {
  const without = open.filter((p) => p !== path);
  return to ? [...without, path].slice(-mostOpen) : without;
}

/** unfolded shows the levels of frameworks that a row stands for. */
export function unfolded(path: number): void {
  go({ unfold: opened(ui.unfold, [path]), touched: true });
}

export function openHot(): void {
  const hot = store.sections.tree?.hot ?? [];
  const last = hot[hot.length - 1] ?? 0;
  go({ open: opened(ui.open, hot.slice(0, -1)), selected: last, find: last, touched: true });
}
