// Before the start: what would be instrumented, and which methods may be roots.

import { useEffect, useState } from "preact/hooks";
import { api, nameOf, store } from "./conn";
import { count, parse, percent, plural, time } from "./format";
import { useAction } from "./hooks";
import type { Preview, PreviewClass, Suggestions } from "./model";
import { B } from "./model";
import { ErrorLine, MethodName } from "./parts";
import { chain } from "./icicle";
import { choose, recording } from "./setup";
import { Icicle } from "./treeview";
import { go, ui } from "./ui";

export const priceTitle = "Low: most calls below it lasted over several samples. High: nearly each sample met new ones, so that calls are short and many, and recording them may slow this part of the program up to six times.";

let kept: { of: string; found: Suggestions } | null = null; // what was found last, and in which JVM

const jvm = () => store.state?.target ? store.state.target.pid + " " + store.state.target.main : "";

/** priceOf is what recording a root is expected to cost, "" if no sample met it. */
export function priceOf(root: string): string {
  const prices = kept?.of === jvm() ? kept.found.prices ?? {} : {};
  return prices[root] ?? Object.entries(prices).find(([m]) => m.startsWith(root + "("))?.[1] ?? "";
}

/** Suggest looks at the target's stacks for roots: at once by samples, which don't disturb it. */
export function Suggest({ toggle }: { toggle: (root: string) => void }) {
  const [found, setFound] = useState<Suggestions | null>(kept?.of === jvm() ? kept.found : null);
  const [beyond, setBeyond] = useState("");
  const act = useAction();
  const take = (s: Suggestions) => {
    kept = { of: jvm(), found: s };
    setFound(s);
    go({ sampled: s.source ?? 0, focus: 0, selected: 0 });
  };
  const look = () => act.run("look", async () => take(await api<Suggestions>("suggest", {})));
  useEffect(() => {
    if (found) {
      if (found.source && found.source !== ui.sampled) go({ sampled: found.source, focus: 0 });
      return;
    }
    if (store.state?.phase !== "attached") return;
    const gone = new AbortController();
    void act.run("look", async () => {
      try {
        const s = await api<Suggestions>("suggest", { samples_only: true }, gone.signal);
        if (s.samples) take(s);
        else setBeyond(s.why ?? "");
      } catch (e) {
        if (!gone.signal.aborted) throw e;
      }
    });
    return () => gone.abort();
  }, []);
  /** picked makes the box's method the only root; where it can't be one, its nearest caller that can. */
  const picked = (path: number) => {
    const page = store.sections.icicle, prices = found?.prices ?? {};
    if (!page) return;
    const names = chain(page, path).map((p) => nameOf(page.boxes.find((b) => b[B.path] === p)?.[B.method] ?? page.above.find(([a]) => a === p)?.[1] ?? 0));
    const at = names.findLastIndex((n) => prices[n.whole] !== undefined);
    const n = names[at], last = names[names.length - 1];
    setBeyond(!n ? `${last.cls}.${last.method} can't be a root, and nothing that calls it.` : at < names.length - 1 ? `${last.cls}.${last.method} can't be a root; ${n.cls}.${n.method}, which calls it, can.` : "");
    if (n) choose({ roots: [n.whole] });
    go({ selected: path });
  };
  return (
    <section class="suggest" aria-label="Suggested roots">
      <p class="line">
        <button id="suggest" disabled={!!act.busy} title="By five seconds of samples from outside; where these can't be had, by twenty-one thread dumps, each of which stops the target for a moment" onClick={look}>{act.busy ? "Looking at the stacks…" : found ? "Suggest again" : "Suggest roots"}</button>
        <span class="muted" role="status">
          {!found && beyond ? `There are no samples: ${beyond}` : found?.samples ? `By ${count(found.samples)} samples in ${time(found.seconds * 1e9)}.` : found ? `${found.why ? found.why[0].toUpperCase() + found.why.slice(1) + ". " : ""}By ${found.looks} thread dumps in ${time(found.seconds * 1e9)}: ${found.busy} of ${found.threads} threads were busy with the application.` : "What takes the time and is entered again and again, by samples"}
        </span>
      </p>
      <ErrorLine text={act.error} close={act.clear} />
      {found && found.roots.length === 0 && !found.samples && <p>No thread was busy in the application. Try again while it has something to do, or search.</p>}
      {found && found.roots.length > 0 && (
        <ul class="hits short" id="suggestions">
          {found.roots.map((r) => (
            <li key={r.root} onClick={() => toggle(r.root)}>
              <span class="check">{ui.setup.roots.includes(r.root) ? "✓" : ""}</span>
              <button class="plain" aria-pressed={ui.setup.roots.includes(r.root)}><MethodName name={parse(r.root)} /></button>
              {r.price ? <span class="muted" title={priceTitle}> {percent(r.share!, 1)} % of the time ({percent(r.share_low!, 1)} to {percent(r.share_high!, 1)} %), entered {r.rate! < 10 ? r.rate!.toFixed(1) : count(Math.round(r.rate!))} times a second at least; price {r.price}</span>
              : <span class="muted"> on {r.stacks} of {r.of} stacks of busy threads, {r.threads === 1 ? "in " + r.thread : `in ${r.threads} threads such as ${r.thread}`}{r.always ? "; in every dump: right if it is called again and again, while a loop begun long ago records nothing" : ""}</span>}
            </li>
          ))}
        </ul>
      )}
      {found?.samples && ui.sampled > 0 && (
        <div class="samples" id="samples">
          <p class="muted">Where the time goes, by the samples. A click makes a method the root, a double click zooms, and the right button opens a menu.</p>
          <Icicle pick={picked} />
          {beyond && <p role="status" class="warn">{beyond}</p>}
        </div>
      )}
    </section>
  );
}

