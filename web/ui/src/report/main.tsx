// A report that travels: the live page's views of one recording, without a server.

import { render } from "preact";
import { useEffect } from "preact/hooks";
import { FiguresLine } from "../bar";
import { base } from "../format";
import { load } from "./conn";
import { Doubts } from "../doubts";
import { useStore } from "../hooks";
import { Threads } from "../lists";
import { Menu } from "../menu";
import { Around, Methods } from "../methods";
import { store } from "../conn";
import { Slowest } from "../slowest";
import { TreeView } from "../treeview";
import { ask, focusMain, focusView, go, tabs, ui, type Tab } from "../ui";
import "../style.css";

const text = document.getElementById("text")?.textContent ?? "";

/** Text is the report for a terminal. */
function Text() {
  return <div class="split scroll" data-main tabIndex={0} ref={focusMain} role="region" aria-label="Text report"><pre class="textreport">{text}</pre></div>;
}

const views: Partial<Record<Tab, () => preact.JSX.Element>> = { tree: TreeView, methods: Methods, around: Around, threads: Threads, doubts: Doubts, slowest: Slowest, log: Text };
const shown = tabs.filter(([t]) => views[t]).map(([t, label]) => [t, t === "log" ? "Text" : label] as const);

function toggleTheme(): void {
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "light" : "dark";
}

function App() {
  useStore();
  useEffect(() => {
    const key = (e: KeyboardEvent) => {
      const typing = e.target instanceof HTMLInputElement && e.target.type !== "checkbox" || e.target instanceof HTMLSelectElement;
      if (e.key === "Escape" && typing) (e.target as HTMLElement).blur();
      if (typing || e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return;
      const tab = /^[1-9]$/.test(e.key) ? shown[Number(e.key) - 1] : undefined;
      if (tab) (go({ tab: tab[0] }), focusView());
      else if (e.key === "d") toggleTheme();
      else if (e.key === "/") document.querySelector<HTMLInputElement>("#filter")?.focus();
      else return;
      e.preventDefault();
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, []);
  const s = store.state!, View = views[ui.tab] ?? TreeView;
  return (
    <>
      <header class="bar">
        <div class="top">
          <h1>Rivulet</h1>
          <span class="target" title={s.target!.main + "\n" + s.target!.vm}><b>{base(s.target!.main)}</b> <span class="muted">{s.target!.pid > 0 ? `pid ${s.target!.pid}` : "several processes"}, Java {s.target!.java || "?"}</span></span>
          <span class="roots muted" title={s.recording.roots.join("\n")}>{s.recording.roots.map((r) => r.replace(/\(.*/, "").split(".").slice(-2).join(".")).join(", ")}</span>
          <span class="acts"><button onClick={toggleTheme} title="Light or dark (d)" aria-label="Light or dark">◐</button></span>
        </div>
        <FiguresLine />
      </header>
      <Menu />
      <div class="tabs">
        <div role="tablist" aria-label="Views" onKeyDown={along}>
          {shown.map(([t, label], i) => (
            <button role="tab" id={"tab-" + t} key={t} aria-selected={ui.tab === t} tabIndex={ui.tab === t ? 0 : -1} onClick={() => go({ tab: t })} title={"Key " + (i + 1)}>{label}</button>
          ))}
        </div>
      </div>
      <main id="view" role="tabpanel" aria-labelledby={"tab-" + ui.tab}><View /></main>
    </>
  );
}

function along(e: KeyboardEvent): void {
  const at = shown.findIndex(([t]) => t === ui.tab), n = shown.length;
  const to = e.key === "ArrowRight" ? (at + 1) % n : e.key === "ArrowLeft" ? (at + n - 1) % n : e.key === "Home" ? 0 : e.key === "End" ? n - 1 : -1;
  if (to < 0) return;
  go({ tab: shown[to][0] });
  document.getElementById("tab-" + shown[to][0])?.focus();
  e.preventDefault();
}

load(JSON.parse(document.getElementById("data")!.textContent!) as string).then(() => {
  const root = document.getElementById("app")!;
  root.textContent = "";
  if (!views[ui.tab]) ui.tab = "tree";
  render(<App />, root);
  ask();
}, (e: unknown) => {
  document.getElementById("boot")!.textContent = "The data can't be read: the file is cut off, or the browser is older than Chrome 80, Firefox 113 or Safari 16.4. The text report follows.";
  throw e;
});
