// How long root calls took: percentiles and a histogram, of all of them, whether their
// trees were kept or not.

import { store } from "./conn";
import { count, plural, time } from "./format";
import { useStore } from "./hooks";
import type { Times } from "./past";

const height = 44;

/** bars are the buckets on a logarithmic scale of time, as parts of the width and of the height; heights are logarithmic, too, so that a single slow call is seen. */
export function bars(t: Times): { from: number; to: number; x: number; w: number; h: number; n: number }[] {
  const ends = t.buckets.map(([from, to]) => [Math.max(from, 64), to || from * 2] as const);
  const low = Math.log(ends[0][0]), wide = Math.log(ends[ends.length - 1][1]) - low;
  const top = Math.log2(1 + Math.max(...t.buckets.map((b) => b[2])));
  return t.buckets.map(([from, to, n], k) => {
    const x = (Math.log(ends[k][0]) - low) / wide;
    return { from, to, n, x, w: (Math.log(ends[k][1]) - low) / wide - x, h: Math.log2(1 + n) / top };
  });
}

export function RootTimes() {
  useStore();
  const h = store.sections.history, t = h?.times;
  if (!t || t.count === 0) return h?.why ? <p class="muted roottimes">How long root calls took is not known: {h.why}.</p> : null;
  const all = bars(t);
  return (
    <section class="roottimes" id="roottimes" aria-label="How long root calls took">
      <p>
        {t.count < t.of && <>{count(t.count)} of </>}{plural(t.of, "root call", "root calls")}: mean <b>{time(t.mean_ns)}</b>, 50 % up to <b>{time(t.p50_ns)}</b>, 90 % <b>{time(t.p90_ns)}</b>, 99 % <b>{time(t.p99_ns)}</b>, 99.9 % <b>{time(t.p999_ns)}</b>{" "}
        <span class="muted" title="Percentiles are within 6 %; what Rivulet made a root call wait is left out">of all, kept or not{h.why ? "; some were not measured: " + h.why : ""}</span>
      </p>
      <svg viewBox={`0 0 1000 ${height}`} preserveAspectRatio="none" role="img" aria-label={`Histogram from ${time(all[0].from)} to ${time(all[all.length - 1].to || all[all.length - 1].from)}; heights are logarithmic`}>
        {all.map((b) => (
          <rect key={b.from} data-n={b.n} x={1000 * b.x} width={Math.max(2, 1000 * b.w - 1)} y={height - Math.max(2, height * b.h)} height={Math.max(2, height * b.h)}>
            <title>{time(b.from)} – {b.to ? time(b.to) : "more"}: {plural(b.n, "root call", "root calls")}</title>
          </rect>
        ))}
      </svg>
      <p class="muted ends"><span>{time(all[0].from)}</span><span>{time(all[all.length - 1].to || all[all.length - 1].from)}</span></p>
    </section>
  );
}
