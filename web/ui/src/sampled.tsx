// What the page shows of a report that is made of samples, where a recording has
// its calls and what its probes cost.

import { count, percent, plural, time } from "./format";
import type { Figures, Sampling, Snapshot } from "./model";
import { go } from "./ui";

/** SampledFigures is the line of figures below the bar. */
export function SampledFigures({ f, s, kept }: { f: Figures; s: Sampling; kept?: Snapshot }) {
  const item = (label: string, value: string, title: string, cls = "") => (
    <div class={"fig " + cls} title={title} key={label}><dt>{label}</dt><dd>{value}</dd></div>
  );
  const broken = s.samples - s.complete;
  return (
    <dl class="figures" aria-label={"Figures of the samples"}>
      {kept && item("snapshot", "samples", `All these figures are those of ${kept.name}, taken of ${kept.target}`)}
      {item("samples", count(s.samples), `Of ${s.mode === "cpu" ? "time on a core" : "all threads"}, by ${s.source}, ${s.hz} a second of a thread's time`)}
      {item("total time (all threads)", time(f.charged), "The time that the samples stand for, over all threads")}
      {item("sampled", f.seconds.toFixed(1) + " s", "From the beginning to the end")}
      {item(s.mode === "cpu" ? "cores" : "threads", (f.charged / Math.max(1, f.seconds * 1e9)).toFixed(2), s.mode === "cpu" ? "Used at the same time, on average" : "At the same time, on average")}
      {item("methods", count(f.called), "Methods that samples met")}
      {item("call paths", count(f.nodes), "Different paths to a method, all threads merged")}
      {item("sampler", percent(s.sampler_cpu_share, 1) + " %", "The share of one core that sampling took")}
      {s.lost > 0 && item("lost", count(s.lost), "Samples that were dropped for lack of room", "warn")}
      <div class={"fig " + (100 * broken > s.samples ? "warn" : "")}>
        <dt>stacks</dt>
        <dd><button class="plain" onClick={() => go({ tab: "doubts" })}>{broken === 0 ? "complete" : percent(s.complete, s.samples) + " % complete"} ▸</button></dd>
      </div>
    </dl>
  );
}

/** SampledDoubts says how far samples can be trusted. */
export function SampledDoubts({ s }: { s: Sampling }) {
  const row = (n: number, label: string, text: string, warn = false) => (
    <tr class={n > 0 && warn ? "warn" : ""} key={label}><td class={"num" + (n === 0 ? " muted" : "")}>{count(n)}</td><td><b>{label}</b> <span class="muted">{text}</span></td></tr>
  );
  const list = (of: Record<string, number> | undefined) => Object.entries(of ?? {}).sort((a, b) => b[1] - a[1]);
  return (
    <div class="columns">
      <section>
        <h3>Samples</h3>
        <p>{plural(s.samples, "sample", "samples")} by {s.source}{s.why ? ": " + s.why : ""}. Times have an interval in which they lie with a probability of 95 %, if samples are independent. Entries are activations that samples met: a lower bound of the calls.</p>
        <table class="plain-table"><tbody>
          {row(s.complete, "complete", "stacks that reached the thread's first frame")}
          {row(s.heuristic, "guessed", "with a frame that was found by a guess that was checked")}
          {list(s.broken).map(([reason, n]) => row(n, "not complete", reason))}
          {row(s.detached ?? 0, "detached", "their outer callers are not known")}
          {row(s.purged ?? 0, "put together", "on rare call paths, for want of memory")}
          {row(s.lost, "lost", "there was no room for them: sample with a lower --hz", true)}
        </tbody></table>
      </section>
      {s.states && (
        <section>
          <h3>What threads did</h3>
          <table class="plain-table"><tbody>
            {list(s.states).map(([state, n]) => <tr key={state}><td class="num">{percent(n, s.samples)} %</td><td>{state}</td></tr>)}
          </tbody></table>
        </section>
      )}
    </div>
  );
}
