import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Bar, byKey, pauseOrResume, stopOrAgain } from "./bar";
import { api, connect, store, subscribe } from "./conn";
import { Help } from "./help";
import { useStore } from "./hooks";
import { Doubts } from "./doubts";
import { Inside } from "./inside";
import { Log, Threads } from "./lists";
import { ClassLoads } from "./loadsview";
import { Around, Methods } from "./methods";
import { Menu, copyLink } from "./menu";
import { Empty } from "./parts";
import { Picker } from "./picker";
import { Comparing } from "./schemes";
import { takeDefaults } from "./setup";
import { Compare } from "./compare";
import { Snapshots } from "./snapshots";
import { Slowest } from "./slowest";
import { Start } from "./start";
import { Timeline } from "./timelineview";
import { TreeView } from "./treeview";
import { ask, figures, focusView, go, showsTabs, tabs, ui, type Tab } from "./ui";
import "./style.css";

function toggleTheme(): void {
  const dark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("rivulet.theme", dark ? "light" : "dark");
}

const views: Record<Tab, () => preact.JSX.Element> = {
  tree: TreeView, methods: Methods, around: Around, threads: Threads, doubts: Doubts, compare: Compare, snapshots: Snapshots, log: Log, slowest: Slowest, timeline: Timeline, loads: ClassLoads,
};

function App() {
  useStore();
  const [help, setHelp] = useState(false);
  useEffect(() => {
    const key = (e: KeyboardEvent) => {
      const typing = e.target instanceof HTMLInputElement && e.target.type !== "checkbox" && e.target.type !== "radio" || e.target instanceof HTMLSelectElement;
      if (e.key === "Escape" && typing) (e.target as HTMLElement).blur();
      if (typing || e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return;
      const tab = /^\d$/.test(e.key) ? tabs[(Number(e.key) + 9) % 10] : undefined;
      if (tab && showsTabs() && !ui.inside) (go({ tab: tab[0] }), focusView());
      else if (e.key === "?") setHelp(true);
      else if (e.key === "d") toggleTheme();
      else if (e.key === "r") stopOrAgain();
      else if (e.key === "s" && store.state?.phase === "recording") byKey("save", () => api("save", { name: "" }));
      else if (e.key === "p" && store.state?.phase === "recording") byKey("pause", pauseOrResume);
      else if (e.key === "/") document.querySelector<HTMLInputElement>("#filter, #search")?.focus();
      else return;
      e.preventDefault();
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, []);
  if (store.link === "refused") return <main class="page"><h1>Rivulet</h1><Empty title="This page may not connect."><p>{store.refused}</p></Empty></main>;
  if (!store.state) return <main class="page"><h1>Rivulet</h1><p class="muted">{store.link === "down" ? "Rivulet does not answer; trying again…" : "Connecting…"}</p></main>;
  const View = views[ui.tab];
  return (
    <>
      <Bar help={() => setHelp(true)} theme={toggleTheme} />
      <Menu />
      {help && <Help close={() => setHelp(false)} />}
      {ui.inside ? <Inside /> : showsTabs() ? (
        <>
          <Tabs />
          <main id="view" role="tabpanel" aria-labelledby={"tab-" + ui.tab}><View /></main>
        </>
      ) : store.state.phase === "comparing" ? <Comparing /> : store.state.phase === "attached" || store.state.phase === "starting" ? <Picker /> : <Start />}
    </>
  );
}

function Tabs() {
  const f = figures();
  const s = f?.sampling;
  const doubts = s ? s.lost > 0 || s.skewed || 100 * (s.samples - s.complete) > s.samples : f && (!f.exact || f.skipped > 0);
  const loud = store.log.some((e) => e.level === "error");
  useEffect(() => document.getElementById("tab-" + ui.tab)?.scrollIntoView({ block: "nearest", inline: "nearest" }), [ui.tab]);
  return (
    <div class="tabs">
      <div role="tablist" aria-label="Views" onKeyDown={along}>
      {tabs.map(([t, label], i) => (
        <button role="tab" id={"tab-" + t} key={t} aria-selected={ui.tab === t} tabIndex={ui.tab === t ? 0 : -1} onClick={() => go({ tab: t })} title={i < 10 ? "Key " + ((i + 1) % 10) : undefined}>
          {label}{t === "doubts" && doubts ? " •" : t === "log" && loud ? " •" : t === "snapshots" && store.state!.snapshots.length ? " " + store.state!.snapshots.length : ""}
        </button>
      ))}
      </div>
      <button id="link" class="beside" title="Copies the address of this view. Whoever has it, and access to this machine, can do what you can" onClick={() => void copyLink()}>Copy link</button>
      {store.state?.phase === "attached" && <button id="to-root" onClick={() => go({ source: 0, browsing: false })}>Choose the root</button>}
      {store.state?.phase === "idle" && <button onClick={() => go({ source: 0, compared: 0, tab: "tree" })}>Back to the JVMs</button>}
    </div>
  );
}

/** along moves among the tabs, of which one is reached by the Tab key. */
function along(e: KeyboardEvent): void {
  const at = tabs.findIndex(([t]) => t === ui.tab), n = tabs.length;
  const to = e.key === "ArrowRight" ? (at + 1) % n : e.key === "ArrowLeft" ? (at + n - 1) % n : e.key === "Home" ? 0 : e.key === "End" ? n - 1 : -1;
  if (to < 0) return;
  go({ tab: tabs[to][0] });
  document.getElementById("tab-" + tabs[to][0])?.focus();
  e.preventDefault();
}

const theme = localStorage.getItem("rivulet.theme");
if (theme) document.documentElement.dataset.theme = theme;
const root = document.getElementById("app")!;
root.textContent = "";
render(<App />, root);

// What is on the screen is asked for again when another recording begins; a
// comparison that this page has seen going on is shown when it is done.
let seen = "", comparing = false;
subscribe(() => {
  const s = store.state;
  if (comparing && s?.phase === "stopped" && s.compared) (go({ tab: "compare", compared: s.compared }), focusView());
  comparing = s?.phase === "comparing";
  if (s && !ui.setup.taken) takeDefaults(s.defaults);
  const now = (store.state?.phase ?? "") + store.link;
  if (now !== seen) (seen = now), ask();
});
ask();
connect();
