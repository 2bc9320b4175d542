// The flame graph of a difference: red grew, blue shrank, by self time; grey is noise.

import { useEffect, useRef, useState } from "preact/hooks";
import { nameOf, store } from "./conn";
import { usePalette, useSize, useStore } from "./hooks";
import { boxHeight, clean, fit } from "./icicle";
import { F } from "./model";
import { count, time } from "./format";
import { go, ui } from "./ui";

/** change is by how much a box's own time differs, 0 within the noise. */
function change(b: number[]): number {
  const d = b[F.selfB] - b[F.selfA];
  return Math.abs(d) <= b[F.bound] ? 0 : d;
}

export function DiffFlame({ select }: { select: (path: number) => void }) {
  useStore();
  const [ref, size] = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [over, setOver] = useState(0);
  const theme = usePalette();
  const page = store.sections.compare?.flame;
  const boxes = page?.boxes ?? [];
  const total = page?.total ?? 0;
  useEffect(() => {
    if (size.width > 0 && Math.abs(size.width - ui.width) > 1) go({ width: size.width });
  }, [size.width]);
  const height = Math.max(1, ...boxes.map((b) => b[F.depth] + 1)) * boxHeight;
  useEffect(() => {
    const g = canvas.current && size.width > 0 ? clean(canvas.current, size.width, height) : null;
    if (!g) return;
    const css = getComputedStyle(document.documentElement);
    const [more, less] = ["--more", "--less"].map((v) => css.getPropertyValue(v).trim());
    const most = Math.max(1, ...boxes.map((b) => Math.abs(change(b))));
    for (const b of boxes) {
      const x = (b[F.start] / total) * size.width, w = (b[F.width] / total) * size.width, y = b[F.depth] * boxHeight, d = change(b);
      if (w < 0.5) continue;
      g.fillStyle = theme.muted;
      g.fillRect(x, y, Math.max(w - 0.75, 0.5), boxHeight - 1);
      if (d !== 0) {
        g.globalAlpha = 0.3 + 0.7 * (Math.abs(d) / most);
        g.fillStyle = d > 0 ? more : less;
        g.fillRect(x, y, Math.max(w - 0.75, 0.5), boxHeight - 1);
        g.globalAlpha = 1;
      }
      if (b[F.path] === ui.selected || b[F.path] === over) {
        g.strokeStyle = theme.selected;
        g.strokeRect(x + 1, y + 1, Math.max(w - 2.75, 1), boxHeight - 3);
      }
      if (w < 28) continue;
      const n = nameOf(b[F.method]), sign = d > 0 ? "+ " : d < 0 ? "− " : "";
      g.fillStyle = theme.ink;
      const text = fit(g, sign + (n.cls && n.cls + ".") + n.method, sign + n.method, w - 8);
      if (text) g.fillText(text, x + 4, y + boxHeight / 2);
    }
  }, [page, size.width, height, ui.selected, over, theme]);
  const at = (e: MouseEvent) => boxes.find((b) => {
    const x = (e.offsetX / size.width) * total;
    return b[F.depth] === Math.floor(e.offsetY / boxHeight) && b[F.start] <= x && x < b[F.start] + b[F.width];
  });
  const b = boxes.find((b) => b[F.path] === (over || ui.selected));
  const name = b && nameOf(b[F.method]);
  const zoom = (focus: number) => go({ compare: { ...ui.compare, focus } });
  return (
    <section class="iciclebox" aria-label="Flame graph of the difference">
      <div class="crumbs">
        <button class="plain" disabled={!page?.focus} onClick={() => zoom(0)}>All roots</button>
        {page?.above.map(([path, method]) => <span key={path}>› <button class="plain" onClick={() => zoom(path)}>{nameOf(method).cls}.{nameOf(method).method}</button></span>)}
        <span id="difflegend"><i class="swatch more" /> self time grew <i class="swatch less" /> shrank <i class="swatch within" /> within noise</span>
        {b && name && <span class="figures">{name.cls}.{name.method}: self {time(b[F.selfA])} → {time(b[F.selfB])} (noise ± {time(b[F.bound])}), total {time(b[F.totalA])} → {time(b[F.totalB])}, calls {count(b[F.callsA])} → {count(b[F.callsB])}</span>}
      </div>
      <div class="icicle" id="diffflame" ref={ref}>
        <canvas
          ref={canvas} role="img" aria-label="Contexts as wide as the larger of their total times, coloured by the change of their self time; the table below has the same figures"
          style={{ width: size.width + "px", height: height + "px" }} onMouseMove={(e) => setOver(at(e)?.[F.path] ?? 0)} onMouseLeave={() => setOver(0)}
          onClick={(e) => { const b = at(e); if (b) select(b[F.path]); }} onDblClick={(e) => { const b = at(e); if (b) zoom(b[F.path]); }}
        />
      </div>
    </section>
  );
}