/** Ahead shows what Scheme A would instrument. */
export function Ahead() {
  const [seen, setSeen] = useState<{ p: Preview; of: string } | null>(null);
  const act = useAction();
  const now = recording(ui.setup);
  const of = JSON.stringify([now.roots, now.filter]);
  const look = () => act.run("look", async () => setSeen({ p: await api<Preview>("preview", now), of }));
  const p = seen?.p;
  return (
    <section class="ahead" aria-label="Preview">
      <p class="line">
        <button id="preview" disabled={!!act.busy || now.roots.length === 0} onClick={look}>{act.busy ? "Looking…" : "Preview"}</button>
        <span class="muted">what would get probes; nothing is changed in the target</span>
      </p>
      <ErrorLine text={act.error} close={act.clear} />
      {p && (
        <div id="ahead">
          <p role="status">
            {seen.of !== of && <b class="warn">For an earlier choice: </b>}
            All at once (A) puts probes into <b>{plural(p.methods, "method", "methods")}</b> of <b>{plural(p.classes, "class", "classes")}</b> in {plural(p.packages.length, "package", "packages")}. The other schemes take those of them that are called.
            {p.filter && <> The filter hides {count(p.filter.hidden)}.</>}
          </p>
          {p.notes.map((n) => <p class="muted" key={n}>{n}</p>)}
          <ul class="branches" aria-label="Packages">
            {p.packages.slice(0, most).map((k, i) => (
              <Fold key={k.package} label={k.package || "(default package)"} figures={`${plural(k.methods, "method", "methods")}, ${plural(k.classes, "class", "classes")}`} open={i === 0 && k.class_list.length < 20}>
                {k.class_list.slice(0, most).map((c) => <Class c={c} within={k.package} key={c.class + c.loader} />)}
                <Rest n={k.class_list.length - most} what="classes" />
              </Fold>
            ))}
            <Rest n={p.packages.length - most} what="packages" />
          </ul>
          <Without p={p} />
        </div>
      )}
    </section>
  );
}

const most = 300;

function Rest({ n, what }: { n: number; what: string }) {
  return n > 0 ? <li class="muted">… {count(n)} more {what}; rivulet profile --dry-run --format json lists all</li> : null;
}

function Fold({ label, figures, open, children }: { label: string; figures: string; open?: boolean; children: preact.ComponentChildren }) {
  const [isOpen, setOpen] = useState(open ?? false);
  return (
    <li>
      <details open={isOpen} onToggle={(e) => setOpen(e.currentTarget.open)}>
        <summary><span class="label">{label}</span> <span class="muted">{figures}</span></summary>
        {isOpen && <ul>{children}</ul>}
      </details>
    </li>
  );
}

function Class({ c, within }: { c: PreviewClass; within: string }) {
  return (
    <Fold label={c.class.slice(within ? within.length + 1 : 0)} figures={`${plural(c.methods.length, "method", "methods")}${c.initialized ? "" : ", not initialized yet"}`}>
      {c.methods.slice(0, most).map((m) => <li key={m}><MethodName name={{ ...parse("." + m), cls: "" }} /></li>)}
      <Rest n={c.methods.length - most} what="methods" />
    </Fold>
  );
}

function Without({ p }: { p: Preview }) {
  const reasons = new Map<string, string[]>();
  for (const s of p.skipped) {
    const short = s.reason.split(":")[0];
    reasons.set(short, [...(reasons.get(short) ?? []), s.method]);
  }
  if (reasons.size === 0) return null;
  return (
    <>
      <h3>Without probes</h3>
      <ul class="branches">
        {[...reasons].sort((a, b) => b[1].length - a[1].length).map(([reason, list]) => (
          <Fold key={reason} label={reason} figures={count(list.length)}>
            {list.slice(0, most).map((m, i) => <li key={i}>{m.includes(" ") ? m : <MethodName name={parse(m)} />}</li>)}
            <Rest n={list.length - most} what="methods" />
          </Fold>
        ))}
      </ul>
    </>
  );
}
