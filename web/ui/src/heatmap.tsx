// The heat map of samples over time, and a brush by which the tree, the flame graph and the
// methods are those of a range of it.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { plural, time } from "./format";
import { between, cellAt, gridOf, type Grid, type Heat } from "./heat";
import { usePalette, useSize } from "./hooks";
import { clean } from "./icicle";

const height = 80, narrowest = 6;

export function HeatMap({ heat, shown, brush }: { heat: Heat; shown: [number, number]; brush: (to: [number, number] | undefined) => void }) {
  const [ref, size] = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [over, setOver] = useState(-1);
  const [from, setFrom] = useState(-1);
  const theme = usePalette();
  const g = useMemo(() => gridOf(heat, size.width / narrowest), [heat, size.width]);
  const chosen = shown[1] > 0, at = heat.piece * heat.samples.length;
  const range = from >= 0 && over >= 0 ? between(g, from, over) : chosen ? shown : undefined;
  useEffect(() => {
    if (canvas.current && size.width > 0) draw(canvas.current, g, size.width, range, theme.selected);
  }, [g, size.width, theme, range?.[0], range?.[1]]);
  const cell = (e: PointerEvent) => cellAt(g, e.offsetX, e.offsetY, size.width, height);
  const key = (e: KeyboardEvent) => {
    const [a, b] = chosen ? shown : [0, at];
    const by = e.key === "ArrowLeft" ? -g.column : e.key === "ArrowRight" ? g.column : 0;
    if (e.key === "Escape") brush(undefined);
    else if (by && e.shiftKey) brush([Math.max(0, Math.min(a + by, b - g.column)), b]);
    else if (by) brush([a, Math.min(at, Math.max(b + by, a + g.column))]);
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const label = `Samples over ${time(at)}: each column is ${time(g.column)}, in which time goes downwards. ` + (heat.known ? "Arrow keys move the end of the range whose tree is shown, Shift and arrow keys its beginning, Escape shows all the time. " : "") +
    (chosen ? `Shown: ${time(shown[0])} to ${time(shown[1])}` : "All is shown");
  return (
    <div class="heat">
      <p class="muted" id="heat-over">{over >= 0 && over < g.cells.length
        ? <>{time(over * g.cell)} – {time((over + 1) * g.cell)}: {plural(g.cells[over], "sample", "samples")}</>
        : <>A column is {time(g.column)}, downwards. {heat.known ? "Drag from cell to cell, or click a column." : "The tree of a range is known only in the process that took the samples."}</>}</p>
      <div class="lines" ref={ref} tabIndex={0} role="application" aria-label={label} onKeyDown={heat.known ? key : undefined}>
        <canvas ref={canvas} style={{ width: size.width + "px", height: height + "px" }}
          onPointerDown={(e) => { if (!heat.known) return; e.currentTarget.setPointerCapture(e.pointerId); setFrom(cell(e)); setOver(cell(e)); }}
          onPointerMove={(e) => setOver(cell(e))}
          onPointerUp={(e) => { if (from >= 0) (setFrom(-1), brush(between(g, from, cell(e)))); }}
          onPointerCancel={() => setFrom(-1)} onPointerLeave={() => setOver(-1)} />
      </div>
    </div>
  );
}

function draw(canvas: HTMLCanvasElement, g: Grid, width: number, range: [number, number] | undefined, ink: string): void {
  const c = clean(canvas, width, height);
  if (!c || g.most === 0) return;
  const hot = getComputedStyle(document.documentElement).getPropertyValue("--accent").trim();
  const w = width / g.columns, h = height / g.rows, gap = w > 4 ? 1 : 0;
  for (let i = 0; i < g.cells.length; i++) {
    const t = i * g.cell, inside = !range || (t + g.cell / 2 >= range[0] && t + g.cell / 2 < range[1]);
    const x = Math.floor(i / g.rows) * w, y = (i % g.rows) * h;
    if (range && inside) {
      c.globalAlpha = 0.12;
      c.fillStyle = ink;
      c.fillRect(x, y, w, h);
    }
    if (g.cells[i] === 0) continue;
    c.globalAlpha = (inside ? 1 : 0.3) * (0.12 + 0.88 * Math.sqrt(g.cells[i] / g.most));
    c.fillStyle = hot;
    c.fillRect(x, y, w - gap, h - (h > 3 ? 0.5 : 0));
  }
  c.globalAlpha = 1;
}
