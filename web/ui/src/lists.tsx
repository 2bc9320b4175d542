// Threads, and the log.

import { offline, store } from "./conn";
import { useStore } from "./hooks";
import { clock, count, percent, time } from "./format";
import { Empty, Share } from "./parts";
import { focusMain, go, sampling, ui } from "./ui";
import { SourceBar } from "./sourcebar";

export function Threads() {
  useStore();
  const t = store.sections.threads;
  if (!store.state?.figures && ui.source === 0) return <Empty title="Nothing is recorded yet." />;
  const list = t?.threads ?? [];
  const whole = list.reduce((s, x) => s + x.total, 0);
  return (
    <div class="split scroll" data-main tabIndex={0} ref={focusMain} role="region" aria-label="Threads">
      <SourceBar />
      {list.length === 0 ? <Empty title={sampling() ? "No thread was sampled." : "No thread has called a root."} /> : (
        <table class="plain-table">
          <thead><tr><th class="num">Time</th><th class="num sharecol">%</th>{!sampling() && <><th class="num">Root calls</th><th class="num opt1">Paused by Rivulet</th></>}<th>Thread</th></tr></thead>
          <tbody>
            {list.map((x) => (
              <tr key={x.place}>
                <td class="num">{time(x.total)}</td><td class="num sharecol"><Share part={x.total} own={0} whole={whole} />{percent(x.total, whole)}</td>
                {!sampling() && <><td class="num">{count(x.entries)}</td><td class="num opt1">{time(x.suspended)}</td></>}
                <td><b>{x.name || "unnamed"}</b> <span class="muted">{x.virtual ? "virtual threads in turn" : x.shared ? "several threads in turn" : "id " + x.id}{x.inside ? ", inside now" : ""}</span>{" "}
                  {!offline && <button class="beside" aria-label={"Its tree: " + (x.name || "unnamed")} onClick={() => go({ tab: "tree", thread: x.place, focus: 0 })}>Its tree</button>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {t && t.count > list.length && <p class="muted">{count(t.count - list.length)} more threads with less time</p>}
    </div>
  );
}

export function Log() {
  useStore();
  return (
    <div class="split scroll" data-main tabIndex={0} ref={focusMain} role="region" aria-label="Log">
      {store.log.length === 0 ? <Empty title="Nothing has happened yet." /> : (
        <table class="plain-table log"><tbody>
          {store.log.slice().reverse().map((e) => <tr key={e.seq} class={e.level}><td class="num">{clock(e.time)}</td><td>{e.level === "info" ? "" : e.level}</td><td>{e.text}</td></tr>)}
        </tbody></table>
      )}
    </div>
  );
}
